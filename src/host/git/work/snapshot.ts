import { lstatSync } from "node:fs";
import { isHonoured } from "../../../domain/trust/filters.ts";
import type { OwnedWorktree, Snapshot } from "../../../ports/worktrees.ts";
import { lstatIfThere } from "../../file-access.ts";
import { fileRules } from "../filters.ts";
import { absolute, expectGit, zeroEnded } from "../git.ts";
import type { OwnDir } from "../own-dir.ts";
import { placeOf } from "../places.ts";
import { firstFreeRef, type Ref, refsBelow, snapshotRefs } from "../refs.ts";
import type { GitProject } from "../repository.ts";
import { holdsWork, type OpenWorktree, openRecord, openWorktree } from "../worktree/open-worktree.ts";
import { transfer } from "./collect.ts";
import { findWork, isAsCommitted } from "./uncommitted.ts";

/** Keeps the work of a worktree under the next snapshot ref, or under the last one while that still says it all. */
export async function takeSnapshot(project: GitProject, worktree: OwnedWorktree): Promise<Snapshot | undefined> {
  using open = await openWork(project, worktree);
  const kept = open === undefined ? undefined : await workIn(project, open, worktree, "bytes");
  if (open === undefined || kept === undefined) return undefined;
  const earlier = await earlierSnapshots(project, worktree);
  const last = earlier.at(-1);
  const isUntouched = "commit" in kept && kept.commit === worktree.baseCommit;
  if (isUntouched && last === undefined) return undefined;
  if (last !== undefined && (await says(open.own, last.commit, kept))) {
    return { ref: last.name, commit: last.commit, skipped: kept.skipped };
  }
  const known = earlier.map(({ commit }) => commit);
  const commit = await commitOf(open.own, kept);
  await bring(project, worktree, open, { commit, known });
  return { ref: await nextRef(project, worktree, { commit, last }), commit, skipped: kept.skipped };
}

/** Keeps a commit that the branch of a worktree does not hold any more, unless a snapshot of it is there. */
export async function keepCommit(project: GitProject, worktree: OwnedWorktree, commit: string): Promise<Snapshot> {
  const earlier = await earlierSnapshots(project, worktree);
  const known = earlier.find((one) => one.commit === commit);
  if (known !== undefined) return { ref: known.name, commit, skipped: [] };
  if (worktree.kind === "clone") {
    using open = await openWorktree(project, worktree);
    await bring(project, worktree, open, { commit, known: [] });
  }
  return { ref: await nextRef(project, worktree, { commit, last: earlier.at(-1) }), commit, skipped: [] };
}

interface EarlierSnapshot extends Ref {
  readonly place: PlaceInOrder;
}

/** The snapshots of an agent, in the order in which they were taken. */
async function earlierSnapshots(
  project: GitProject,
  { agentName }: OwnedWorktree,
): Promise<readonly EarlierSnapshot[]> {
  const prefix = snapshotRefs(agentName);
  const all = (await refsBelow(project, prefix)).map((ref) => ({ ...ref, place: placeIn(prefix, ref.name) }));
  return all.toSorted(byPlace);
}

function nextRef(
  project: GitProject,
  { agentName, generation }: OwnedWorktree,
  { commit, last }: { readonly commit: string; readonly last: EarlierSnapshot | undefined },
): Promise<string> {
  const next = (last?.place[0] === generation ? last.place[1] : 0) + 1;
  return firstFreeRef(project, commit, (at) => `${snapshotRefs(agentName)}${generation}/${next + at}`);
}

/**
 * How files are stored. `bytes`: as they lie there, so that they can be put back without any filter. `git`: as
 * `git add` would, so that they can be compared with commits, merged and landed.
 */
type StoredAs = "bytes" | "git";

/** The work of a worktree as one commit in the project, under no ref yet. Undefined when there is none at all. */
export async function saveWork(
  project: GitProject,
  worktree: OwnedWorktree,
  storedAs: StoredAs,
): Promise<{ readonly commit: string; readonly skipped: readonly string[] } | undefined> {
  using open = await openWork(project, worktree);
  const kept = open === undefined ? undefined : await workIn(project, open, worktree, storedAs);
  if (open === undefined || kept === undefined) return undefined;
  const commit = await commitOf(open.own, kept);
  await bring(project, worktree, open, { commit, known: [] });
  return { commit, skipped: kept.skipped };
}

/** With its files, or without them where they are gone. */
async function openWork(project: GitProject, worktree: OwnedWorktree): Promise<OpenWorktree | undefined> {
  if (worktree.kind === "root") return undefined;
  return (await holdsWork(project, worktree)) ? openWorktree(project, worktree) : openRecord(project, worktree);
}

/** Files and commits. Where the files are gone, what the branch holds needs no other ref. */
async function workIn(
  project: GitProject,
  open: OpenWorktree,
  worktree: OwnedWorktree,
  storedAs: StoredAs,
): Promise<Kept | undefined> {
  const hasFiles = await holdsWork(project, worktree);
  const [files, loose] = await Promise.all([
    hasFiles ? store(project, open, worktree, storedAs) : staged(open),
    open.loose(),
  ]);
  if (files !== undefined && loose.length > 0) {
    const { skipped } = files;
    if (!("commit" in files)) return { ...files, parents: [...files.parents, ...loose] };
    return { tree: await treeOf(open.own, files.commit), parents: [files.commit, ...loose], skipped, asGit: [] };
  }
  return !hasFiles && files !== undefined && "commit" in files && open.onBranch ? undefined : files;
}

/** What was staged in a worktree whose files are gone, on top of HEAD, or HEAD itself. */
async function staged({ own, head }: OpenWorktree): Promise<Kept | undefined> {
  if (head === undefined) return undefined;
  const [tree, headTree] = await Promise.all([indexTree(own), treeOf(own, head)]);
  const isWork = tree !== undefined && tree !== headTree && !emptyTrees.includes(tree);
  if (!isWork) return { commit: head, skipped: [] };
  return { tree, parents: [head], skipped: [], asGit: await stagedFiles(own, head) };
}

/** Work whose files are stored: a commit the agent made itself, or one that is still to be written. */
type Kept = { readonly skipped: readonly string[] } & (
  | { readonly commit: string }
  | {
      readonly tree: string;
      readonly parents: readonly string[];
      /** Changed files that are stored as git stores them, not as the bytes that lay there. */
      readonly asGit: readonly Buffer[];
    }
);

/**
 * The files as they are, on top of HEAD, or HEAD itself when they are no different. What was staged but is neither
 * there nor in HEAD would be lost with the index, so it becomes a second parent, as in a stash.
 */
async function store(
  project: GitProject,
  open: OpenWorktree,
  worktree: OwnedWorktree,
  storedAs: StoredAs,
): Promise<Kept | undefined> {
  const { own, head } = open;
  const root = worktree.path;
  const [isClean, filtered] = await Promise.all([
    head !== undefined && isAsCommitted(project, open, "work"),
    storedAs === "git" ? [] : keptByFilters(project, open, worktree),
  ]);
  if (head !== undefined && isClean && filtered.length === 0) return { commit: head, skipped: [] };
  const [work, headTree, stagedPaths] = await Promise.all([
    findWork(project, open, root),
    head === undefined ? undefined : treeOf(own, head),
    storedAs === "git" ? [] : stagedFiles(own, head),
  ]);
  const { small, large } = bySize(project, root, without(stagedPaths, [...work.changed, ...work.skipped]));
  const asBytes = [...filtered, ...without(small, filtered)];
  const staged = await indexTree(own);
  const paths = [...work.changed, ...work.untracked];
  if (paths.length > 0) {
    const stdin = Buffer.concat(paths.flatMap((path) => [path, zero]));
    const args = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
    const through = storedAs === "git" ? await open.asGit() : own;
    expectGit(await through.git(args, { stdin, confined: true }), "storing files");
  }
  if (asBytes.length > 0) await storeBytes(own, root, asBytes);
  const tree = paths.length + asBytes.length === 0 ? staged : await indexTree(own);
  if (tree === undefined) throw new Error(`${root}: the files make no tree`);
  const skipped = work.skipped.map((path) => path.toString());
  const extra = staged !== undefined && staged !== tree && staged !== headTree ? staged : undefined;
  if (extra === undefined && head !== undefined && tree === headTree) return { commit: head, skipped };
  if (extra === undefined && head === undefined && emptyTrees.includes(tree)) return undefined;
  const parents = head === undefined ? [] : [head];
  return {
    tree,
    parents: extra === undefined ? parents : [...parents, await stagedCommit(own, extra, parents)],
    skipped,
    asGit: large,
  };
}

/** Files that the index has otherwise than a commit. Those of a merge in conflict are listed as changed. */
async function stagedFiles(own: OwnDir, head: string | undefined): Promise<readonly Buffer[]> {
  const since = ["diff-index", "--cached", "-z", "--name-only", "--no-renames", "--diff-filter=AMT", head ?? ""];
  const answer = await own.git(head === undefined ? ["ls-files", "-z"] : since);
  return zeroEnded(expectGit(answer, "listing what was staged").raw);
}

/** Regular files up to the size that a snapshot stores, and larger ones. */
function bySize({ maxFileBytes }: GitProject, root: string, paths: readonly Buffer[]) {
  const files = paths.flatMap((path) => {
    const stat = lstatIfThere(absolute(root, path));
    return stat?.isFile() === true ? [{ path, isSmall: stat.size <= maxFileBytes }] : [];
  });
  const those = (isSmall: boolean) => files.filter((file) => file.isSmall === isSmall).map(({ path }) => path);
  return { small: those(true), large: those(false) };
}

function without(paths: readonly Buffer[], others: readonly Buffer[]): readonly Buffer[] {
  const known = new Set(others.map((path) => path.toString("latin1")));
  return paths.filter((path) => !known.has(path.toString("latin1")));
}

const zero = Buffer.of(0);

/**
 * Files that the agent committed or staged and that a filter keeps elsewhere. Git LFS forgets what no branch reaches, so
 * a commit that only a snapshot keeps is worth no more than the bytes that lie here.
 */
async function keptByFilters(
  { repository, maxFileBytes }: GitProject,
  { own, asGit }: OpenWorktree,
  { path: root, baseCommit }: OwnedWorktree,
): Promise<readonly Buffer[]> {
  const honoured = (await fileRules(repository)).filters.filter(isHonoured);
  if (baseCommit === null || honoured.length === 0) return [];
  const args = ["diff-index", "--cached", "-z", "--name-only", "--no-renames", "--diff-filter=AMT", baseCommit];
  const { raw } = expectGit(await own.git(args), "listing what was committed");
  if (raw.length === 0) return [];
  const answer = await (await asGit()).git(["check-attr", "-z", "--stdin", "filter"], { stdin: raw });
  const parts = zeroEnded(expectGit(answer, "asking for filters").raw);
  const names = new Set(honoured.map(({ name }) => name));
  return parts.filter((path, at) => {
    if (at % 3 !== 0 || !names.has(parts[at + 2]?.toString() ?? "")) return false;
    const stat = lstatIfThere(absolute(root, path));
    return stat?.isFile() === true && stat.size <= maxFileBytes;
  });
}

/** Replaces what the index says about these files by their bytes. */
async function storeBytes(own: OwnDir, root: string, paths: readonly Buffer[]): Promise<void> {
  const quoted = paths.map((path) => quotedPath(absolute(root, path)));
  const stored = await own.git(["hash-object", "-w", "--no-filters", "--stdin-paths"], {
    stdin: quoted.join(""),
    confined: true,
  });
  const oids = expectGit(stored, "storing files").out.split("\n");
  const modes = paths.map((path) => ((lstatSync(absolute(root, path)).mode & 0o100) === 0 ? "100644" : "100755"));
  const lines = paths.flatMap((path, at) => [Buffer.from(`${modes[at]} ${oids[at]}\t`), path, zero]);
  expectGit(await own.git(["update-index", "-z", "--index-info"], { stdin: Buffer.concat(lines) }), "storing files");
}

/** As git reads a path that may hold a line end or a quote. */
const quotedPath = (path: Buffer): string =>
  `"${[...path].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("")}"\n`;

/** Undefined while a merge is in conflict: then the index is made of commits, and the files are what counts. */
async function indexTree(own: OwnDir): Promise<string | undefined> {
  const answer = await own.git(["write-tree"]);
  return answer.code === 0 ? answer.out.trim() : undefined;
}

async function treeOf(own: OwnDir, commit: string): Promise<string> {
  return expectGit(await own.git(["rev-parse", `${commit}^{tree}`]), `the tree of ${commit}`).out.trim();
}

/** The empty tree, under the names of both object formats. */
const emptyTrees = [
  "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
];

/** Always the same commit for the same index, so that an unchanged worktree makes an unchanged snapshot. */
async function stagedCommit(own: OwnDir, tree: string, parents: readonly string[]): Promise<string> {
  const date = "@0 +0000";
  const env = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  const answer = await own.git(["commit-tree", tree, ...parentArgs(parents), "-m", "staged"], { env });
  return expectGit(answer, "writing what was staged").out.trim();
}

async function commitOf(own: OwnDir, kept: Kept): Promise<string> {
  if ("commit" in kept) return kept.commit;
  const forms = kept.asGit.map((path) => `${asGitMark}${path.toString("hex")}\n`).join("");
  const stdin = forms === "" ? "snapshot\n" : `snapshot\n\n${forms}`;
  const answer = await own.git(["commit-tree", kept.tree, ...parentArgs(kept.parents), "-F", "-"], { stdin });
  return expectGit(answer, "writing a snapshot").out.trim();
}

/** Begins a line of a snapshot's message. The path of a file that is stored as git stores it follows, as hex digits. */
export const asGitMark = "stored-by-git: ";

const parentArgs = (parents: readonly string[]): readonly string[] => parents.flatMap((parent) => ["-p", parent]);

/** Does this commit hold the same already? A commit of the agent's own is kept as itself, with its message. */
async function says(own: OwnDir, commit: string, kept: Kept): Promise<boolean> {
  if ("commit" in kept) return kept.commit === commit;
  const shown = await own.git(["show", "-s", "--no-show-signature", "--format=%T %P", commit]);
  return shown.code === 0 && shown.out.trim() === [kept.tree, ...kept.parents].join(" ");
}

/** A clone's objects are copied to the project; in a linked worktree they are there already. */
async function bring(
  project: GitProject,
  worktree: OwnedWorktree,
  { own }: OpenWorktree,
  { commit, known }: { readonly commit: string; readonly known: readonly string[] },
): Promise<void> {
  if (worktree.kind !== "clone") return;
  const haves = worktree.baseCommit === null ? known : [worktree.baseCommit, ...known];
  const beforeStoring = () => void (project.place ?? placeOf(project.repository, worktree));
  await transfer(project, own, { wants: [commit], haves, beforeStoring });
}

type PlaceInOrder = readonly [generation: number, n: number];

function placeIn(prefix: string, name: string): PlaceInOrder {
  const [generation = 0, n = 0] = name.slice(prefix.length).split("/").map(Number);
  return [generation, n];
}

const byPlace = (a: { readonly place: PlaceInOrder }, b: { readonly place: PlaceInOrder }): number =>
  a.place[0] - b.place[0] || a.place[1] - b.place[1];
