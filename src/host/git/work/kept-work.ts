import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { KeptSnapshot, OwnedWorktree, Rescue, RestoredWork, SeatRequest } from "../../../ports/worktrees.ts";
import { lstatIfThere, makeWithin } from "../../file-access.ts";
import { type FileRules, fileRules } from "../filters.ts";
import { absolute, expectGit, git, zeroEnded } from "../git.ts";
import { differences, type OwnDir, openOwnDir } from "../own-dir.ts";
import { placeOf, standing } from "../places.ts";
import { askEachRef, commitAt, firstFreeRef, newRef, parseRefs, pinRefs, refsBelow, snapshotRefs } from "../refs.ts";
import type { GitProject } from "../repository.ts";
import { hasSubmoduleWork, restoreSubmodules } from "../submodules/restore.ts";
import { homeOf } from "../submodules/users-module.ts";
import { isWorktreeOf } from "../worktree/open-worktree.ts";
import { keptFiles, writeKept } from "./kept-files.ts";
import { keptBeside } from "./landed.ts";
import { saveWork } from "./snapshot.ts";
import { newestTrashOf, takeBack } from "./trash.ts";

/** Everything that is kept under a ref of ours, oldest first. */
export async function keptSnapshots({ repository }: GitProject): Promise<readonly KeptSnapshot[]> {
  const fields = ["refname", "objectname", "committerdate:unix", "committeremail", "subject", "parent"];
  const format = fields.map((field) => `%(${field})`).join("%00");
  const below = ["refs/overstory/snap/", "refs/overstory/rescue/"];
  const lines = await askEachRef(repository.root, [`--format=${format}`], below);
  const refs = new Set(lines.map((line) => line.split("\0")[0] ?? ""));
  const kept = lines.map((line) => {
    const [ref = "", commit = "", at = "0", mail, subject, parents = ""] = line.split("\0");
    // A commit of the agent's own is kept as itself.
    const isOurs = mail === "<overstory@localhost>" && subject === "snapshot";
    const onTop = isOurs ? (parents.split(" ")[0] ?? null) : commit;
    return { ref, commit, agentName: agentOf(ref, refs), createdAt: Number(at) * 1000, onTop };
  });
  return kept.toSorted((a, b) => a.createdAt - b.createdAt);
}

/** A rescue is called `<agent>-<generation>`, and a further one of the same generation has a number behind that. */
function agentOf(ref: string, refs: ReadonlySet<string>): string {
  const [, , sort, name = "", ...rest] = ref.split("/");
  if (sort !== "rescue") return rest.length === 0 ? "" : name;
  const shorter = name.replace(lastNumber, "");
  return refs.has(`refs/overstory/rescue/${shorter}`) ? shorter.replace(lastNumber, "") : shorter;
}

const lastNumber = /-\d+$/;

/** Paths that differ between two commits, with the letter git gives to the difference. */
export async function changesBetween(
  project: GitProject,
  from: string,
  to: string,
): Promise<readonly { readonly path: string; readonly status: string }[]> {
  using own = over(project);
  return (await differences(own, from, to)).map(({ path, status }) => ({ path: path.toString(), status }));
}

/**
 * Notes, before the worktree of an agent is made anew, that its kept work belongs into it. A process that dies after
 * making the worktree leaves this note, and the next process finishes. A deleted branch is put back where the work was.
 */
export async function intendRestore(
  project: GitProject,
  request: Omit<SeatRequest, "baseRef">,
): Promise<string | undefined> {
  const { path, identity = null } = request;
  const isFree = standing({ path }) === "nothing" || (identity !== null && !(await isWorktreeOf(project, request)));
  if (!isFree) return undefined;
  const newest = await newestOf(project, request.agentName);
  const { agentName } = request;
  const isKept =
    newest !== undefined ||
    newestTrashOf(project.trash, agentName) !== undefined ||
    hasSubmoduleWork(homeOf(project.repository), agentName);
  const ref = `refs/heads/${request.branch}`;
  const isGone = (await commitAt(project, ref)) === undefined;
  const tip = isGone ? await lastTip(project, request) : undefined;
  if (isGone && tip === undefined && request.lastCommit != null) {
    const again = `ov recover ${agentName} --fresh`;
    return `its branch ${request.branch} is gone, and git no longer has its last commit ${request.lastCommit.slice(0, 12)}; begin anew with: ${again}`;
  }
  if (tip !== undefined) await newRef(project, ref, tip);
  if (!isKept) return undefined;
  makeWithin(project.scratch, 3);
  writeFileSync(intentFile(project, request), newest?.ref ?? "");
  return undefined;
}

/** Where the work of a name was last, as far as git still has the commit. */
export async function lastTip(
  project: GitProject,
  { agentName, branch, lastCommit = null }: Pick<SeatRequest, "agentName" | "branch" | "lastCommit">,
): Promise<string | undefined> {
  const pinned = await commitAt(project, `${pinRefs(agentName)}heads/${branch}`);
  const seen = pinned ?? (lastCommit === null ? undefined : await commitAt(project, lastCommit));
  const kept = (await newestOf(project, agentName))?.onTop ?? undefined;
  if (seen === undefined || kept === undefined) return seen ?? kept;
  // The snapshot is newer if its supervisor died before the commit was put on record.
  const answer = await git(project.repository.root, "merge-base", "--is-ancestor", seen, kept);
  return answer.code === 0 ? kept : seen;
}

const intentFile = ({ scratch }: GitProject, { agentName }: { readonly agentName: string }): string =>
  join(scratch, `restore-${agentName}`);

/**
 * Brings uncommitted work back into a new worktree: the newest snapshot of the agent, if it was taken at the worktree's
 * commit; the uncommitted files of submodules; and the files that the removed worktree left in the trash. Files that
 * differ already stay as they are, so it can be repeated. Undefined when there was nothing to bring back.
 */
export async function restoreWork(project: GitProject, worktree: OwnedWorktree): Promise<RestoredWork | undefined> {
  const intent = intentFile(project, worktree);
  if (!existsSync(intent)) return undefined;
  const newest = await newestOf(project, worktree.agentName);
  const tip = await commitAt(project, `refs/heads/${worktree.branch}`);
  const fits = newest !== undefined && newest.onTop === tip && standing(worktree) === "own";
  const outside = fits ? await bringBack(project, worktree, newest) : [];
  const state = fits ? newest.commit : tip;
  const inside =
    state !== undefined && standing(worktree) === "own" ? await restoreSubmodules(project, worktree, state) : [];
  const files = [...outside, ...inside];
  const trash = standing(worktree) === "own" ? newestTrashOf(project.trash, worktree.agentName) : undefined;
  const moved = trash === undefined ? 0 : takeBack(trash, worktree.path);
  rmSync(intent, { force: true });
  const isLeft = newest !== undefined && tip !== undefined && !(await isAllIn(project, newest, { fits, tip }));
  const left = isLeft ? { ref: newest.ref, onTop: newest.onTop } : null;
  if (files.length + moved === 0 && left === null) return undefined;
  return { ref: fits ? newest.ref : null, files, fromTrash: moved, left };
}

/** Does the worktree hold all of a snapshot: its files, and the commits that are kept beside them? */
async function isAllIn(
  project: GitProject,
  { commit }: KeptSnapshot,
  { fits, tip }: { readonly fits: boolean; readonly tip: string },
): Promise<boolean> {
  const wanted = fits ? await keptBeside(project, commit) : [commit];
  for (const one of wanted) {
    const answer = await git(project.repository.root, "merge-base", "--is-ancestor", one, tip);
    if (answer.code !== 0) return false;
  }
  return true;
}

/**
 * The last work of a name that is kept under a ref of ours. The names of the refs say their order: a commit of the agent's
 * own is kept as itself, and may be older than the snapshot before it. A worktree is rescued after its generation ended.
 */
export async function newestOf(project: GitProject, agentName: string): Promise<KeptSnapshot | undefined> {
  const all = (await keptSnapshots(project)).filter((kept) => kept.agentName === agentName);
  const snapshots = snapshotRefs(agentName);
  const placeOf = ({ ref }: KeptSnapshot): readonly number[] => {
    if (ref.startsWith(snapshots)) return ref.slice(snapshots.length).split("/").map(Number);
    const [generation = 0, n = 1] = ref
      .slice(ref.lastIndexOf("/") + agentName.length + 2)
      .split("-")
      .map(Number);
    return [generation, Number.MAX_SAFE_INTEGER, n];
  };
  const order = (a: readonly number[], b: readonly number[]): number =>
    (a[0] ?? 0) - (b[0] ?? 0) || (a[1] ?? 0) - (b[1] ?? 0) || (a[2] ?? 0) - (b[2] ?? 0);
  return all.toSorted((a, b) => order(placeOf(a), placeOf(b))).at(-1);
}

async function bringBack(
  project: GitProject,
  worktree: OwnedWorktree,
  { commit, onTop }: KeptSnapshot,
): Promise<readonly string[]> {
  const place = placeOf(project.repository, worktree);
  if (place === undefined || onTop === null || onTop === commit) return [];
  const changed = await keptFiles(project, { commit, onTop });
  const before = await changedFiles(project, worktree.path, onTop);
  // Files that we have written already differ now, and files that are new may not be there yet.
  const wanted = changed.filter(({ path, status }) => status === "A" || !before.has(path.toString("latin1")));
  const written = wanted.filter(
    ({ path, status, mode }) => status !== "D" && !(status === "A" && isWritten(worktree.path, path, mode)),
  );
  await writeKept(project, written, { commit, dir: worktree.path, rules: await fileRules(project.repository) });
  for (const { path, status } of wanted) if (status === "D") removeFile(worktree.path, path);
  return changed.map(({ path }) => path.toString());
}

/** Files that are not as the commit has them, with line ends and filters as in any checkout. */
async function changedFiles(project: GitProject, workTree: string, commit: string): Promise<ReadonlySet<string>> {
  using own = over(project, workTree, await fileRules(project.repository));
  expectGit(await own.git(["read-tree", commit]), "reading where it stood");
  // It fails where files differ, which is what we want to know next.
  await own.git(["update-index", "-q", "--refresh"]);
  const dirty = expectGit(
    await own.git(["diff-files", "-z", "--name-only", "--ignore-submodules=dirty"]),
    "comparing files",
  );
  return new Set(zeroEnded(dirty.raw).map((path) => path.toString("latin1")));
}

/** Is a new file there already? A directory of that name is from the checkout, and the agent had replaced it. */
function isWritten(root: string, path: Buffer, mode: string): boolean {
  const stat = lstatIfThere(absolute(root, path));
  return stat !== undefined && (mode === "160000" || !stat.isDirectory());
}

const isThere = (root: string, path: Buffer): boolean => lstatIfThere(absolute(root, path)) !== undefined;

/** Removes a file and, as git does, the directories that are empty without it. */
function removeFile(root: string, path: Buffer): void {
  if (!isThere(root, path)) return;
  // The new worktree was filled with a submodule that the agent had removed.
  rmSync(absolute(root, path).toString(), { force: true, recursive: true });
  for (let dir = dirname(path.toString()); dir !== "."; dir = dirname(dir)) {
    const full = join(root, dir);
    if (!existsSync(full) || readdirSync(full).length > 0) return;
    rmdirSync(full);
  }
}

const rescueRefs = "refs/overstory/rescue/";

/** Keeps the work of a worktree under a rescue ref, as before its removal. A rescue with the same content is used again. */
export async function rescueWork(project: GitProject, worktree: OwnedWorktree): Promise<Rescue | undefined> {
  const saved = await saveWork(project, worktree, "bytes");
  if (saved === undefined) return undefined;
  const wanted = `${rescueRefs}${worktree.agentName}-${worktree.generation}`;
  const there = new Map((await refsBelow(project, rescueRefs)).map(({ name, commit }) => [name, commit]));
  const nameOf = (n: number): string => (n === 1 ? wanted : `${wanted}-${n}`);
  let n = 1;
  while (there.has(nameOf(n)) && there.get(nameOf(n)) !== saved.commit) n++;
  if (there.get(nameOf(n)) === saved.commit) return { ref: nameOf(n), ...saved };
  return { ref: await firstFreeRef(project, saved.commit, (at) => nameOf(n + at)), ...saved };
}

export async function findRescues(project: GitProject): Promise<readonly Rescue[]> {
  const refs = await refsBelow(project, rescueRefs);
  return refs.map(({ name, commit }) => ({ ref: name, commit, skipped: [] }));
}

/** Writes these refs with their commits into one file. A ref that another process cleans up meanwhile is left out. */
export async function writeBundle(project: GitProject, file: string, refs: readonly string[]): Promise<boolean> {
  if (refs.length === 0) return false;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  using own = over(project);
  // Names on standard input: there may be more of them than a command line takes.
  const stdin = refs.map((ref) => `${ref}\n`).join("");
  const written = await own.git(["bundle", "create", "--quiet", file, "--stdin"], { stdin });
  const names = new Set(written.code === 0 ? [] : (await refsBelow(project, "refs/")).map(({ name }) => name));
  const left = refs.filter((ref) => names.has(ref));
  if (written.code !== 0 && left.length < refs.length) return writeBundle(project, file, left);
  expectGit(written, "writing the bundle");
  return true;
}

/** Stores the commits of a bundle, and makes those of its refs that do not exist. Answers the names of the new refs. */
export async function readBundle(project: GitProject, file: string): Promise<readonly string[]> {
  using own = over(project);
  const listed = expectGit(await own.git(["bundle", "unbundle", file]), "reading the bundle");
  const restored: string[] = [];
  for (const { name, commit } of parseRefs(listed.out)) {
    if (name.startsWith("refs/") && (await newRef(project, name, commit))) restored.push(name);
  }
  return restored;
}

/** Git over the project. Files are bytes: a snapshot holds them as they lay in the worktree, after any filter. */
function over({ repository, scratch }: GitProject, workTree?: string, files: "bytes" | FileRules = "bytes"): OwnDir {
  const place = workTree === undefined ? {} : { workTree };
  return openOwnDir({ repository, scratch, objects: "project", files, ...place });
}
