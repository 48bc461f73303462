import { existsSync, lstatSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { KeptSnapshot, OwnedWorktree, RestoredWork, SeatRequest } from "../../ports/worktrees.ts";
import { makeWithin } from "../writable.ts";
import { type FileRules, fileRules } from "./filters.ts";
import { expectGit, git, zeroEnded } from "./git.ts";
import { differences, type OwnDir, openOwnDir } from "./own-dir.ts";
import { placeOf, standing } from "./places.ts";
import { isWorktreeOf } from "./stand-in.ts";
import { homeOf } from "./submodules/local-module.ts";
import { hasSubmoduleWork, restoreSubmodules } from "./submodules/restore.ts";
import { newestTrashOf, takeBack } from "./trash.ts";
import { absolute, commitAt, newRef, snapshotRefs, type Yard } from "./yard.ts";

/** Everything that is kept under a ref of ours, oldest first. */
export async function keptSnapshots({ repository }: Yard): Promise<readonly KeptSnapshot[]> {
  const fields = ["refname", "objectname", "committerdate:unix", "committeremail", "subject", "parent"];
  const format = fields.map((field) => `%(${field})`).join("%00");
  const below = ["refs/overstory/snap/", "refs/overstory/rescue/"];
  const listed = expectGit(
    await git(repository.root, "for-each-ref", "--sort=committerdate", `--format=${format}`, ...below),
    "listing snapshots",
  );
  return listed.out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [ref = "", commit = "", at = "0", mail, subject, parents = ""] = line.split("\0");
      // A commit of the agent's own is kept as itself.
      const isOurs = mail === "<overstory@localhost>" && subject === "snapshot";
      const onTop = isOurs ? (parents.split(" ")[0] ?? null) : commit;
      return { ref, commit, agentName: agentOf(ref), createdAt: Number(at) * 1000, onTop };
    });
}

function agentOf(ref: string): string {
  const [, , sort, name = "", ...rest] = ref.split("/");
  return sort === "rescue" ? name.replace(/-\d+(-\d+)?$/, "") : rest.length === 0 ? "" : name;
}

/** Paths that differ between two commits, with the letter git gives to the difference. */
export async function changesBetween(
  yard: Yard,
  from: string,
  to: string,
): Promise<readonly { readonly path: string; readonly status: string }[]> {
  using own = over(yard, undefined);
  return (await differences(own, from, to)).map(({ path, status }) => ({ path: path.toString(), status }));
}

/** Writes every file of a commit below a directory that is not there yet, byte for byte. */
export async function exportFiles(yard: Yard, commit: string, dir: string): Promise<number> {
  mkdirSync(dir, { recursive: true });
  using own = over(yard, dir);
  expectGit(await own.git(["read-tree", commit]), `reading ${commit}`);
  expectGit(await own.git(["checkout-index", "--all", "--force"]), "writing the files");
  return zeroEnded(expectGit(await own.git(["ls-files", "-z"]), "counting the files").raw).length;
}

/**
 * Says, before the worktree of a name is made anew, that its kept work belongs into it. Whoever makes the worktree may
 * die right after it; the next one finds this and finishes. A branch that was deleted is put back where the work was.
 */
export async function intendRestore(yard: Yard, request: Omit<SeatRequest, "baseRef">): Promise<void> {
  const { path, identity = null } = request;
  const isFree = standing({ path }) === "nothing" || (identity !== null && !(await isWorktreeOf(yard, request)));
  if (!isFree) return;
  const newest = await newestOf(yard, request.agentName);
  const { agentName } = request;
  const isKept =
    newest !== undefined ||
    newestTrashOf(yard.trash, agentName) !== undefined ||
    hasSubmoduleWork(homeOf(yard.repository), agentName);
  if (!isKept) return;
  const ref = `refs/heads/${request.branch}`;
  const tip = newest?.onTop ?? null;
  if (tip !== null && (await commitAt(yard, ref)) === undefined) await newRef(yard, ref, tip);
  makeWithin(yard.scratch, 3);
  writeFileSync(intentFile(yard, request), newest?.ref ?? "");
}

const intentFile = ({ scratch }: Yard, { agentName }: { readonly agentName: string }): string =>
  join(scratch, `restore-${agentName}`);

/**
 * Brings uncommitted work back into a new worktree: the newest snapshot of the agent, if it was taken at the worktree's
 * commit; the uncommitted files of submodules; and the files that the removed worktree left in the trash. Files that
 * differ already stay as they are, so it can be repeated. Undefined when there was nothing to bring back.
 */
export async function restoreWork(yard: Yard, worktree: OwnedWorktree): Promise<RestoredWork | undefined> {
  const intent = intentFile(yard, worktree);
  if (!existsSync(intent)) return undefined;
  const newest = await newestOf(yard, worktree.agentName);
  const tip = await commitAt(yard, `refs/heads/${worktree.branch}`);
  const fits = newest !== undefined && newest.onTop === tip && standing(worktree) === "own";
  const outside = fits ? await bringBack(yard, worktree, newest) : [];
  const state = fits ? newest.commit : tip;
  const inside =
    state !== undefined && standing(worktree) === "own" ? await restoreSubmodules(yard, worktree, state) : [];
  const files = [...outside, ...inside];
  const trash = standing(worktree) === "own" ? newestTrashOf(yard.trash, worktree.agentName) : undefined;
  const moved = trash === undefined ? 0 : takeBack(trash, worktree.path);
  rmSync(intent, { force: true });
  if (files.length + moved === 0) return undefined;
  return { ref: fits ? newest.ref : null, files, fromTrash: moved };
}

/** The newest snapshot of an agent. */
export async function newestOf(yard: Yard, agentName: string): Promise<KeptSnapshot | undefined> {
  const all = (await keptSnapshots(yard)).filter((kept) => kept.agentName === agentName);
  const numbered = all.filter(({ ref }) => ref.startsWith(snapshotRefs(agentName)));
  // Times have whole seconds; snapshots of one second are told apart by their numbers.
  const last = (list: readonly KeptSnapshot[]): KeptSnapshot | undefined =>
    list.toSorted((a, b) => a.createdAt - b.createdAt || a.ref.localeCompare(b.ref, "en", { numeric: true })).at(-1);
  const [rescue, snapshot] = [last(all.filter((kept) => !numbered.includes(kept))), last(numbered)];
  return rescue !== undefined && rescue.createdAt > (snapshot?.createdAt ?? -1) ? rescue : snapshot;
}

async function bringBack(
  yard: Yard,
  worktree: OwnedWorktree,
  { commit, onTop }: KeptSnapshot,
): Promise<readonly string[]> {
  const place = placeOf(yard.repository, worktree);
  if (place === undefined || onTop === null || onTop === commit) return [];
  using own = over(yard, worktree.path);
  const changed = await differences(own, onTop, commit);
  const before = await changedFiles(yard, worktree.path, onTop);
  // Files that we have written already differ now, and files that are new may not be there yet.
  const wanted = changed.filter(({ path, status }) => status === "A" || !before.has(path.toString("latin1")));
  expectGit(await own.git(["read-tree", commit]), "reading the snapshot");
  const written = wanted.filter(
    ({ path, status }) => status !== "D" && !(status === "A" && isThere(worktree.path, path)),
  );
  const stdin = Buffer.concat(written.flatMap(({ path }) => [path, Buffer.of(0)]));
  expectGit(await own.git(["checkout-index", "--force", "-z", "--stdin"], { stdin }), "writing files of a snapshot");
  for (const { path, status } of wanted) if (status === "D") removeFile(worktree.path, path);
  return changed.map(({ path }) => path.toString());
}

/** Files that are not as the commit has them, with line ends and filters as in any checkout. */
async function changedFiles(yard: Yard, workTree: string, commit: string): Promise<ReadonlySet<string>> {
  using own = over(yard, workTree, await fileRules(yard.repository));
  expectGit(await own.git(["read-tree", commit]), "reading where it stood");
  // It fails where files differ, which is what we want to know next.
  await own.git(["update-index", "-q", "--refresh"]);
  const dirty = expectGit(
    await own.git(["diff-files", "-z", "--name-only", "--ignore-submodules=dirty"]),
    "comparing files",
  );
  return new Set(zeroEnded(dirty.raw).map((path) => path.toString("latin1")));
}

const isThere = (root: string, path: Buffer): boolean =>
  lstatSync(absolute(root, path), { throwIfNoEntry: false }) !== undefined;

/** With the directories that are empty without it, as git does. */
function removeFile(root: string, path: Buffer): void {
  // The new worktree was filled with a submodule that the agent had removed.
  rmSync(absolute(root, path).toString(), { force: true, recursive: true });
  for (let dir = dirname(path.toString()); dir !== "."; dir = dirname(dir)) {
    const full = join(root, dir);
    if (!existsSync(full) || readdirSync(full).length > 0) return;
    rmdirSync(full);
  }
}

/** Files as bytes: a snapshot holds what stood in the worktree, and filters must not run over that again. */
function over(
  { repository, scratch }: Yard,
  workTree: string | undefined,
  files: "bytes" | FileRules = "bytes",
): OwnDir {
  const refs = repository.commonDir;
  const place = workTree === undefined ? {} : { workTree };
  return openOwnDir({ repository, scratch, head: "ref: refs/heads/none", refs, objects: "project", files, ...place });
}
