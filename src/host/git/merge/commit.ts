import { Failure } from "../../../domain/failure.ts";
import type { CommitRequest } from "../../../ports/merge-git.ts";
import { settingsStamp } from "../filters.ts";
import { expectRoom } from "../full-disk.ts";
import { expectGit } from "../git.ts";
import type { MergeRepository } from "./merge-repository.ts";
import { readSignature, type Signature } from "./signature.ts";

/** Makes commits. Who the user is, is read again when the configuration was written or a while has passed: a process for each commit would double their cost. */
export function committer(
  mergeRepo: MergeRepository,
  signingLimitMs = aFewSeconds,
): (request: CommitRequest & Partial<Pick<Signature, "user">>) => Promise<string> {
  let known: { readonly at: number; readonly stamp: string; readonly signature: Promise<Signature> } | undefined;
  const signature = (): Promise<Signature> => {
    const now = performance.now();
    const stamp = settingsStamp(mergeRepo.repository);
    if (known === undefined || known.stamp !== stamp || now - known.at > freshMs) {
      known = { at: now, stamp, signature: readSignature(mergeRepo.repository) };
      // Those who wait for it hear of it; the next one tries again.
      known.signature.catch(() => {
        known = undefined;
      });
    }
    return known.signature;
  };
  return async (request) => {
    const known = { ...(await signature()), ...(request.user === undefined ? {} : { user: request.user }) };
    const { name, email } = known.user ?? nobody;
    const at = new Date();
    if (known.signing !== undefined) return writeCommit(mergeRepo, request, known, signingLimitMs);
    // What it compresses with takes longer to load than everything else an engine loads to start.
    const { writeLooseCommit } = await import("./loose-commit.ts");
    const written = writeLooseCommit(mergeRepo.repository, { ...request, name, email, at });
    return written ?? (await writeCommit(mergeRepo, request, known, signingLimitMs));
  };
}

const freshMs = 10_000;
/** A key that is at hand signs in a moment; a program that asks for a passphrase would wait for ever. */
const aFewSeconds = 10_000;

/** Who makes commits where git does not know the user. */
const nobody = { name: "Overstory", email: "overstory@localhost" };

async function writeCommit(
  mergeRepo: MergeRepository,
  { tree, parents, message }: CommitRequest,
  { user, signing }: Signature,
  signingLimitMs: number,
): Promise<string> {
  const settings = signing?.flatMap((setting) => ["-c", setting]) ?? [];
  const sign = signing === undefined ? [] : ["-S"];
  const args = [...settings, "commit-tree", ...sign, ...parents.flatMap((parent) => ["-p", parent]), tree];
  const env = { ...passedOn(signing === undefined ? ["TZ"] : ["TZ", ...signerNeeds]), ...nameOf(user) };
  const limit = signing === undefined ? {} : { limitMs: signingLimitMs, startsPrograms: true };
  const answer = await mergeRepo.through((own) => own.git(args, { stdin: message, env, ...limit }));
  if (signing !== undefined && answer.code !== 0) {
    expectRoom(answer, null);
    const asks = answer.isLate ? "it waited for a word that nobody can give it here" : undefined;
    throw new Failure({ kind: "signing-failed", problem: asks ?? (answer.err.trim() || `git exited ${answer.code}`) });
  }
  return expectGit(answer, "writing a commit").out.trim();
}

/** How a signing program finds its agent and keys. */
const signerNeeds = ["GNUPGHOME", "GPG_TTY", "SSH_AUTH_SOCK", "DISPLAY", "XDG_RUNTIME_DIR"];

const passedOn = (names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

function nameOf(user: Signature["user"]): Readonly<Record<string, string>> {
  if (user === undefined) return {};
  const { name, email } = user;
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  };
}
