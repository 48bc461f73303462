import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { ProjectPlace } from "../../domain/project/place.ts";
import type { GitHealth, ProjectSurvey } from "../../ports/project-survey.ts";
import { git } from "../git/git.ts";
import { unknownCommitter } from "../git/identity.ts";
import { markedAsGate } from "../linux/mark.ts";
import { trackedSecrets } from "./tracked-secrets.ts";

const patienceMs = 3_000;

/** What `ov doctor` asks of programs and of the repository. */
export const programFacts = (
  { root, state }: ProjectPlace,
  env: Readonly<Record<string, string | undefined>>,
): Pick<ProjectSurvey, "versionOf" | "git" | "trackedSecrets" | "sizeOf" | "answers"> => ({
  versionOf: (program, args) => versionOf(program, args, env),
  git: () => gitHealth(root, env),
  trackedSecrets: () => trackedSecrets(root),
  sizeOf: (dir) => sizeOf(join(state, dir)),
  answers: async (address) => {
    try {
      await fetch(address, { method: "HEAD", signal: AbortSignal.timeout(1_000), redirect: "manual" });
      return true;
    } catch {
      // It did not answer in time, for any reason.
      return false;
    }
  },
});

async function versionOf(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  const path = Bun.which(program, env.PATH === undefined ? {} : { PATH: env.PATH });
  if (path === null) return null;
  const child = Bun.spawn({
    cmd: markedAsGate([path, ...args]),
    env: { PATH: env.PATH, HOME: env.HOME },
    stdio: ["ignore", "pipe", "ignore"],
    timeout: patienceMs,
    killSignal: "SIGKILL",
  });
  const text = await new Response(child.stdout).text();
  const first = text.split("\n").find((line) => line.trim() !== "");
  return (await child.exited) === 0 ? (first?.trim().slice(0, 200) ?? "") : null;
}

async function gitHealth(root: string, env: Readonly<Record<string, string | undefined>>): Promise<GitHealth> {
  const [version, signs, hooksDir, head, bare, branches, replaced, unknown] = await Promise.all([
    git(root, "--version"),
    git(root, "config", "--type=bool", "--get", "commit.gpgSign"),
    git(root, "rev-parse", "--git-path", "hooks"),
    git(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"),
    git(root, "rev-parse", "--is-bare-repository"),
    git(root, "for-each-ref", "--format=%(refname:short)", "refs/heads/"),
    git(root, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/replace/"),
    unknownCommitter(root, env),
  ]);
  return {
    version: /\d+\.\d+(\.\d+)?/.exec(version.out)?.[0] ?? "unknown",
    committer: unknown === undefined ? "known" : null,
    signs: signs.out.trim() === "true",
    hooks: hooksIn(join(root, hooksDir.out.trim())),
    hasCommit: head.code === 0,
    isBare: bare.out.trim() === "true",
    replaced: replaced.out.split("\n").filter((name) => name !== ""),
    branches: branches.out.split("\n").filter((name) => name !== ""),
  };
}

function hooksIn(dir: string): readonly string[] {
  if (lstatSync(dir, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(dir).filter((name) => {
    const stat = lstatSync(join(dir, name));
    return stat.isFile() && !name.endsWith(".sample") && (stat.mode & 0o111) !== 0;
  });
}

/** No link is followed. */
function sizeOf(path: string): number {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}
