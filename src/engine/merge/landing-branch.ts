import { engineCaller } from "../../domain/caller/caller.ts";
import { isOpenMerge, type MergeEntry } from "../../domain/merge/entry.ts";
import { isIntegration, landingBranchFor } from "../../domain/merge/landing-branch.ts";
import type { Run } from "../../domain/run/run.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Ids } from "../../ports/ids.ts";
import type { MergeGit } from "../../ports/merge-git.ts";
import type { Store, Tx } from "../../ports/store.ts";
import type { Worktrees } from "../../ports/worktrees.ts";
import {
  earlierLandings,
  formerLandingOf,
  landingPlace,
  leftTips,
  purposeOf,
} from "../../usecases/merge/landing/landing-target.ts";
import { newOp } from "../../usecases/merge/merge-records.ts";
import { enqueueBranch, moveEntry } from "../../usecases/merge/queue/enqueue.ts";
import type { Context } from "../../usecases/usecase.ts";
import { foreignTip, type TipPorts, tipOf } from "./landing-tip.ts";
import { strangeTarget } from "./moved-target.ts";
import { type MergePorts, mergeContext } from "./ports.ts";
import { droppedFrom } from "./rewritten-target.ts";

export interface LandingPorts {
  readonly store: Store;
  readonly ids: Ids;
  readonly clock: Pick<Clock, "now">;
  readonly merging: Pick<MergeGit, "commitOf" | "contains" | "checkoutsOf" | "updateRefs">;
  readonly worktrees: Pick<Worktrees, "currentBranch">;
  readonly settings: { readonly canonicalBranch: string };
}

type CatchUpPorts = LandingPorts & TipPorts & { readonly merging: Pick<MergeGit, "baseOf"> };

/** How many earlier runs may have left work that waits for being taken over. */
const remembered = 200;

/**
 * The branch that receives the work of a run. Decided when the run's first agent needs a place to start from, and again
 * when the branch gets checked out. A repetition after a crash finds the branch of the first attempt. Undefined when
 * the project has no commit to start from.
 */
export async function ensureLandingBranch(ports: LandingPorts, run: Run): Promise<string | undefined> {
  if (run.landingBranch !== null && run.landingBranch !== run.targetBranch) return run.landingBranch;
  const target = run.targetBranch ?? (await targetHere(ports));
  const targetCheckedOut = (await ports.merging.checkoutsOf(target)).length > 0;
  if (run.landingBranch !== null && !targetCheckedOut) return run.landingBranch;
  const tip = await ports.merging.commitOf(`refs/heads/${target}`);
  if (tip === undefined) return undefined;
  const earlier = await waitingBranches(ports, target, tip);
  const landingBranch = landingBranchFor({ target, runId: run.id, targetCheckedOut, earlier });
  const begins = landingBranch === target ? tip : await standAt(ports, landingBranch, { target, tip });
  await ports.store.transaction(async (tx) => {
    await tx.runs.setBranches(run.id, { targetBranch: target, landingBranch });
    await tx.runs.setStart(run.id, begins);
  });
  return landingBranch;
}

/** The branch of the project's checkout, unless it is a landing branch of ours: that one is for a target itself. */
async function targetHere({ worktrees, settings }: LandingPorts): Promise<string> {
  const here = await worktrees.currentBranch();
  return here === undefined || isIntegration(here) ? settings.canonicalBranch : here;
}

/**
 * Where a branch that was queued for `target` lands now: elsewhere when the target was checked out since. The same
 * answer again until that checkout leaves it.
 */
export async function landingInstead(ports: LandingPorts, target: string, runId: string | null): Promise<string> {
  if (isIntegration(target)) return target;
  const { merging } = ports;
  const [checkouts, tip] = await Promise.all([merging.checkoutsOf(target), merging.commitOf(`refs/heads/${target}`)]);
  if (checkouts.length === 0) return target;
  const run = runId === null ? undefined : await ports.store.read((tx) => tx.runs.get(runId));
  if (run !== undefined && (run.targetBranch ?? target) === target) {
    return (await ensureLandingBranch(ports, { ...run, targetBranch: target })) ?? target;
  }
  if (tip === undefined) return target;
  const former = await ports.store.read((tx) => formerLandingOf(tx, target));
  const earlier = await earlierLandings(ports.merging, former === undefined ? [] : [former], tip);
  const landing = landingBranchFor({ target, runId: null, targetCheckedOut: true, earlier });
  await standAt(ports, landing, { target, tip });
  return landing;
}

/**
 * Sees to it that a landing branch of ours has its target's newest commits before work begins or lands there. One whose
 * work the target has moves to the target's tip. One with work of its own takes the target in through the queue, by a
 * merge that must pass the gates; each tip of the target is tried once. A target that an agent may have moved is not
 * taken in before the operator's word.
 *
 * Answers the open entry by which the target's commits come. Undefined when the landing branch has everything of its
 * target, or cannot take it in.
 */
export async function catchUp(
  ports: CatchUpPorts,
  landing: string,
  runId: string | null,
): Promise<MergeEntry | undefined> {
  const { store, merging } = ports;
  const purpose = await store.read((tx) => purposeOf(tx, { settings: ports.rules }, landing));
  const target = purpose?.target ?? "";
  const tip = purpose === null ? undefined : await merging.commitOf(`refs/heads/${target}`);
  const at = tip === undefined ? undefined : await tipOf(ports, landing);
  if (tip === undefined || at === undefined) return undefined;
  const known = at === tip ? tip : ((await merging.baseOf(at, tip)) ?? at);
  if ((await strangeTarget(ports, { target, tip, known })) !== undefined || known === tip) return undefined;
  if (await merging.contains(tip, at)) {
    await standAt(ports, landing, { target, tip });
    return undefined;
  }
  const entries = await store.read((tx) => tx.merges.list({ branch: target }));
  const tried = entries.findLast((entry) => entry.targetBranch === landing && entry.headCommit === tip);
  if (tried !== undefined && tried.status !== "merged") return isOpenMerge(tried) ? tried : undefined;
  // A merge must not bring back work that was taken out of the target, and a foreign tip takes nothing in.
  const isRewritten = (await droppedFrom(ports, { landing, target, head: tip, tip: at })) !== undefined;
  if (isRewritten || (await foreignTip(ports, landing, at)) !== undefined) return undefined;
  const taken = { landing, target, head: tip, runId, askedBy: engineCaller.name };
  return store.transaction((tx) => enqueueTarget(tx, mergeContext(ports), taken));
}

export interface TakenIn {
  readonly landing: string;
  readonly target: string;
  /** The tip of the target. */
  readonly head: string;
  readonly runId: string | null;
  readonly askedBy: string;
}

/** Queues the target's own commits for the landing branch. They are the operator's, and need no further approval. */
export async function enqueueTarget(tx: Tx, context: Context, taken: TakenIn): Promise<MergeEntry> {
  const { entry } = await enqueueBranch(tx, context, {
    branch: taken.target,
    headCommit: taken.head,
    targetBranch: taken.landing,
    taskId: null,
    agentName: null,
    runId: taken.runId,
    filesModified: [],
    priority: 0,
    source: "engine",
    enqueuedBy: taken.askedBy,
    asker: "operator",
  });
  return entry;
}

/** Landing branches that earlier runs left for the same target. */
async function waitingBranches(ports: LandingPorts, target: string, tip: string) {
  const runs = await ports.store.read((tx) => tx.runs.list(remembered));
  const names = runs.filter((run) => run.targetBranch === target).map((run) => run.landingBranch ?? "");
  return earlierLandings(ports.merging, new Set(names.filter(isIntegration)), tip);
}

/** Makes the landing branch, or moves it, so that it stands where it should. Returns its commit. */
async function standAt(
  ports: LandingPorts,
  branch: string,
  { target, tip }: { readonly target: string; readonly tip: string },
): Promise<string> {
  const { from, at: place } = await landingPlace(ports.merging, branch, tip);
  const at = await withLanded(ports, branch, { from, place, target: tip });
  if (from === at) return at;
  const ref = `refs/heads/${branch}`;
  // A landing branch that may not be moved now, because it is checked out, stays; what lands on it meets the same.
  const moved = await ports.merging.updateRefs([{ ref, from, to: at, known: [tip] }], "overstory: landing branch");
  if (moved.kind !== "updated") return from ?? at;
  // On record, so that a tip that another program made is told from this one. Without it, it is still on the target.
  const context = { caller: engineCaller, ids: ports.ids, now: ports.clock.now() };
  await ports.store.transaction(async (tx) => {
    const request = at === tip ? { target, base: tip } : {};
    const about = { kind: "begin", ref, queueIds: [], request } as const;
    const op = await newOp(tx, context, { ...about, beforeCommit: from, afterCommit: at });
    await tx.mergeOps.settle(op.id, { status: "done", updatedAt: context.now });
  });
  return at;
}

interface Move {
  readonly from: string | null;
  readonly place: string;
  readonly target: string;
}

/**
 * Does not move a branch on that lacks landed work. A branch that was moved back stays, and the operator is asked. A
 * branch that was deleted is made again with all landed work.
 */
async function withLanded({ store, merging }: LandingPorts, branch: string, { from, place, target }: Move) {
  const { last } = await store.read((tx) => leftTips(tx, branch));
  if (last === null || from === last) return place;
  const landed = await merging.commitOf(last);
  if (landed === undefined || (await merging.contains(target, landed))) return place;
  return from ?? landed;
}

/** Entries whose target was checked out meanwhile go to a landing branch instead: no checkout is merged into. */
export async function retarget(ports: MergePorts, entries: readonly MergeEntry[]): Promise<readonly MergeEntry[]> {
  const landings = new Map<string, string>();
  const keyOf = ({ targetBranch, runId }: MergeEntry): string => JSON.stringify([targetBranch, runId]);
  for (const entry of entries) {
    const key = keyOf(entry);
    if (!landings.has(key)) landings.set(key, await landingInstead(ports, entry.targetBranch, entry.runId));
  }
  const landingOf = (entry: MergeEntry): string => landings.get(keyOf(entry)) ?? entry.targetBranch;
  if (entries.every((entry) => landingOf(entry) === entry.targetBranch)) return stillOpen(ports, entries);
  const placed = await ports.store.transaction(async (tx) => {
    const found: MergeEntry[] = [];
    for (const entry of entries) {
      const landing = landingOf(entry);
      const here = landing === entry.targetBranch ? entry : await moveEntry(tx, mergeContext(ports), entry, landing);
      if (here !== undefined) found.push(here);
    }
    return found;
  });
  return stillOpen(ports, placed);
}

/** A placed entry may have given its place to a later entry. */
async function stillOpen({ store }: MergePorts, placed: readonly MergeEntry[]): Promise<readonly MergeEntry[]> {
  const now = await store.read((tx) => tx.merges.list({ statuses: ["pending", "blocked"] }));
  const open = new Set(now.map(({ id }) => id));
  return placed.filter(({ id }) => open.has(id));
}
