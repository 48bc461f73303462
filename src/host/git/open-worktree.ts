import type { OwnedWorktree } from "../../ports/worktrees.ts";
import { expectGit } from "./git.ts";
import { type OwnDir, openOwnDir } from "./own-dir.ts";
import { placeOf } from "./places.ts";
import { commitAt, pinRefs, type Yard } from "./yard.ts";

/** One worktree seen through a git directory of our own, with a copy of its index. */
export interface OpenWorktree extends Disposable {
  readonly own: OwnDir;
  /** The commit it is at; undefined on a branch without commits. */
  readonly head: string | undefined;
  /** Its branch holds that commit. Not so after a detached checkout, or in a rebase left half-way. */
  readonly onBranch: boolean;
}

/** Also opens one whose git directory is gone or broken: its files then count as changes to the last commit we know. */
export async function openWorktree(yard: Yard, worktree: OwnedWorktree): Promise<OpenWorktree> {
  const { repository, scratch } = yard;
  const place = placeOf(repository, worktree);
  const common = { repository, scratch, workTree: worktree.path };
  if (place === undefined) {
    const head = await lastKnown(yard, worktree);
    const own = openOwnDir({
      ...common,
      head: head ?? `ref: refs/heads/none`,
      refs: repository.commonDir,
      objects: "project",
    });
    if (head !== undefined) expectGit(await own.git(["read-tree", head]), "reading the last known commit");
    return { own, head, onBranch: false, [Symbol.dispose]: () => own[Symbol.dispose]() };
  }
  const own = openOwnDir({
    ...common,
    head: place.head,
    refs: place.refs,
    indexFrom: place.gitDir,
    ...(worktree.kind === "clone"
      ? { objects: "scratch" as const, alsoReads: [place.objects] }
      : { objects: "project" as const }),
  });
  const head = await own.git(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  return {
    own,
    head: head.code === 0 ? head.out.trim() : undefined,
    onBranch: place.head.trim() === `ref: refs/heads/${worktree.branch}`,
    [Symbol.dispose]: () => own[Symbol.dispose](),
  };
}

async function lastKnown(yard: Yard, { agentName, branch, baseCommit }: OwnedWorktree): Promise<string | undefined> {
  for (const ref of [`${pinRefs(agentName)}heads/${branch}`, `refs/heads/${branch}`, baseCommit]) {
    const commit = ref === null ? undefined : await commitAt(yard, ref);
    if (commit !== undefined) return commit;
  }
  return undefined;
}
