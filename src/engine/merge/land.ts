import { type MergeEntry, mergeRef, mergeStatuses, type Verdict } from "../../domain/merge/entry.ts";
import type { LandedAlong, LandedMember, MergeOp } from "../../domain/merge/operation.ts";
import type { Tx } from "../../ports/store.ts";
import { newOp } from "../../usecases/merge/merge-records.ts";
import { landed } from "../../usecases/merge/queue/settle-entry.ts";
import { comingAlong, isResting } from "./along.ts";
import { foreignTip } from "./landing-tip.ts";
import { learn } from "./learn.ts";
import { backupRef, branchRef, type MergePorts, mergeContext, pinLanding } from "./ports.ts";
import type { LandAnswer, Landing } from "./train/steps.ts";

export interface LandRequest {
  readonly target: string;
  readonly landing: Landing<MergeEntry>;
  readonly verdict: Verdict;
  readonly gaps: readonly string[];
  /** Ids of the gate results that speak for the tree. */
  readonly results: readonly string[];
}

/** Makes a train visible: intent, one compare-and-swap, fact. Killed in between, `recoverLandings` finds out which. */
export async function land(ports: MergePorts, request: LandRequest): Promise<LandAnswer> {
  const { merging, reach } = ports;
  const op = await intend(ports, request);
  if (op === undefined) return { kind: "moved", tip: request.landing.from };
  reach("merge.before-land");
  const { from, to } = request.landing;
  const moved = await merging.updateRefs(
    [
      { ref: op.ref, from: from.commit, to: to.commit },
      { ref: backupRef(op.id), from: null, to: from.commit },
      ...(await pinLanding(ports, request.target, to.commit)),
    ],
    `overstory: land ${op.queueIds.length === 1 ? request.landing.members[0]?.entry.branch : `${op.queueIds.length} branches`}`,
  );
  reach("merge.after-land");
  if (moved.kind === "updated") {
    await ports.store.transaction((tx) => recordLanding(tx, ports, op));
    reach("merge.after-fact");
    await learn(ports, op);
    return { kind: "landed" };
  }
  await drop(ports, op, moved.problem);
  if (moved.kind === "locked") return { kind: "refused", cause: "git_error", detail: { message: moved.problem } };
  const tip = await merging.commitOf(op.ref);
  if (tip !== undefined && tip !== from.commit) {
    const foreign = await foreignTip(ports, request.target, tip);
    if (foreign !== undefined) return { kind: "refused", cause: "foreign_tip", detail: { message: foreign } };
    return { kind: "moved", tip: { commit: tip, tree: await merging.treeOf(tip) } };
  }
  return { kind: "refused", cause: "local_changes", detail: { message: moved.problem } };
}

/** Undefined when somebody took one of the entries out of the queue meanwhile: what was checked must not land then. */
async function intend(ports: MergePorts, request: LandRequest): Promise<MergeOp | undefined> {
  const { target, landing, verdict, gaps, results } = request;
  const members = landing.members.map(
    ({ entry, tip, tier, strategy }): LandedMember => ({ id: entry.id, commit: tip.commit, tier, strategy }),
  );
  const coming = await comingAlong(ports, request);
  return ports.store.transaction(async (tx) => {
    for (const { id } of members) if (!isInWork(await tx.merges.get(id))) return undefined;
    const along: LandedAlong[] = [];
    for (const one of coming) if (isResting(await tx.merges.get(one.id))) along.push(one);
    return newOp(tx, mergeContext(ports), {
      kind: "land",
      ref: branchRef(target),
      beforeCommit: landing.from.commit,
      afterCommit: landing.to.commit,
      // Beside whoever brings them: what is taken out again is taken out from the end.
      queueIds: members.flatMap(({ id, commit }) => [
        id,
        ...along.filter((one) => one.commit === commit).map((one) => one.id),
      ]),
      request: { members, ...(along.length > 0 ? { along } : {}), verdict, gaps, results, tree: landing.to.tree },
    });
  });
}

/** Still ours to bring in. */
export const isInWork = (entry: MergeEntry | undefined): boolean =>
  entry?.status === "merging" || entry?.status === "gating";

const drop = (ports: MergePorts, op: MergeOp, problem: string): Promise<boolean> =>
  ports.store.transaction((tx) =>
    tx.mergeOps.settle(op.id, { status: "dropped", problem, updatedAt: ports.clock.now() }),
  );

/** What follows from a ref that moved, from the intent alone. Nothing when it was recorded before. */
async function recordLanding(tx: Tx, ports: MergePorts, op: MergeOp): Promise<void> {
  const context = mergeContext(ports);
  if (!(await tx.mergeOps.settle(op.id, { status: "done", updatedAt: context.now }))) return;
  const { members = [], along = [], verdict = "unverified", gaps = [], results = [], tree = "" } = op.request;
  // What was added to a branch since it was announced came in with it; whoever asks what of it has landed goes by that.
  for (const { id, head } of along) await tx.merges.change(id, mergeStatuses, { headCommit: head });
  const entries = [];
  for (const { id, commit, tier, strategy } of [...members, ...along]) {
    const entry = await tx.merges.get(id);
    if (entry !== undefined) entries.push({ entry, commit, tier, strategy, verdict });
  }
  await landed(tx, context, { opId: op.id, entries });
  for (const { entry } of entries) {
    await tx.receipts.add({
      id: ports.ids.next("receipt"),
      kind: "landing",
      subject: mergeRef(entry.id),
      baseCommit: op.beforeCommit,
      headCommit: op.afterCommit ?? "",
      tree,
      verdict,
      results,
      gaps,
      createdAt: context.now,
    });
  }
}

/** Landings whose maker died: the ref tells whether they happened. */
export async function recoverLandings(ports: MergePorts): Promise<void> {
  const { store, merging } = ports;
  const open = await store.read((tx) => tx.mergeOps.list({ kind: "land", status: "intended" }));
  for (const op of open.toReversed()) {
    const tip = await merging.commitOf(op.ref);
    // A candidate that nobody made visible may have been collected as garbage meanwhile.
    const candidate = op.afterCommit === null ? undefined : await merging.commitOf(op.afterCommit);
    const reached = tip !== undefined && candidate !== undefined && (await merging.contains(tip, candidate));
    if (reached) {
      await store.transaction((tx) => recordLanding(tx, ports, op));
      await learn(ports, op);
    } else await drop(ports, op, "whoever made it died before the branch moved");
  }
}
