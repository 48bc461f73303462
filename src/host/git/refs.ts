import { expectGit, git } from "./git.ts";
import type { GitProject } from "./repository.ts";

/** The commit a ref of the project points to. */
export async function commitAt(
  { repository }: Pick<GitProject, "repository">,
  ref: string,
): Promise<string | undefined> {
  const answer = await git(repository.root, "rev-parse", "--verify", "--quiet", `${ref}^{commit}`);
  return answer.code === 0 ? answer.out.trim() : undefined;
}

export async function setRef(
  { repository }: Pick<GitProject, "repository">,
  ref: string,
  commit: string,
): Promise<void> {
  expectGit(await git(repository.root, "update-ref", "--no-deref", ref, commit), `setting ${ref}`);
}

/**
 * False when the ref exists already. Throws, with git's words, when it does not exist and still cannot be made: a lock
 * that stays, a directory or a file in the way, no right to write.
 */
export async function newRef(project: Pick<GitProject, "repository">, ref: string, commit: string): Promise<boolean> {
  const nothing = "0".repeat(commit.length);
  return changeRef(project, ref, [commit, nothing], async () => (await commitAt(project, ref)) !== undefined);
}

/**
 * Makes the first of these refs that is free. A few others may have been made since the caller looked, and the lock of
 * one may have been left by a dead process; when the fourth cannot be made either, the reason is another one.
 */
export async function firstFreeRef(
  project: Pick<GitProject, "repository">,
  commit: string,
  nameOf: (at: number) => string,
): Promise<string> {
  let failures = 0;
  for (let at = 0; ; at++) {
    try {
      if (await newRef(project, nameOf(at), commit)) return nameOf(at);
    } catch (error) {
      if (++failures === mostFailures) throw error;
    }
    if (at > mostOthers) throw new Error(`${nameOf(0)} and ${at} more refs exist already`);
  }
}

const mostFailures = 4;

const mostOthers = 1_000;

/**
 * Deletes a ref whose tip is still the one that was looked at. False when it moved meanwhile. Throws when it is still
 * there and cannot be deleted.
 */
export async function dropRef(project: Pick<GitProject, "repository">, ref: string, tip: string): Promise<boolean> {
  const moved = async (): Promise<boolean> => (await commitAt(project, ref)) !== tip;
  return changeRef(project, ref, ["-d", tip], moved);
}

/**
 * Another writer may hold the lock of a ref for a moment: then git is asked again, a few times. An agent can make one of
 * our refs stand for a branch of the user's. `--no-deref` changes only our own ref, never the one that it stands for.
 */
async function changeRef(
  { repository }: Pick<GitProject, "repository">,
  ref: string,
  change: readonly string[],
  isOvertaken: () => Promise<boolean>,
): Promise<boolean> {
  const args = change[0] === "-d" ? ["-d", ref, ...change.slice(1)] : [ref, ...change];
  for (let tries = 1; ; tries++) {
    const answer = await git(repository.root, "update-ref", "--no-deref", ...args);
    if (answer.code === 0) return true;
    if (await isOvertaken()) return false;
    if (tries === mostRefTries) expectGit(answer, `changing ${ref}`);
    await Bun.sleep(betweenRefTriesMs * tries);
  }
}

const mostRefTries = 4;

const betweenRefTriesMs = 25;

export interface Ref {
  readonly name: string;
  readonly commit: string;
}

/** Refs of the project below prefixes that end with a slash. */
export async function refsBelow(
  { repository }: Pick<GitProject, "repository">,
  ...prefixes: readonly string[]
): Promise<readonly Ref[]> {
  const answer = await git(repository.root, "for-each-ref", "--format=%(objectname) %(refname)", ...prefixes);
  return parseRefs(expectGit(answer, `listing ${prefixes.join(" and ")}`).out);
}

/**
 * The lines that `for-each-ref` prints for refs below these prefixes, with options for which it reads the objects of the
 * refs. It fails for all of them at the first ref whose object it cannot read. Such refs are searched for then, and left
 * out: an agent can write any ref.
 */
export async function askEachRef(
  root: string,
  options: readonly string[],
  prefixes: readonly string[] = [],
): Promise<readonly string[]> {
  const ask = (refs: readonly string[]) => git(root, "for-each-ref", ...options, ...refs);
  const all = await ask(prefixes);
  if (all.code === 0) return linesOf(all.out);
  const listed = await git(root, "for-each-ref", "--format=%(refname)", ...prefixes);
  const found: string[] = [];
  let isAnyRead = false;
  const rest = [linesOf(expectGit(listed, "listing refs").out)];
  for (let refs = rest.pop(); refs !== undefined; refs = rest.pop()) {
    const answer = refs.length === 0 || refs.length > mostOnALine ? undefined : await ask(refs);
    const half = Math.ceil(refs.length / 2);
    if (answer?.code === 0) found.push(...linesOf(answer.out));
    else if (refs.length > 1) rest.push(refs.slice(half), refs.slice(0, half));
    isAnyRead ||= answer?.code === 0;
  }
  if (!isAnyRead) expectGit(all, "reading refs");
  return found;
}

/** A command line has room for so many refs with names of any length. */
const mostOnALine = 500;

const linesOf = (text: string): readonly string[] => text.split("\n").filter((line) => line !== "");

export function parseRefs(text: string): readonly Ref[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const space = line.indexOf(" ");
      return { commit: line.slice(0, space), name: line.slice(space + 1) };
    });
}

export const snapshotRefs = (agentName: string): string => `refs/overstory/snap/${agentName}/`;

export const pinRefs = (agentName: string): string => `refs/overstory/pin/${agentName}/`;
