import type { MergeEntry } from "../../domain/merge/entry.ts";
import type { LostLanding } from "../../domain/merge/landing-branch.ts";
import type { MergeOp } from "../../domain/merge/operation.ts";
import { promoteCommand } from "../../domain/merge/words.ts";
import type { MergeGit, ToldCommit } from "../../ports/merge-git.ts";
import { tellOperator } from "../../usecases/mail/post.ts";
import { askAboutTarget, closeTargetQuestions } from "../../usecases/merge/landing/branch-questions.ts";
import { purposeOf, restsOn } from "../../usecases/merge/landing/landing-target.ts";
import { leftBehind } from "../../usecases/merge/landing/settle-undo.ts";
import { newOp } from "../../usecases/merge/merge-records.ts";
import { judgeTip, type TipTools } from "./judge-tip.ts";
import { foreignTip, landingsLost, tipOf } from "./landing-tip.ts";
import { backupRef, branchRef, type MergePorts, mergeContext, pinLanding } from "./ports.ts";
import { takenOutOf } from "./taken-out.ts";

export interface Promoting {
  readonly landing: string;
  readonly target: string;
  /** The tips of the target and of the landing branch. */
  readonly from: string;
  readonly to: string;
  readonly runId: string | null;
}

/**
 * Why a landing branch must not be promoted: commits were taken out of the target that the landing branch still has,
 * and promoting would put them back. Asks the operator. Where the target has every change of these commits under other
 * ids, as after a rebase or a new message, nothing was taken out: the landed work is replayed without a question.
 * Undefined when the target was not rewritten.
 */
export async function rewrittenTarget(
  ports: MergePorts,
  promoting: Promoting,
  tools: TipTools,
): Promise<"replayed" | { readonly problem: string } | undefined> {
  const { store, merging } = ports;
  const { landing, target, from: head, to, runId } = promoting;
  const context = mergeContext(ports);
  const dropped = await droppedFrom(ports, { landing, target, head, tip: to });
  if (dropped === undefined) {
    await store.transaction((tx) => closeTargetQuestions(tx, context, { landing, target }));
    return undefined;
  }
  const failed = await failedReplay(ports, { landing, dropped, head, tip: to });
  if (failed === undefined && (await merging.hasChangesOf(head, dropped))) {
    const about = { landing, target, dropped, base: head, tip: to };
    const op = await store.transaction(async (tx) => {
      await closeTargetQuestions(tx, context, { landing, target });
      // A try that broke off left its operation open.
      const of = { kind: "restore", ref: branchRef(landing) } as const;
      const open = await tx.mergeOps.list({ ...of, status: "intended" });
      const same = open.find(({ request }) => request.dropped === dropped);
      return same ?? newOp(tx, context, { ...of, queueIds: [], request: about });
    });
    await leaveOut(ports, op, tools);
    return "replayed";
  }
  const subject = await merging.subjectOf(dropped);
  const lost = await landingsLost(ports, { landing, from: head, to: dropped });
  const question = { landing, target, dropped, head, subject, runId, lost, failed: failed ?? null };
  const asked = await store.transaction((tx) => askAboutTarget(tx, context, question));
  const what = `${target} no longer has ${dropped.slice(0, 10)} (${subject}), which ${landing} rests on, and promoting would put it back`;
  const tried = failed === undefined ? "" : `; 'leave out' was tried and did not work: ${failed}`;
  const decide = `ov decide ${asked} 'leave out', or: ov decide ${asked} 'bring back'`;
  return { problem: `${what}${tried}; see: ov inbox, then: ${decide}` };
}

/** Why the landed work could not be replayed without this commit, when both branches are still as they were then. */
async function failedReplay(
  { store }: MergePorts,
  { landing, dropped, head, tip }: Record<"landing" | "dropped" | "head" | "tip", string>,
): Promise<string | undefined> {
  const of = { kind: "restore", status: "dropped", ref: branchRef(landing) } as const;
  const ops = await store.read((tx) => tx.mergeOps.list(of));
  const same = ops.find(({ request }) => request.dropped === dropped && request.base === head && request.tip === tip);
  return same?.problem ?? undefined;
}

/**
 * The newest commit that the landing branch has of its target and that the target has dropped. An undo may have moved
 * the landing branch back below the last promotion. Then it is the newest commit that both have in common, because the
 * target had everything up to the promotion.
 */
export async function droppedFrom(
  {
    store,
    merging,
  }: Pick<MergePorts, "store"> & { readonly merging: Pick<MergeGit, "commitOf" | "contains" | "baseOf"> },
  { landing, target, head, tip }: Record<"landing" | "target" | "head" | "tip", string>,
): Promise<string | undefined> {
  const base = await store.read((tx) => restsOn(tx, { landing, target }));
  if (base === null || (await merging.commitOf(base)) === undefined) return undefined;
  if (await merging.contains(head, base)) return undefined;
  const shared = await merging.baseOf(tip, base);
  return shared === undefined || (await merging.contains(head, shared)) ? undefined : shared;
}

/**
 * Replays the work that landed since the dropped commit onto the target as it is now, commit by commit where that gives
 * the same files, else as one. The result must pass the gates. Moves the landing branch there, and keeps its old tip under a backup ref. Returns whether anything was done.
 */
export async function leaveOut(ports: MergePorts, op: MergeOp, tools: TipTools): Promise<boolean> {
  const { merging, store, clock } = ports;
  const { target = "", landing = "", dropped = "" } = op.request;
  const [head, tip] = [await merging.commitOf(branchRef(target)), await tipOf(ports, landing)];
  if (head === undefined || tip === undefined) {
    return giveUp(ports, op, `there is no branch ${head === undefined ? target : landing}`);
  }
  // The target is compared, not the replayed work: a file of that with the same content would look like a renamed one.
  const gone = (from: string) => landingsLost(ports, { landing, from, to: dropped });
  // The engine died after it had moved the branch.
  if (tip === op.afterCommit) return settle(ports, op, await gone(op.request.base ?? head));
  const foreign = await foreignTip(ports, landing, tip);
  if (foreign !== undefined) return giveUp(ports, op, foreign);
  if ((await merging.contains(head, dropped)) || !(await merging.contains(tip, dropped))) return settle(ports, op);
  const replayed = await replay(ports, op, { head, tip });
  const tried = { ...op, request: { ...op.request, base: head, tip } };
  if ("problem" in replayed) return giveUp(ports, tried, replayed.problem);
  const { commit } = replayed;
  if (commit !== head) {
    const logDir = ports.mergeLogDir(ports.ids.next("replay"));
    const { fault } = await judgeTip(ports, tools, { commit, base: head, work: [], logDir });
    if (fault !== undefined) return giveUp(ports, tried, `without it these gates fail: ${fault.gates.join(", ")}`);
  }
  const request = { ...op.request, base: head };
  const intent = { beforeCommit: tip, afterCommit: commit, request, updatedAt: clock.now() };
  await store.transaction((tx) => tx.mergeOps.settle(op.id, intent));
  ports.reach("merge.before-land");
  // A try that was killed may have written the backup ref, and work may have landed since.
  const kept = (await merging.commitOf(backupRef(op.id))) ?? null;
  const changes = [
    { ref: op.ref, from: tip, to: commit, known: [head] },
    { ref: backupRef(op.id), from: kept, to: tip },
    ...(await pinLanding(ports, landing, commit)),
  ];
  const moved = await merging.updateRefs(changes, `overstory: replay onto ${target}`);
  ports.reach("merge.after-land");
  if (moved.kind === "updated") {
    return settle(ports, { ...op, request }, await gone(head));
  }
  return (await merging.commitOf(op.ref)) === tip ? giveUp(ports, op, moved.problem) : true;
}

/** Commits that were taken out of the target, and that the operator decided to leave out of the landing branch. */
export async function droppedBehind({ store }: MergePorts, landing: string): Promise<readonly MergeOp["request"][]> {
  const ops = await store.read((tx) => tx.mergeOps.list({ kind: "restore", status: "done", ref: branchRef(landing) }));
  return ops.map(({ request }) => request).filter(({ dropped }) => dropped !== undefined);
}

/**
 * The part of a branch that may land. A branch that began on dropped commits would bring them back. If the target has
 * their changes under other ids, the branch's own commits are made again on `onto` and land in its place, without an
 * agent. Otherwise, or if they do not apply, the owner is told. The last dropped commit need not be among those that
 * the branch began on.
 */
export async function landableHead(
  ports: MergePorts,
  { onto, entry, dropped: all }: { onto: string; entry: MergeEntry; dropped: readonly MergeOp["request"][] },
): Promise<{ readonly head: string } | { readonly problem: string }> {
  let head = entry.headCommit;
  for (const { dropped = "", target = "" } of all) {
    // The target may have the commits again.
    if (entry.branch === target) continue;
    const base = await droppedBase(ports, { onto, entry, dropped });
    if (base === undefined) continue;
    const isAgain = await ports.merging.hasChangesOf(onto, base);
    const replayed = isAgain ? await ownCommitsOn(ports, { onto, base, entry }) : undefined;
    if (replayed !== undefined) {
      head = replayed;
      continue;
    }
    // In a checkout of something else, git would leave its user on this branch.
    const isOut = (await ports.merging.checkoutsOf(entry.branch)).length > 0;
    const rebase = `git rebase --onto ${entry.targetBranch} ${base.slice(0, 12)} ${entry.branch}`;
    const command = isOut ? rebase : `${rebase} && git switch -`;
    const what = isAgain ? `which ${target} has under another id now` : `which was taken out of ${target}`;
    return { problem: `it rests on ${base.slice(0, 10)}, ${what}; replay only its own commits: ${command}` };
  }
  return { head };
}

/**
 * Makes the commits of a branch since `base` again on `onto`. Undefined when it has none, when one of them does not apply
 * by itself, when the result is not what all of them bring together, or when work of the branch was taken out of `onto`.
 */
async function ownCommitsOn(
  ports: MergePorts,
  { onto, base, entry }: { readonly onto: string; readonly base: string; readonly entry: MergeEntry },
): Promise<string | undefined> {
  const { merging } = ports;
  if ((await takenOutOf(ports, entry.branch, onto)).length > 0) return undefined;
  const whole = await merging.mergeOver(base, onto, entry.headCommit);
  if (whole.kind !== "clean") return undefined;
  let head: string | undefined;
  for (const own of await merging.commitsSince(base, entry.headCommit, "noMerges")) {
    head = await madeAgain(ports, { onto: head ?? onto, step: own });
    if (head === undefined) return undefined;
  }
  return head !== undefined && (await merging.treeOf(head)) === whole.tree ? head : undefined;
}

/** The newest of the dropped commits that a branch was begun on; undefined when there is none, or `onto` has it. */
async function droppedBase(
  { merging, store }: MergePorts,
  { onto, entry, dropped }: { onto: string; entry: MergeEntry; dropped: string },
): Promise<string | undefined> {
  if ((await merging.commitOf(dropped)) === undefined) return undefined;
  const isLost = async (base: string | undefined): Promise<boolean> =>
    base !== undefined && !(await merging.contains(onto, base));
  const base = await merging.baseOf(entry.headCommit, dropped);
  if (!(await isLost(base))) return undefined;
  // If the branch itself was dropped, its own commits may land again; the commits it began on may not.
  const landings = (await store.read((tx) => tx.merges.list({ branch: entry.branch }))).toSorted((a, b) => a.id - b.id);
  for (const { resultCommit } of landings) {
    if (resultCommit === null || (await merging.commitOf(resultCommit)) === undefined) continue;
    if (!(await merging.contains(dropped, resultCommit))) continue;
    const before = await merging.commitOf(`${resultCommit}^1`);
    const begun = before === undefined ? undefined : await merging.baseOf(entry.headCommit, before);
    return (await isLost(begun)) ? begun : undefined;
  }
  return base;
}

async function replay(
  ports: MergePorts,
  { request }: MergeOp,
  { head, tip }: { readonly head: string; readonly tip: string },
): Promise<{ readonly commit: string } | { readonly problem: string }> {
  const { merging } = ports;
  const { target = "", landing = "", dropped = "" } = request;
  const merged = await merging.mergeOver(dropped, head, tip);
  if (merged.kind === "conflicts") {
    const files = merged.conflicts.map(({ path }) => path).join(", ");
    return { problem: `what landed and what was changed in ${target} touch the same lines: ${files}` };
  }
  if (merged.kind !== "clean") return { problem: `it cannot be replayed: ${merged.kind}` };
  if (merged.tree === (await merging.treeOf(head))) return { commit: head };
  const steps = await merging.commitsSince(dropped, tip, "mainLine");
  const kept = await oneByOne(ports, { steps, dropped, head });
  if (kept !== undefined && (await merging.treeOf(kept)) === merged.tree) return { commit: kept };
  const subjects = steps.map(({ message }) => `- ${message.split("\n")[0]}`).join("\n");
  const why = `What landed on ${landing} after ${dropped}, without the commits that were taken out of ${target}:`;
  const message = `Replay ${landing} onto ${target}\n\n${why}\n\n${subjects}\n`;
  return { commit: await merging.commit({ tree: merged.tree, parents: [head], message }) };
}

/**
 * Makes each landing again on the target, with its message and its author, and the commits of its branch beside it. The
 * last commit; undefined when one of the landings does not apply by itself.
 */
async function oneByOne(
  ports: MergePorts,
  { steps, dropped, head }: { readonly steps: readonly ToldCommit[]; readonly dropped: string; readonly head: string },
): Promise<string | undefined> {
  const { merging } = ports;
  let onto = head;
  for (const step of steps) {
    const [before = dropped, brought] = step.parents;
    // The target's own commits are on the target already.
    const isTargets = async (into: string): Promise<boolean> =>
      brought !== undefined && merging.contains(into, brought);
    if ((await isTargets(dropped)) || (await isTargets(head))) continue;
    let side: string | undefined = onto;
    for (const own of brought === undefined ? [] : await merging.commitsSince(before, brought, "noMerges")) {
      side = side === undefined ? undefined : await madeAgain(ports, { onto: side, step: own });
    }
    const next = await madeAgain(ports, { onto, step, side });
    if (next === undefined) return undefined;
    onto = next;
  }
  return onto;
}

interface Again {
  readonly onto: string;
  readonly step: ToldCommit;
  /** The commits of its branch, made again beside it. */
  readonly side?: string | undefined;
}

/**
 * Makes a commit again on `onto`, with its message and its author. Answers `onto` itself where that has the changes already,
 * undefined where they do not apply.
 */
async function madeAgain({ merging }: MergePorts, { onto, step, side = onto }: Again): Promise<string | undefined> {
  const [before] = step.parents;
  const merged = before === undefined ? undefined : await merging.mergeOver(before, onto, step.commit);
  if (merged?.kind !== "clean") return undefined;
  if (merged.tree === (await merging.treeOf(onto))) return onto;
  const parents = side === onto ? [onto] : [onto, side];
  return merging.commit({ tree: merged.tree, parents, message: step.message, author: step.author });
}

async function settle(ports: MergePorts, op: MergeOp, lost: readonly LostLanding[] = []): Promise<boolean> {
  const context = mergeContext(ports);
  const change = { status: "done", request: op.request, updatedAt: context.now } as const;
  await ports.store.transaction(async (tx) => {
    if (await tx.mergeOps.settle(op.id, change)) await leftBehind(tx, context, op, lost);
  });
  return true;
}

/** Ends the operation; the next promotion asks the operator again. */
async function giveUp(ports: MergePorts, op: MergeOp, problem: string): Promise<boolean> {
  const context = mergeContext(ports);
  const { target = "", landing = "", dropped = "" } = op.request;
  await ports.store.transaction(async (tx) => {
    const change = { status: "dropped", problem, request: op.request, updatedAt: context.now } as const;
    if (!(await tx.mergeOps.settle(op.id, change))) return;
    // No person asked for it: the promotion that tried it asks the operator now, and says why.
    if (op.actor === context.caller.name) return;
    const purpose = await purposeOf(tx, context, landing);
    await tellOperator(tx, context, {
      runId: null,
      subject: `not left out: ${dropped.slice(0, 10)}`,
      body: `${landing} could not be replayed onto ${target} without ${dropped.slice(0, 10)}: ${problem}\nNothing was changed. To be asked again, with the ways out: ${promoteCommand({ runId: purpose?.run?.id ?? null, target })}`,
      type: "error",
      priority: "normal",
    });
  });
  return true;
}
