import { expectGit, git } from "./git.ts";
import { type OwnDir, openOwnDir } from "./own-dir.ts";
import type { Yard } from "./yard.ts";

/**
 * Is everything on a commit in the target: as itself, as picked or rebased commits, as one squashed commit, or because
 * merging it would change nothing? What was landed and reverted later still is in the target's history.
 */
export async function isLanded(yard: Yard, commit: string, base: string | null, target: string): Promise<boolean> {
  if (!(await isIn(yard, commit, base, target))) return false;
  for (const parent of await keptBeside(yard, commit)) if (!(await isIn(yard, parent, base, target))) return false;
  return true;
}

/** Commits that a snapshot of ours keeps beside the work: they are in nothing that could have landed with its files. */
async function keptBeside({ repository }: Yard, commit: string): Promise<readonly string[]> {
  const format = "--format=%ce%x00%s%x00%P";
  const [mail, subject, parents = ""] = (await git(repository.root, "show", "-s", format, commit)).out
    .trim()
    .split("\0");
  const [, ...others] = mail === "overstory@localhost" && subject === "snapshot" ? parents.split(" ") : [];
  if (others.length === 0) return [];
  const shown = expectGit(await git(repository.root, "show", "-s", "--format=%H %ce %s", ...others), "reading parents");
  const staged = "overstory@localhost staged";
  return shown.out
    .split("\n")
    .flatMap((line) => (line === "" || line.endsWith(staged) ? [] : [line.split(" ")[0] ?? ""]));
}

async function isIn(yard: Yard, commit: string, base: string | null, target: string): Promise<boolean> {
  using own = openOwnDir({
    repository: yard.repository,
    scratch: yard.scratch,
    head: "ref: refs/heads/none",
    refs: yard.repository.commonDir,
    objects: "scratch",
  });
  const tip = await own.git(["rev-parse", "--verify", "--quiet", `${target}^{commit}`]);
  if (tip.code !== 0) return false;
  const into = tip.out.trim();
  if (await isAncestor(own, commit, into)) return true;
  // It never went beyond where it started.
  if (base !== null && (await isAncestor(own, commit, base))) return true;
  const fork = await own.git(["merge-base", commit, into]);
  if (fork.code !== 0) return false;
  const since = fork.out.trim();
  if (await isMergedAway(own, commit, into)) return true;
  if (await isPicked(own, { commit, since, into })) return true;
  return await isPicked(own, { commit: await squash(own, commit, since), since, into });
}

interface Range {
  readonly commit: string;
  readonly since: string;
  readonly into: string;
}

async function isAncestor(own: OwnDir, commit: string, of: string): Promise<boolean> {
  const { code, err } = await own.git(["merge-base", "--is-ancestor", commit, of]);
  if (code > 1) throw new Error(`comparing ${commit} with ${of}: ${err.trim()}`);
  return code === 0;
}

async function isMergedAway(own: OwnDir, commit: string, into: string): Promise<boolean> {
  const [merged, tree] = await Promise.all([
    own.git(["merge-tree", "--write-tree", into, commit]),
    own.git(["rev-parse", `${into}^{tree}`]),
  ]);
  return merged.code === 0 && merged.out.trim() === tree.out.trim();
}

/** Has every commit since the fork an equal change in the target? */
async function isPicked(own: OwnDir, { commit, since, into }: Range): Promise<boolean> {
  // Git compares no merges, so what a merge itself brings, as a snapshot with staged work does, would not count.
  const merges = expectGit(
    await own.git(["rev-list", "--merges", "--max-count=1", commit, "--not", since]),
    "looking for merges",
  );
  if (merges.out.trim() === commit) return false;
  const answer = expectGit(await own.git(["cherry", into, commit, since]), "comparing changes");
  return answer.out.split("\n").every((line) => !line.startsWith("+"));
}

async function squash(own: OwnDir, commit: string, onto: string): Promise<string> {
  const answer = await own.git(["commit-tree", `${commit}^{tree}`, "-p", onto, "-m", "squashed"]);
  return expectGit(answer, "squashing").out.trim();
}
