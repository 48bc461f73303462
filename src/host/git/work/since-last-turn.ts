import { existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../../../domain/failure.ts";
import type { WorktreeChange } from "../../../domain/worktree/change.ts";
import type { LastTurn, OwnedWorktree, Snapshot } from "../../../ports/worktrees.ts";
import { lstatIfThere } from "../../file-access.ts";
import { rulesFor } from "../filters.ts";
import { absolute, expectGit, zeroEnded } from "../git.ts";
import { waitForLocks } from "../locks.ts";
import { type OwnDir, type OwnDirOptions, openOwnDir } from "../own-dir.ts";
import { placeOf, textOf } from "../places.ts";
import type { GitProject, Place } from "../repository.ts";
import { restoreSubmodules } from "../submodules/restore.ts";
import { openWorktree } from "../worktree/open-worktree.ts";
import { isAttributes, type KeptFile, keptFiles, writeKept } from "./kept-files.ts";
import { lastTip, newestOf } from "./kept-work.ts";
import { lastCommitOf } from "./loose-commits.ts";
import { keepCommit } from "./snapshot.ts";
import { dirtyPaths } from "./uncommitted.ts";

/**
 * What was done to a worktree since the last turn of its agent. Changes nothing. Between two turns a person may work in
 * it as they like; only what costs work, or leads the next commit astray, is named. One git process where nothing is.
 */
export async function changesSince(
  project: GitProject,
  worktree: OwnedWorktree,
  last: LastTurn,
): Promise<readonly WorktreeChange[]> {
  const place = placeOf(project.repository, worktree);
  if (worktree.kind === "root" || place === undefined) return [];
  if (worktree.isThrownAway === true) return filesGone(project, worktree, place);
  const lost = await lostBranch(project, worktree, { place, last });
  const moved = lost === undefined ? await movedBranch(project, worktree, { place, last }) : [];
  const elsewhere = lost?.renamedTo == null ? otherBranch(place, worktree, last) : [];
  const head = lost?.commit ?? (await tipOf(project, place, place.head));
  const files = head === undefined ? [] : await lostFiles(project, worktree, { place, head });
  const work = lost === undefined && files.length === 0 && last.dirty ? await lostWork(project, worktree) : [];
  return [
    ...(lost === undefined ? [] : [lost]),
    ...elsewhere,
    ...moved,
    ...(files.length === 0 ? [] : [{ kind: "files-gone", files } as const]),
    ...work,
  ];
}

/** A copy that is thrown away is its agent's own, on whatever branch; the agent needs files to look at all the same. */
async function filesGone(
  project: GitProject,
  worktree: OwnedWorktree,
  place: Place,
): Promise<readonly WorktreeChange[]> {
  const head = await tipOf(project, place, place.head);
  const files = head === undefined ? [] : await lostFiles(project, worktree, { place, head });
  return files.length === 0 ? [] : [{ kind: "files-gone", files }];
}

/** Removes lock files of killed git commands from an agent's worktree. A young lock is looked at again until it is old. */
export async function removeDeadLocks({ repository }: GitProject, worktree: OwnedWorktree): Promise<void> {
  const place = placeOf(repository, worktree);
  if (worktree.kind === "root" || place === undefined) return;
  const { gitDir } = place;
  // One that stays is held by a person's git command, and the agent's own git names it.
  await waitForLocks(
    ["index.lock", "HEAD.lock"].map((name) => ({ path: join(gitDir, name), gitDir })),
    { patienceMs: 4_000 },
  );
}

/** Mends what can be mended. Safe to repeat. Returns the commits that are kept under a ref now. */
export async function mendChanges(
  project: GitProject,
  worktree: OwnedWorktree,
  changes: readonly WorktreeChange[],
): Promise<readonly Snapshot[]> {
  if (changes.length === 0) return [];
  const place = placeOf(project.repository, worktree);
  if (place === undefined) throw new Error(`the git directory of ${worktree.path} is gone`);
  const kept: Snapshot[] = [];
  for (const change of changes) {
    if (change.kind === "branch-gone") await makeBranchAgain(project, worktree, { place, change });
    if (change.kind === "commits-gone") kept.push(await keepCommit(project, worktree, change.commit));
    if (change.kind === "files-gone") await putFilesBack(project, worktree);
  }
  return kept;
}

interface Seen {
  readonly place: Place;
  readonly last: LastTurn;
}

type BranchGone = Extract<WorktreeChange, { kind: "branch-gone" }>;

async function lostBranch(
  project: GitProject,
  worktree: OwnedWorktree,
  { place, last }: Seen,
): Promise<BranchGone | undefined> {
  const { branch, agentName, baseCommit } = worktree;
  const own = `${branchHead}${branch}`;
  if ((await tipOf(project, place, own)) !== undefined) return undefined;
  const other = place.head === own ? undefined : await tipOf(project, place, place.head);
  const known = last.headCommit ?? baseCommit;
  if (other !== undefined && place.head.startsWith(branchHead) && (await holds(project, place, other, known))) {
    return { kind: "branch-gone", branch, commit: other, renamedTo: place.head.slice(branchHead.length) };
  }
  // On its own branch, the log of HEAD says where that was, also when a person committed after the last turn.
  const logged = place.head === own ? lastCommitOf(place) : undefined;
  const candidates = [logged, await lastTip(project, { agentName, branch, lastCommit: last.headCommit }), known];
  for (const candidate of candidates) {
    const commit = candidate == null ? undefined : await tipOf(project, place, candidate);
    if (commit !== undefined) return { kind: "branch-gone", branch, commit, renamedTo: null };
  }
  throw new Failure({
    kind: "worktree-damaged",
    path: worktree.path,
    problem: `its branch ${branch} is gone, and git has no commit of it`,
  });
}

/** At the commit where the last turn ended, and on no branch, the worktree is as the agent itself left it. */
function otherBranch(place: Place, { branch }: OwnedWorktree, { headCommit }: LastTurn): readonly WorktreeChange[] {
  if (place.head === `${branchHead}${branch}` || place.head === headCommit) return [];
  if (["rebase-merge", "rebase-apply"].some((name) => existsSync(join(place.gitDir, name)))) {
    return [{ kind: "rebase-open", branch }];
  }
  const name = place.head.startsWith(branchHead) ? place.head.slice(branchHead.length) : undefined;
  const at = name === undefined ? `the commit ${place.head.slice(0, 12)}` : `the branch ${name}`;
  return [{ kind: "other-branch", branch, at }];
}

async function movedBranch(
  project: GitProject,
  { branch }: OwnedWorktree,
  { place, last: { headCommit, ahead } }: Seen,
): Promise<readonly WorktreeChange[]> {
  if (headCommit === null || ahead === 0) return [];
  const tips = [await tipOf(project, place, place.head), await tipOf(project, place, `${branchHead}${branch}`)];
  if (tips.includes(headCommit)) return [];
  for (const tip of tips) if (tip !== undefined && (await holds(project, place, tip, headCommit))) return [];
  const isThere = (await tipOf(project, place, headCommit)) !== undefined;
  return isThere ? [{ kind: "commits-gone", branch, commit: headCommit }] : [];
}

const branchHead = "ref: refs/heads/";

/** The commit that the text of a HEAD stands for. A ref is read from its file where it has one. */
async function tipOf(project: GitProject, place: Place, head: string): Promise<string | undefined> {
  const ref = head.startsWith("ref: ") ? head.slice("ref: ".length) : undefined;
  const text = ref === undefined ? undefined : textOf(join(place.refs, ref))?.trim();
  if (text !== undefined && /^[0-9a-f]{40,64}$/.test(text)) return text;
  using own = over(project, place);
  const found = await own.git(["rev-parse", "--verify", "--quiet", `${ref ?? head}^{commit}`]);
  return found.code === 0 ? found.out.trim() : undefined;
}

async function holds(project: GitProject, place: Place, tip: string, commit: string | null): Promise<boolean> {
  if (commit === null || commit === tip) return true;
  using own = over(project, place);
  return (await own.git(["merge-base", "--is-ancestor", commit, tip])).code === 0;
}

async function makeBranchAgain(
  project: GitProject,
  { branch }: OwnedWorktree,
  { place, change }: { readonly place: Place; readonly change: BranchGone },
): Promise<void> {
  const ref = `refs/heads/${branch}`;
  if ((await tipOf(project, place, `ref: ${ref}`)) === undefined) {
    using own = over(project, place);
    const nothing = "0".repeat(change.commit.length);
    expectGit(await own.git(["update-ref", "--no-deref", ref, change.commit, nothing]), `making ${branch} again`);
  }
  if (change.renamedTo === null || place.head !== `${branchHead}${change.renamedTo}`) return;
  // Both branches are at the same commit, so neither files nor index change. As git does it: the lock is the new file.
  const lock = join(place.gitDir, "HEAD.lock");
  writeFileSync(lock, `ref: ${ref}\n`, { flag: "wx" });
  renameSync(lock, join(place.gitDir, "HEAD"));
}

/** A view of the refs and objects of a worktree; of its index and files, too, when asked for. */
function over(
  { repository, scratch }: GitProject,
  place: Place,
  more: Pick<OwnDirOptions, "indexFrom" | "workTree" | "files"> = {},
): OwnDir {
  const alsoReads = place.objects === repository.objects ? [] : [place.objects];
  const { head, refs } = place;
  return openOwnDir({ repository, scratch, head, refs, objects: "project", alsoReads, ...more });
}

interface At {
  readonly place: Place;
  readonly head: string;
}

/** The files that are to be put back; empty unless most of them are gone. */
async function lostFiles(project: GitProject, worktree: OwnedWorktree, at: At): Promise<readonly string[]> {
  const gone = await goneFiles(project, worktree, at);
  if (gone === undefined) return [];
  const { tracked, kept, count } = gone;
  const isMost = tracked.length >= manyFiles || tracked.length * 2 > count;
  return isMost ? [...tracked, ...kept.map(({ path }) => path)].map((path) => path.toString()).toSorted() : [];
}

/** So many deleted files are an accident, however many there are in all. */
const manyFiles = 50;

interface Gone {
  /** In the index, and there after the last turn. */
  readonly tracked: readonly Buffer[];
  /** Changed or made in the last turn, and never committed. */
  readonly kept: readonly KeptFile[];
  /** Where they are kept. */
  readonly snapshot: string | undefined;
  /** How many files there should be. */
  readonly count: number;
}

async function goneFiles(project: GitProject, worktree: OwnedWorktree, { place, head }: At): Promise<Gone | undefined> {
  const { path: root, agentName } = worktree;
  using own = over(project, place, { indexFrom: place.gitDir, workTree: root });
  const listed = await own.git(["ls-files", "-z", "--deleted"]);
  // An index that git cannot read is told by the agent's own git.
  const deleted = listed.code === 0 ? zeroEnded(listed.raw) : [];
  if (deleted.length === 0) return undefined;
  const newest = await newestOf(project, agentName);
  const files = newest?.onTop === head ? await keptFiles(project, newest) : [];
  const known = new Map(files.map((file) => [file.path.toString("latin1"), file]));
  const isIn = (path: Buffer): KeptFile | undefined => known.get(path.toString("latin1"));
  let count = 0;
  const each = (path: Buffer): void => {
    if (files.length === 0 || isIn(path)?.status !== "D") count++;
  };
  expectGit(await own.git(["ls-files", "-z"], { each }), "listing files");
  return {
    tracked: unique(deleted.filter((path) => isIn(path) === undefined)),
    kept: files.filter(({ path, status }) => status !== "D" && lstatIfThere(absolute(root, path)) === undefined),
    snapshot: newest?.commit,
    count,
  };
}

/** A path in conflict is listed once per stage. */
const unique = (paths: readonly Buffer[]): readonly Buffer[] => [
  ...new Map(paths.map((path) => [path.toString("latin1"), path])).values(),
];

/** Files that are there stay as they are. */
async function putFilesBack(project: GitProject, worktree: OwnedWorktree): Promise<void> {
  // Again, because the branch may have been made again meanwhile.
  const place = placeOf(project.repository, worktree);
  const head = place === undefined ? undefined : await tipOf(project, place, place.head);
  const gone =
    place === undefined || head === undefined ? undefined : await goneFiles(project, worktree, { place, head });
  if (place === undefined || head === undefined || gone === undefined) return;
  const rules = await rulesFor(project.repository, head);
  using own = over(project, place, { indexFrom: place.gitDir, workTree: worktree.path, files: rules });
  const hadModules = await lostAllModules(own, gone.tracked);
  // Attributes first, because the others are written by them.
  for (const paths of [gone.tracked.filter(isAttributes), gone.tracked.filter((path) => !isAttributes(path))]) {
    if (paths.length === 0) continue;
    const stdin = Buffer.concat(paths.flatMap((path) => [path, Buffer.of(0)]));
    expectGit(await own.git(["checkout-index", "--quiet", "-z", "--stdin"], { stdin }), "putting files back");
  }
  const { kept, snapshot: commit } = gone;
  if (commit !== undefined) await writeKept(project, kept, { commit, dir: worktree.path, rules });
  if (hadModules) await restoreSubmodules(project, worktree, kept.length > 0 ? (commit ?? head) : head);
}

/** Only then no file of a submodule can be overwritten. */
async function lostAllModules(own: OwnDir, gone: readonly Buffer[]): Promise<boolean> {
  const modules: string[] = [];
  const each = (line: Buffer): void => {
    if (line.subarray(0, gitlink.length).equals(gitlink)) modules.push(line.toString("latin1"));
  };
  expectGit(await own.git(["ls-files", "-z", "--stage"], { each }), "listing files");
  const lost = new Set(gone.map((path) => path.toString("latin1")));
  return modules.length > 0 && modules.every((line) => lost.has(line.slice(line.indexOf("\t") + 1)));
}

const gitlink = Buffer.from("160000 ");

/** Files that the last turn left changed or new, and that are now as committed, or gone. */
async function lostWork(project: GitProject, worktree: OwnedWorktree): Promise<readonly WorktreeChange[]> {
  const newest = await newestOf(project, worktree.agentName);
  if (newest === undefined || newest.onTop === null || newest.onTop === newest.commit) return [];
  using open = await openWorktree(project, worktree);
  // A person who committed it, or moved the branch, did so with the work before their eyes.
  if (open.head !== newest.onTop) return [];
  const dirty = new Set(await dirtyPaths(open, worktree.path));
  const gone = (await keptFiles(project, newest)).filter(
    ({ path, status }) => status !== "D" && !dirty.has(path.toString()),
  );
  const files = gone.map(({ path }) => path.toString());
  return files.length === 0 ? [] : [{ kind: "work-gone", files, ref: newest.ref }];
}
