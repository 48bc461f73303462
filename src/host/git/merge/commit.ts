import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../../../domain/failure.ts";
import type { CommitRequest, ResolvedFile } from "../../../ports/merge-git.ts";
import { settingsMatching, settingsStamp } from "../filters.ts";
import { expectRoom } from "../full-disk.ts";
import { expectGit } from "../git.ts";
import type { OwnDir } from "../own-dir.ts";
import type { Repository } from "../repository.ts";
import { writeLooseCommit } from "./loose-commit.ts";
import { type MergeRepository, openView } from "./merge-repository.ts";

interface Committer {
  commit(request: CommitRequest & Partial<Pick<Signature, "user">>): Promise<string>;
  /** Reads the identity of the user, so that the next commit need not wait for it. */
  readAhead(): Promise<void>;
}

/**
 * Makes commits. The identity of the user is read again when the configuration has changed or after a while: a process
 * for each commit would double the cost.
 */
export function committer(mergeRepo: MergeRepository, signingLimitMs = aFewSeconds): Committer {
  let known: { readonly at: number; readonly stamp: string; readonly signature: Promise<Signature> } | undefined;
  const signature = (): Promise<Signature> => {
    const now = performance.now();
    const stamp = settingsStamp(mergeRepo.repository);
    if (known === undefined || known.stamp !== stamp || now - known.at > freshMs) {
      known = { at: now, stamp, signature: readSignature(mergeRepo.repository) };
      // The callers that wait for it get the error; the next caller tries again.
      known.signature.catch(() => {
        known = undefined;
      });
    }
    return known.signature;
  };
  const commit = async (request: CommitRequest & Partial<Pick<Signature, "user">>): Promise<string> => {
    const known = { ...(await signature()), ...(request.user === undefined ? {} : { user: request.user }) };
    const { name, email } = known.user ?? nobody;
    const at = new Date();
    if (known.signing !== undefined) return writeCommit(mergeRepo, request, known, signingLimitMs);
    const written = writeLooseCommit(mergeRepo.repository, { ...request, name, email, at });
    return written ?? (await writeCommit(mergeRepo, request, known, signingLimitMs));
  };
  const readAhead = async (): Promise<void> => {
    const read = signature();
    // The platform takes milliseconds to find the time zone, once. The caller starts other processes of git first, which
    // work meanwhile.
    await new Promise(setImmediate);
    new Date().getTimezoneOffset();
    await read;
  };
  return { commit, readAhead };
}

const freshMs = 10_000;
/** A key that is at hand signs in a moment; a program that asks for a passphrase would wait for ever. */
const aFewSeconds = 10_000;

/** The author of commits where git does not know the user. */
const nobody = { name: "Overstory", email: "overstory@localhost" };

async function writeCommit(
  mergeRepo: MergeRepository,
  { tree, parents, message, author }: CommitRequest,
  { user, signing }: Signature,
  signingLimitMs: number,
): Promise<string> {
  const settings = signing?.flatMap((setting) => ["-c", setting]) ?? [];
  const sign = signing === undefined ? [] : ["-S"];
  const args = [...settings, "commit-tree", ...sign, ...parents.flatMap((parent) => ["-p", parent]), tree];
  const env = {
    ...passedOn(signing === undefined ? ["TZ"] : ["TZ", ...signerNeeds]),
    ...namesFor(user),
    ...authorFor(author),
  };
  const limit = signing === undefined ? {} : { limitMs: signingLimitMs, startsPrograms: true };
  const answer = await mergeRepo.through((own) => own.git(args, { stdin: message, env, ...limit }));
  if (signing !== undefined && answer.code !== 0) {
    expectRoom(answer, null);
    const asks = answer.isLate ? "it waited for a word that nobody can give it here" : undefined;
    throw new Failure({ kind: "signing-failed", problem: asks ?? (answer.err.trim() || `git exited ${answer.code}`) });
  }
  return expectGit(answer, "writing a commit").out.trim();
}

/** Commits a tree in the name of the user, unsigned, through a git directory of ours. */
export async function commitAsUser(
  own: OwnDir,
  repository: Repository,
  { tree, parent, message }: { readonly tree: string; readonly parent: string | null; readonly message: string },
): Promise<string> {
  const { user } = await readSignature(repository);
  const args = ["commit-tree", tree, ...(parent === null ? [] : ["-p", parent]), "-m", message];
  return expectGit(await own.git(args, { env: namesFor(user ?? nobody) }), "committing").out.trim();
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

const authorFor = (author: CommitRequest["author"]): Readonly<Record<string, string>> =>
  author === undefined
    ? {}
    : { GIT_AUTHOR_NAME: author.name, GIT_AUTHOR_EMAIL: author.email, GIT_AUTHOR_DATE: author.at };

function namesFor(user: Signature["user"]): Readonly<Record<string, string>> {
  if (user === undefined) return {};
  const { name, email } = user;
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  };
}

/** In whose name commits are made, and how they are signed. */
interface Signature {
  /** Undefined when git does not know the user. */
  readonly user: { readonly name: string; readonly email: string } | undefined;
  /** Settings for the signature; undefined when the user does not sign. */
  readonly signing: readonly string[] | undefined;
}

/**
 * Reads who the user is, and whether the user signs. Names may come from any configuration. Whether a commit is signed,
 * with which key and by which program is said by the user's own configuration or the machine's only: agents can write
 * that of the repository, and a signature it asks for would stop every landing.
 */
export async function readSignature(repository: Repository): Promise<Signature> {
  const wanted = "^((user|author|committer)\\.(name|email)|user\\.signingkey|commit\\.gpgsign|gpg\\..*)$";
  const settings = await settingsMatching(repository, wanted);
  // An empty name is none: git itself refuses to commit in it.
  const last = (key: string): string | undefined =>
    settings.findLast((setting) => setting.key === key && setting.value.trim() !== "")?.value;
  const name = last("user.name") ?? last("committer.name") ?? last("author.name");
  const email = last("user.email") ?? last("committer.email") ?? last("author.email");
  const user = name === undefined || email === undefined ? undefined : { name, email };
  const own = settings.filter(({ isUsers }) => isUsers);
  if (!isTrue(own.findLast(({ key }) => key === "commit.gpgsign")?.value)) return { user, signing: undefined };
  const mayDecide = own.filter(({ key }) => key === "user.signingkey" || key.startsWith("gpg."));
  return { user, signing: mayDecide.map(({ key, value }) => `${key}=${value}`) };
}

const isTrue = (value: string | undefined): boolean => /^(true|yes|on|[1-9]\d*)$/i.test(value ?? "");

/** The same tree with these files replaced, made in an index of its own. */
export async function withFiles(
  mergeRepo: MergeRepository,
  tree: string,
  files: readonly ResolvedFile[],
): Promise<string> {
  using own = openView(mergeRepo);
  expectGit(await own.git(["read-tree", "--end-of-options", tree]), `reading ${tree}`);
  const nothing = "0".repeat(mergeRepo.repository.objectFormat === "sha1" ? 40 : 64);
  const oids = await store(own, files);
  const lines = files.map(({ path, mode }, at) => {
    const oid = oids[at];
    return oid === undefined ? `0 ${nothing}\t${path}\0` : `${mode} ${oid}\t${path}\0`;
  });
  const stdin = lines.join("");
  const updated = expectGit(await own.git(["update-index", "-z", "--index-info"], { stdin }), "replacing files");
  // A path that git does not like is left out with a warning; what was to be replaced must not stay.
  if (updated.err !== "") throw new Error(`replacing files: ${updated.err.trim()}`);
  return expectGit(await own.git(["write-tree"]), "writing a tree").out.trim();
}

/** The object of each file, all through one process; none for a file that is gone. */
async function store(own: OwnDir, files: readonly ResolvedFile[]): Promise<readonly (string | undefined)[]> {
  const dir = join(own.dir, "new");
  mkdirSync(dir);
  const paths = files.map(({ content }, at) => {
    if (content === null) return undefined;
    const path = join(dir, String(at));
    writeFileSync(path, content);
    return path;
  });
  const stdin = paths.flatMap((path) => (path === undefined ? [] : [`${path}\n`])).join("");
  const answer = await own.git(["hash-object", "-w", "--no-filters", "--stdin-paths"], { stdin });
  const oids = expectGit(answer, "storing files").out.split("\n").values();
  return paths.map((path) => (path === undefined ? undefined : oids.next().value));
}
