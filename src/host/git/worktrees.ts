import { existsSync } from "node:fs";
import { Failure } from "../../domain/failure.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { OwnedWorktree, Seat, SeatRequest, WorktreeKeeping, WorktreeRefusal } from "../../ports/worktrees.ts";
import { GitFailed } from "./git.ts";
import { authorVariables } from "./identity.ts";
import { sweepLeftovers, sweepScratch } from "./leftovers.ts";
import { commonDirOf, directoryIdentity, placeOf } from "./places.ts";
import { commitAt, dropRef, newRef, pinRefs, refsBelow, snapshotRefs } from "./refs.ts";
import { type GitProject, gitProject, openRepository, type WorktreeOptions } from "./repository.ts";
import { fillSubmodules, hasSubmodules } from "./submodules/fill.ts";
import { keepSubmodules } from "./submodules/keep.ts";
import { submoduleWork } from "./submodules/restore.ts";
import { collectBranches } from "./work/collect.ts";
import { commitRest, readyToCommit } from "./work/commit-rest.ts";
import { commitOfKept, exportFiles } from "./work/kept-files.ts";
import { keptRest } from "./work/kept-rest.ts";
import {
  changesBetween,
  findRescues,
  intendRestore,
  keptSnapshots,
  readBundle,
  rescueWork,
  restoreWork,
  writeBundle,
} from "./work/kept-work.ts";
import { areLanded, isLanded } from "./work/landed.ts";
import { changesSince, mendChanges, removeDeadLocks } from "./work/since-last-turn.ts";
import { saveWork, takeSnapshot } from "./work/snapshot.ts";
import { emptyTrash, oldTrash } from "./work/trash.ts";
import { createClone } from "./worktree/create-clone.ts";
import { type Created, createLinked, type InTurn } from "./worktree/create-linked.ts";
import { ensureGitLink, writableRootsOf } from "./worktree/git-link.ts";
import { inspectWorktree, stateOf, unsettledIn } from "./worktree/inspect.ts";
import { findBranches, findWorktrees } from "./worktree/list.ts";
import { isEmptied, putAsideStandIn } from "./worktree/open-worktree.ts";
import { deleteBranchAt, deleteBranchesAt, removeWorktree } from "./worktree/remove.ts";

/** Worktrees of all kinds of the repository at `root`. Worktrees are added and removed one at a time: git itself races. */
export function gitWorktrees(root: string, options: WorktreeOptions = {}): WorktreeKeeping {
  const { repository = openRepository(root) } = options;
  const project = async (): Promise<GitProject> => gitProject(await repository(), options);
  let queue: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = queue.then(work);
    // The queue only orders; the caller handles its own failure.
    queue = turn.catch(() => undefined);
    return turn;
  };
  return {
    create: async (request) => create(await project(), request, inTurn),
    ensureLink: async (worktree) =>
      ensureGitLink(commonDirOf(root) ?? (await repository()).commonDir, worktree, {
        isEmptied: async () => isEmptied(await project(), worktree),
      }),
    writableRoots: async (worktree) => writableRootsOf(commonDirOf(root) ?? (await repository()).commonDir, worktree),
    authorVariables: ({ path }, env) => authorVariables(path, env),
    changesSince: (worktree, last) => inIt(worktree, async () => changesSince(await project(), worktree, last)),
    mendChanges: (worktree, changes) => inIt(worktree, async () => mendChanges(await project(), worktree, changes)),
    removeDeadLocks: (worktree) => inIt(worktree, async () => removeDeadLocks(await project(), worktree)),
    currentBranch: async () => currentBranch(await project()),
    inspect: (worktree) => inIt(worktree, async () => inspectWorktree(await project(), worktree)),
    snapshot: async (worktree) =>
      worktree.isThrownAway === true ? undefined : inIt(worktree, async () => takeSnapshot(await project(), worktree)),
    // Not one after the other: a removal takes git's record away by itself, in one step.
    remove: async (worktree, { deleteBranch }) =>
      removeWorktree(await project(), worktree, { deleteBranch, now: Date.now() }),
    isLanded: async (question, target) => isLanded(await project(), question, target),
    collect: (worktree) =>
      inIt(worktree, async () => {
        if (worktree.isThrownAway === true) return [];
        const over = await project();
        await collectBranches(over, worktree);
        return keepSubmodules(over, worktree);
      }),
    saveForLooking: (worktree) =>
      inIt(worktree, async () => {
        const over = await project();
        const saved = await saveWork(over, worktree, "git");
        return saved === undefined
          ? undefined
          : { ...saved, uncommitted: (await inspectWorktree(over, worktree)).dirty };
      }),
    list: async () => findWorktrees(await project()),
    branches: async () => findBranches(await project()),
    resolve: async (ref) => commitAt(await project(), ref),
    rescue: async (worktree) =>
      worktree.isThrownAway === true ? undefined : inIt(worktree, async () => rescueWork(await project(), worktree)),
    rescues: async () => findRescues(await project()),
    makeBranch: async (branch, commit) => newRef(await project(), `refs/heads/${branch}`, commit),
    state: (worktree) => inIt(worktree, async () => stateOf(await project(), worktree)),
    areLanded: async (questions, targets) => areLanded(await project(), questions, targets),
    deleteBranches: async (branches) => deleteBranchesAt(await project(), branches),
    deleteBranch: async (branch, tip) => deleteBranchAt(await project(), branch, tip),
    deleteRefs: async (refs) => {
      const over = await project();
      let gone = 0;
      for (const { ref, commit } of refs) if (await dropRef(over, ref, commit)) gone++;
      return gone;
    },
    keptFor: async (agentName) => {
      const over = await project();
      const kept = await Promise.all(
        [snapshotRefs(agentName), pinRefs(agentName)].map((below) => refsBelow(over, below)),
      );
      return kept.flat().map(({ name, commit }) => ({ ref: name, commit }));
    },
    snapshots: async () => keptSnapshots(await project()),
    changes: async (from, to) => changesBetween(await project(), from, to),
    exportFiles: async (kept, dir) => exportFiles(await project(), kept, dir),
    commitKept: async (kept, message) => commitOfKept(await project(), kept, message),
    submoduleWork: async ({ agentName, commit }) => submoduleWork(await project(), agentName, commit),
    intendRestore: async (request) => intendRestore(await project(), request),
    keptRest: async (worktree) => keptRest(await project(), worktree),
    restore: async (worktree) => restoreWork(await project(), worktree),
    unsettled: async (worktree) =>
      worktree.isThrownAway === true ? undefined : inIt(worktree, async () => unsettledIn(await project(), worktree)),
    whyNotCommitRest: async (worktree) => {
      const ready = await readyToCommit(await project(), worktree);
      return "problem" in ready ? ready : undefined;
    },
    commitRest: async (worktree, message) => commitRest(await project(), worktree, message),
    sweep: async (now) => sweepLeftovers(await project(), now),
    oldTrash: async (before) => oldTrash((await project()).trash, before),
    emptyTrash: async (names) => emptyTrash((await project()).trash, names),
    bundle: async (file, refs) => writeBundle(await project(), file, refs),
    unbundle: async (file) => readBundle(await project(), file),
  };
}

/**
 * Another process may remove a worktree while we look into it. Then a second look finds it gone. A worktree that git
 * cannot read throws a failure of its own kind, so that callers with many worktrees can go on with the others.
 */
async function inIt<T>({ path }: OwnedWorktree, look: () => Promise<T>): Promise<T> {
  try {
    return await look();
  } catch (error) {
    if (!existsSync(path)) return look();
    if (!(error instanceof GitFailed)) throw error;
    throw new Failure({ kind: "worktree-damaged", path, problem: error.message }, { cause: error });
  }
}

async function create(
  project: GitProject,
  request: SeatRequest,
  inTurn: InTurn,
): Promise<Result<Seat, WorktreeRefusal>> {
  sweepScratch(project.scratch, Date.now());
  const putAside = await putAsideStandIn(project, request);
  const created = await creators[request.kind](project, request, inTurn);
  if ("seat" in created) {
    const seat = { ...created.seat, identity: directoryIdentity(created.seat.path) };
    const seated = await withSubmodules(project, request, seat);
    return ok(putAside === undefined ? seated : { ...seated, putAside });
  }
  const { path, branch } = request;
  return no({ kind: "worktree-failed", path, branch, problem: created.problem });
}

/** After the rest: no agent works in a worktree before its seat is on record, so what died half-way is done again. */
async function withSubmodules(project: GitProject, request: SeatRequest, seat: Seat): Promise<Seat> {
  const tip = hasSubmodules(request) ? await commitAt(project, `refs/heads/${seat.branch}`) : undefined;
  const unfilled = await fillSubmodules(project, request, tip ?? seat.baseCommit);
  return unfilled.length === 0 ? seat : { ...seat, unfilled };
}

type Creator = (project: GitProject, request: SeatRequest, inTurn: InTurn) => Promise<Created>;

const creators: Readonly<Record<SeatRequest["kind"], Creator>> = {
  linked: createLinked,
  clone: (project, request, inTurn) => inTurn(() => createClone(project, request)),
  root: theRoot,
};

/** The project's own checkout is there already, at whatever it is. */
async function theRoot(project: GitProject, request: SeatRequest): Promise<Created> {
  const { root } = project.repository;
  const baseCommit = await commitAt(project, "HEAD");
  if (baseCommit === undefined) return { problem: "the project has no commit yet" };
  return { seat: { path: root, branch: currentBranch(project) ?? request.branch, baseCommit } };
}

/** Read from the file: it is asked for every new agent, and a process takes longer than everything else about it. */
function currentBranch({ repository }: GitProject): string | undefined {
  const head = placeOf(repository, { path: repository.root, kind: "root" })?.head;
  return head?.startsWith(branchHead) === true ? head.slice(branchHead.length) : undefined;
}

const branchHead = "ref: refs/heads/";
