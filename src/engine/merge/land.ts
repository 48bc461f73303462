import { type Agent, isSubmitted, newestPerName } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import {
  bringsTarget,
  type MergeEntry,
  type MergeStatus,
  mergeRef,
  mergeStatuses,
  type Verdict,
} from "../../domain/merge/entry.ts";
import type { JoinedBranch, LandedAlong, LandedMember, MergeOp } from "../../domain/merge/operation.ts";
import type { Tx } from "../../ports/store.ts";
import { ownerOfBranch } from "../../usecases/merge/branch-owner.ts";
import { targetOf } from "../../usecases/merge/landing/landing-target.ts";
import { newOp } from "../../usecases/merge/merge-records.ts";
import { freshEntry } from "../../usecases/merge/queue/enqueue.ts";
import { landed } from "../../usecases/merge/queue/settle-entry.ts";
import type { Context } from "../../usecases/usecase.ts";
import { foreignTip } from "./landing-tip.ts";
import { learn } from "./learn.ts";
import { lostFiles } from "./lost-content.ts";
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
  const { from, to, members } = request.landing;
  const known = members.flatMap(({ entry }) => (bringsTarget(entry) ? [entry.headCommit] : []));
  const moved = await merging.updateRefs(
    [
      { ref: op.ref, from: from.commit, to: to.commit, known },
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

/** Undefined when an entry was taken out of the queue meanwhile: the checked tree must not land then. */
async function intend(ports: MergePorts, request: LandRequest): Promise<MergeOp | undefined> {
  const { target, landing, verdict, gaps, results } = request;
  const members = landing.members.map(
    ({ entry, tip, tier, strategy }): LandedMember => ({ id: entry.id, commit: tip.commit, tier, strategy }),
  );
  const coming = await comingAlong(ports, request);
  const joined = await joinedBy(ports, request);
  return ports.store.transaction(async (tx) => {
    for (const { id } of members) if (!isInWork(await tx.merges.get(id))) return undefined;
    const along: LandedAlong[] = [];
    for (const one of coming.along) if (isResting(await tx.merges.get(one.id))) along.push(one);
    return newOp(tx, mergeContext(ports), {
      kind: "land",
      ref: branchRef(target),
      beforeCommit: landing.from.commit,
      afterCommit: landing.to.commit,
      // Members are listed beside the branch that brings them, because an undo removes them from the end.
      queueIds: members.flatMap(({ id, commit }) => [
        id,
        ...along.filter((one) => one.commit === commit).map((one) => one.id),
      ]),
      request: {
        members,
        ...(along.length > 0 ? { along } : {}),
        ...(joined.length > 0 ? { joined } : {}),
        ...(coming.leftOut.length > 0 ? { leftOut: coming.leftOut } : {}),
        verdict,
        gaps,
        results,
        tree: landing.to.tree,
      },
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
  if (!(await tx.mergeOps.settle(op.id, { updatedAt: context.now }))) return;
  const { members = [], verdict = "unverified", gaps = [], results = [], tree = "" } = op.request;
  const joined = await placesOf(tx, context, op);
  const along = [...(op.request.along ?? []), ...joined];
  const queueIds = op.queueIds.flatMap((id) => {
    const brought = members.find((member) => member.id === id)?.commit;
    return [id, ...joined.filter(({ commit }) => commit === brought).map((one) => one.id)];
  });
  const request = joined.length === 0 ? op.request : { ...op.request, along };
  await tx.mergeOps.settle(op.id, { status: "done", queueIds, request, updatedAt: context.now });
  // Entries whose changes were left out are taken up once more. The operator is asked about them then.
  const again = { status: "pending", cause: null, causeDetail: null, notBefore: 0, updatedAt: context.now } as const;
  for (const { id, head } of op.request.leftOut ?? [])
    await tx.merges.change(id, ["conflict", "failed"], { ...again, headCommit: head });
  // Commits that were added to a branch since it was announced came in with it; a later question what of it has landed
  // goes by that.
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
    // A candidate that was never made visible may have been collected as garbage meanwhile.
    const candidate = op.afterCommit === null ? undefined : await merging.commitOf(op.afterCommit);
    const reached = tip !== undefined && candidate !== undefined && (await merging.contains(tip, candidate));
    if (reached) {
      await store.transaction((tx) => recordLanding(tx, ports, op));
      await learn(ports, op);
    } else await drop(ports, op, "whoever made it died before the branch moved");
  }
}

interface AlongRequest {
  readonly target: string;
  readonly landing: Landing<MergeEntry>;
}

/** No process works on entries of these states. Whatever kept them from landing, their commit is in the branch now. */
const resting = ["pending", "blocked", "conflict", "failed", "reverted"] as const satisfies readonly MergeStatus[];

const isResting = (entry: MergeEntry | undefined): boolean => resting.some((status) => status === entry?.status);

/**
 * Entries whose whole branch comes in with this landing, though it does not name them: those of the branches that a
 * merger joined, or on which others built. What the target held before is not brought by it, as it may have been landed
 * and taken back.
 */
async function comingAlong(ports: MergePorts, { target, landing }: AlongRequest): Promise<ComingAlong> {
  const { store, merging } = ports;
  const others = await store.read((tx) => restingOn(tx, target));
  const found: LandedAlong[] = [];
  const leftOut: Pick<LandedAlong, "id" | "head">[] = [];
  if (others.length === 0) return { along: found, leftOut };
  const heads = await headsBrought(merging, landing);
  for (const entry of others) {
    const head = heads.get(branchRef(entry.branch));
    const bringer = head === undefined ? undefined : await bringerOf(ports, landing, head);
    if (head === undefined || bringer === undefined) continue;
    if (awaitsOperator(entry, bringer.entry) || !(await bringsAnnounced(ports, landing, entry))) continue;
    const joined = { before: landing.from.commit, after: bringer.tip.commit, head };
    if ((await lostFiles(merging, joined)).length > 0) {
      leftOut.push({ id: entry.id, head });
      continue;
    }
    found.push({
      id: entry.id,
      head,
      commit: bringer.tip.commit,
      tier: entry.status === "conflict" ? "ai-resolve" : bringer.tier,
      strategy: `with ${bringer.entry.branch}`,
    });
  }
  return { along: found, leftOut };
}

interface ComingAlong {
  readonly along: readonly LandedAlong[];
  /** Entries whose commits come in without all of their changes. */
  readonly leftOut: readonly Pick<LandedAlong, "id" | "head">[];
}

/**
 * Branches that come in with this landing and were never handed over, because a merger joined them before. Only branches
 * count that were finished for the same parent, which handed over the branch that brings them.
 */
async function joinedBy(ports: MergePorts, { target, landing }: AlongRequest): Promise<JoinedBranch[]> {
  const { store, merging } = ports;
  const waiting = await store.read((tx) => finishedBeside(tx, ports, target, landing));
  if (waiting.length === 0) return [];
  const heads = await headsBrought(merging, landing);
  const found: JoinedBranch[] = [];
  for (const { branch, parentName } of waiting) {
    const head = branch === null ? undefined : heads.get(branchRef(branch));
    const bringer = head === undefined ? undefined : await bringerOf(ports, landing, head);
    if (branch === null || head === undefined || bringer === undefined) continue;
    const owner = await store.read((tx) => ownerOfBranch(tx, bringer.entry.branch));
    if (owner?.parentName !== parentName) continue;
    // Its entry, when the branch is handed over, asks the operator about the changes that are missing.
    if ((await lostFiles(merging, { before: landing.from.commit, after: bringer.tip.commit, head })).length > 0)
      continue;
    const strategy = `with ${bringer.entry.branch}`;
    found.push({ branch, head, commit: bringer.tip.commit, tier: bringer.tier, strategy });
  }
  return found;
}

/** The commit of each ref that comes in with this landing. */
async function headsBrought(
  merging: MergePorts["merging"],
  { from, to }: Landing<MergeEntry>,
): Promise<ReadonlyMap<string, string>> {
  return new Map((await merging.refsBetween(from.commit, to.commit)).map(({ ref, commit }) => [ref, commit]));
}

/** Agents that have finished beside the owners of these branches, and whose own branches are not in the queue. */
async function finishedBeside(
  tx: Tx,
  ports: MergePorts,
  target: string,
  { members }: Landing<MergeEntry>,
): Promise<readonly Agent[]> {
  const found = new Map<string, Agent>();
  for (const { entry } of members) {
    const owner = await ownerOfBranch(tx, entry.branch);
    if (owner === undefined || (await targetOf(tx, mergeContext(ports), owner.runId)) !== target) continue;
    for (const agent of newestPerName(await tx.agents.list({ parentName: owner.parentName, runId: owner.runId }))) {
      if (await isUnqueued(tx, agent)) found.set(agent.id, agent);
    }
  }
  return [...found.values()];
}

async function isUnqueued(tx: Tx, agent: Agent): Promise<boolean> {
  if (agent.branch === null || !isSubmitted(agent) || !isIn("implementation", agent.capability)) return false;
  return (await tx.merges.list({ branch: agent.branch, limit: 1 })).length === 0;
}

/** Makes an entry for each branch that was joined, unless it was handed over meanwhile: that entry is found landed. */
async function placesOf(tx: Tx, context: Context, op: MergeOp): Promise<LandedAlong[]> {
  const places: LandedAlong[] = [];
  for (const { branch, head, ...how } of op.request.joined ?? []) {
    const owner = await ownerOfBranch(tx, branch);
    if (owner === undefined || !(await isUnqueued(tx, owner))) continue;
    const { runId, taskId, name: agentName } = owner;
    const targetBranch = op.ref.slice(branchRef("").length);
    const about = { branch, headCommit: head, targetBranch, taskId, agentName, runId, filesModified: [] };
    const asked = { ...about, source: "cli", enqueuedBy: context.caller.name, asker: "parent" } as const;
    const entry = await freshEntry(tx, context, asked);
    places.push({ id: await tx.merges.insert({ ...entry, dependsOn: [] }), head, ...how });
  }
  return places;
}

/** A question to the operator, or a refusal, is not answered by the landing of another branch. */
const awaitsOperator = ({ approval }: MergeEntry, bringer: MergeEntry): boolean =>
  (approval === "waiting" || approval === "denied") && bringer.approval !== "operator";

/** Does the landing hold the commit that was announced? Not if the owner has moved the branch back since. */
const bringsAnnounced = async ({ merging }: MergePorts, { to }: Landing<MergeEntry>, { headCommit }: MergeEntry) =>
  headCommit === "" || (await merging.contains(to.commit, headCommit));

/** An entry that a later one of its branch followed is history. */
async function restingOn(tx: Tx, target: string): Promise<readonly MergeEntry[]> {
  const last: MergeEntry[] = [];
  for (const entry of await tx.merges.list({ statuses: resting })) {
    if (entry.targetBranch !== target) continue;
    const [newest] = await tx.merges.list({ branch: entry.branch, limit: 1 });
    if (newest?.id === entry.id) last.push(entry);
  }
  return last;
}

/** The first member that holds it. */
async function bringerOf({ merging }: MergePorts, { members }: Landing<MergeEntry>, head: string) {
  for (const member of members) if (await merging.contains(member.tip.commit, head)) return member;
  return undefined;
}
