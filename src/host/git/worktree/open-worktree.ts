import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { Failure } from "../../../domain/failure.ts";
import type { OwnedWorktree, SeatRequest } from "../../../ports/worktrees.ts";
import { lstatIfThere, readText } from "../../file-access.ts";
import { fileRules } from "../filters.ts";
import { absolute, expectGit, type GitAnswer, git, zeroEnded } from "../git.ts";
import { submoduleWayOut } from "../leads-outside.ts";
import { type OwnDir, type OwnDirOptions, openOwnDir } from "../own-dir.ts";
import { adminDirOf, gitLinkIn, ownPlace, placeOf, recordOf, standing, textOf } from "../places.ts";
import { commitAt, pinRefs } from "../refs.ts";
import type { GitProject, Place } from "../repository.ts";
import { lastCommitOf, looseCommits } from "../work/loose-commits.ts";
import { freshPath, openTrash, trashName } from "../work/trash.ts";

/** One worktree seen through a git directory of our own, with a copy of its index. */
export interface OpenWorktree extends Disposable {
  /** Takes files as the bytes they are. */
  readonly own: OwnDir;
  /** Over the same index: takes files as plain git would, so that what only looks different is not different. */
  asGit(): Promise<OwnDir>;
  /** The commit it is at; undefined on a branch without commits. */
  readonly head: string | undefined;
  /** Its branch holds that commit. Not so after a detached checkout, or in a rebase left half-way. */
  readonly onBranch: boolean;
  /** Commits that go with its git state, because nothing else holds them. */
  loose(): Promise<readonly string[]>;
  /** The paths in the index of the worktree. */
  tracked(): Promise<readonly TrackedPath[]>;
}

/** A path of the index, with its mode as git prints it. */
export interface TrackedPath {
  readonly path: string;
  readonly mode: string;
}

/** Also opens one whose git directory is gone or broken: its files then count as changes to the last commit we know. */
export async function openWorktree(project: GitProject, worktree: OwnedWorktree): Promise<OpenWorktree> {
  const { repository, scratch } = project;
  const place = project.place ?? placeOf(repository, worktree);
  const common = { repository, scratch, workTree: worktree.path };
  if (place === undefined) {
    const head = await lastKnown(project, worktree);
    const views = openBoth({
      ...common,
      head,
      objects: "project",
    });
    if (head !== undefined) expectGit(await views.own.git(["read-tree", head]), "reading the last known commit");
    return { ...views, head, onBranch: false, loose: async () => [], tracked: () => trackedIn(views.own) };
  }
  const at = headOf(place, worktree);
  const views = openBoth({
    ...common,
    head: at.text,
    refs: place.refs,
    indexFrom: place.gitDir,
    ...(worktree.kind === "clone"
      ? {
          objects: "scratch" as const,
          alsoReads: [place.objects],
          within: () => project.confine?.([worktree.path, place.gitDir], scratch),
        }
      : { objects: "project" as const }),
  });
  const { own } = views;
  // The git directories of submodules lie in that of the clone, outside of the submodules.
  const isWhole = worktree.kind === "clone" && project.place === undefined;
  const [head] = await Promise.all([
    own.git(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]),
    seeHiddenChanges(own, worktree.path, (path) => {
      const problem = isWhole ? submoduleWayOut({ path: worktree.path, repository }, path) : undefined;
      if (problem !== undefined) throw new Failure({ kind: "worktree-damaged", path: worktree.path, problem });
    }),
  ]).catch((error: unknown) => {
    views[Symbol.dispose]();
    throw error;
  });
  const commit = head.code === 0 ? head.out.trim() : undefined;
  const { branch, baseCommit } = worktree;
  return {
    ...views,
    head: commit,
    loose: () => looseCommits(own, place, { branch, held: [commit, baseCommit] }),
    tracked: () => trackedIn(own),
    onBranch: at.isThere && place.head === `ref: refs/heads/${worktree.branch}`,
  };
}

/**
 * The HEAD of a worktree. Where the agent's own branch was deleted, the commit that the worktree was last at: on a
 * branch without commits everything would look new, and no snapshot would hold the commits. Any other branch without
 * commits was begun by the agent.
 */
function headOf(place: Place, { branch }: OwnedWorktree): { readonly text: string; readonly isThere: boolean } {
  const ref = `refs/heads/${branch}`;
  if (place.head !== `ref: ${ref}` || textOf(join(place.refs, ref)) !== undefined) {
    return { text: place.head, isThere: true };
  }
  const isKeptElsewhere = existsSync(join(place.refs, "reftable"));
  const isPacked = (readText(join(place.refs, "packed-refs")) ?? "").includes(` ${ref}\n`);
  const last = isPacked || isKeptElsewhere ? undefined : lastCommitOf(place);
  return last === undefined ? { text: place.head, isThere: true } : { text: last, isThere: false };
}

/** The second view is made when it is first asked for. */
function openBoth(options: Omit<OwnDirOptions, "index" | "files">): Pick<OpenWorktree, "own" | "asGit"> & Disposable {
  const own = openOwnDir(options);
  const { indexFrom: _, ...rest } = options;
  let asGit: OwnDir | undefined;
  return {
    own,
    asGit: async () => {
      const files = await fileRules(options.repository);
      // What the one stores the other has to find: they share the index.
      const objects = options.objects === "scratch" ? own : options.objects;
      asGit ??= openOwnDir({ ...rest, objects, files, index: join(own.dir, "index") });
      return asGit;
    },
    [Symbol.dispose]: () => {
      asGit?.[Symbol.dispose]();
      own[Symbol.dispose]();
    },
  };
}

/**
 * What git says about the files, taken as plain git takes them; where a filter fails, taken as bytes: rather too much
 * than too little has changed then.
 */
export async function lookAsGit({ own, asGit }: OpenWorktree, args: readonly string[]): Promise<GitAnswer> {
  const answer = await (await asGit()).git(args);
  return answer.code === 0 ? answer : await own.git(args);
}

/**
 * What git knows of a linked worktree whose directory is gone or was replaced: the commit it was at, what was staged.
 * Undefined when git has no record of it either.
 */
export async function openRecord(project: GitProject, worktree: OwnedWorktree): Promise<OpenWorktree | undefined> {
  const { repository, scratch } = project;
  const place = worktree.kind === "linked" ? recordOf(repository, worktree.path) : undefined;
  if (place === undefined) return undefined;
  const { refs, gitDir: indexFrom } = place;
  const { text, isThere } = headOf(place, worktree);
  const views = openBoth({ repository, scratch, head: text, refs, indexFrom, objects: "project" });
  const { own } = views;
  const head = await own.git(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  const at = head.code === 0 ? head.out.trim() : undefined;
  const { branch, baseCommit } = worktree;
  return {
    ...views,
    head: at,
    loose: () => looseCommits(own, place, { branch, held: [at, baseCommit] }),
    tracked: () => trackedIn(own),
    onBranch: isThere && text === `ref: refs/heads/${branch}`,
  };
}

/**
 * Files that an index entry tells git not to look at (`assume-unchanged`, `skip-worktree`) are looked at all the same: an
 * agent may have edited them. Only our copy of the index is changed. Entries that a sparse checkout left out have no file,
 * and stay left out. `eachModule` is called with the path of each submodule.
 */
async function seeHiddenChanges(own: OwnDir, root: string, eachModule: (path: string) => void): Promise<void> {
  const assumed: Buffer[] = [];
  const skipped: Buffer[] = [];
  const modules: string[] = [];
  const each = (entry: Buffer): void => {
    const [tag = 0] = entry;
    // Copied: the part is a window on all that came with it.
    const path = (): Buffer => Buffer.from(pathOf(entry).path);
    if (isLowerCase(tag)) assumed.push(path());
    if (upperCase(tag) === skipWorktreeTag && lstatIfThere(absolute(root, path()))) skipped.push(path());
    if (entry.toString("latin1", 2, 2 + submoduleMode.length) === submoduleMode) modules.push(path().toString());
  };
  const listed = await own.git(["ls-files", "-v", "--stage", "-z"], { each });
  for (const path of modules) eachModule(path);
  // A later step that needs the index reports that git cannot read it.
  if (listed.code !== 0) return;
  for (const [option, paths] of [
    ["--no-assume-unchanged", assumed],
    ["--no-skip-worktree", skipped],
  ] as const) {
    const stdin = Buffer.concat(paths.flatMap((path) => [path, Buffer.of(0)]));
    if (paths.length > 0) expectGit(await own.git(["update-index", option, "-z", "--stdin"], { stdin }), option);
  }
}

async function trackedIn(own: OwnDir): Promise<readonly TrackedPath[]> {
  const listed = expectGit(await own.git(["ls-files", "-z", "--stage"]), "listing files");
  return zeroEnded(listed.raw).map((entry) => {
    const { path, mode } = pathOf(entry);
    return { path: path.toString(), mode };
  });
}

/** The path and mode of `<mode> <object> <stage>`, a tab and the path, which is bytes. */
function pathOf(entry: Buffer): { readonly path: Buffer; readonly mode: string } {
  return { path: entry.subarray(entry.indexOf(0x09) + 1), mode: entry.subarray(0, entry.indexOf(0x20)).toString() };
}

const submoduleMode = "160000 ";
const isLowerCase = (letter: number): boolean => letter >= 0x61 && letter <= 0x7a;
const upperCase = (letter: number): number => (isLowerCase(letter) ? letter - 0x20 : letter);
const skipWorktreeTag = "S".charCodeAt(0);

async function lastKnown(
  project: GitProject,
  { agentName, branch, baseCommit }: OwnedWorktree,
): Promise<string | undefined> {
  for (const ref of [`${pinRefs(agentName)}heads/${branch}`, `refs/heads/${branch}`, baseCommit]) {
    const commit = ref === null ? undefined : await commitAt(project, ref);
    if (commit !== undefined) return commit;
  }
  return undefined;
}

/**
 * Is the directory at the path the agent's worktree? Yes if it is the recorded directory, or if git's own link leads
 * from it to the record of this worktree: then we died before recording it, or a person put a copy back. Any other
 * directory is a stand-in. Linked to the branch, its missing files would be deletions in the agent's next commit.
 */
export async function isWorktreeOf(project: GitProject, request: Omit<SeatRequest, "baseRef">): Promise<boolean> {
  const { path, kind, identity = null } = request;
  const found = standing({ path, identity });
  if (found !== "own" && found !== "other") return false;
  const link = join(path, ".git");
  if (kind === "clone") return ownPlace(link) !== undefined && readsObjectsOf(project, link);
  const points = gitLinkIn(link);
  if (points !== undefined && resolve(path, points) === adminDirOf(project.repository, path)) return true;
  return identity !== null && found === "own" && !(await isEmptied(project, request));
}

/** A clone that we made reads the objects of the project. */
function readsObjectsOf({ repository }: GitProject, gitDir: string): boolean {
  return (readText(alternatesOf(gitDir)) ?? "").split("\n").includes(repository.objects);
}

export const alternatesOf = (gitDir: string): string => join(gitDir, "objects", "info", "alternates");

/** The agent's own directory stands there, with files of its branch or at least with its link to git. */
export const holdsWork = async (project: GitProject, worktree: OwnedWorktree): Promise<boolean> =>
  standing(worktree) === "own" && !(await isEmptied(project, worktree));

/** The directory has neither its link nor a single file or folder of its branch: its whole content was deleted. */
export async function isEmptied(
  { repository }: GitProject,
  { path, branch }: Pick<SeatRequest, "path" | "branch">,
): Promise<boolean> {
  if (lstatIfThere(join(path, ".git")) !== undefined) return false;
  const listed = await git(repository.root, "ls-tree", "-z", "--name-only", `refs/heads/${branch}`);
  const names = listed.out.split("\0").filter((name) => name !== "");
  return names.length > 0 && names.every((name) => lstatIfThere(join(path, name)) === undefined);
}

/**
 * Moves a stand-in to the trash, so that the worktree can be made anew. Returns the new path. The name in the trash is
 * not the agent's, because the content is not the agent's work.
 */
export async function putAsideStandIn(project: GitProject, request: SeatRequest): Promise<string | undefined> {
  const { path, agentName, kind, identity = null } = request;
  if (kind === "root" || identity === null || standing({ path }) === "nothing") return undefined;
  if (await isWorktreeOf(project, request)) return undefined;
  const trash = openTrash(freshPath(join(project.trash, trashName(`Found-at-${agentName}`, Date.now()))));
  trash.take(dirname(path), basename(path), "work");
  return trash.used === undefined ? undefined : join(trash.used, basename(path));
}
