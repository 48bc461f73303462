import { Failure, failureOf } from "../../domain/failure.ts";
import { isOpenMerge } from "../../domain/merge/entry.ts";
import { isIntegration } from "../../domain/merge/landing-branch.ts";
import type { MergeOp, PromoteCause } from "../../domain/merge/operation.ts";
import { joinCommand } from "../../domain/merge/words.ts";
import { retargetCommand } from "../../domain/run/run.ts";
import { namedIn } from "../../domain/text/long-list.ts";
import { shellWord } from "../../domain/text/shell-word.ts";
import type { CheckoutMove, MarkedPath } from "../../ports/merge-git.ts";
import { settlePromotion } from "../../usecases/merge/landing/promotion.ts";
import { proveWithNothingKept, type TipTools } from "./judge-tip.ts";
import { enqueueTarget } from "./landing-branch.ts";
import { foreignTip, tipOf } from "./landing-tip.ts";
import { strangeTarget } from "./moved-target.ts";
import { branchRef, landingRef, type MergePorts, mergeContext, pinLanding } from "./ports.ts";
import { rewrittenTarget } from "./rewritten-target.ts";

/**
 * Moves the target to the landed work, by a fast-forward only. If the target has commits of its own by now, these first
 * land on the landing branch, through the gates like any other. Returns whether anything was done.
 */
export async function promote(ports: MergePorts, op: MergeOp, tools: TipTools): Promise<boolean> {
  const { merging } = ports;
  const { landing, target } = op.request;
  if (landing === undefined || target === undefined) return end(ports, op, "it names no branches");
  // A move that was cut short comes first: until it is finished or taken back the branch and its files differ.
  const halfDone = (await merging.finishMoves(ports.reach)).find(({ ref }) => ref === branchRef(target));
  if (halfDone !== undefined && halfDone.outcome.kind !== "done") {
    return settleMove(ports, op, { target, ...halfDone }, halfDone.outcome);
  }
  const [from, to] = [await merging.commitOf(branchRef(target)), await tipOf(ports, landing)];
  if (from === undefined)
    return end(
      ports,
      op,
      `there is no branch ${target}; when it was renamed: ${retargetCommand(op.request.runId ?? null)}`,
    );
  if (to === undefined) return end(ports, op, `there is no branch ${landing}`);
  const foreign =
    (await foreignTip(ports, landing, to)) ??
    // Earlier versions let a run work for a landing branch of another one.
    (isIntegration(target) ? await foreignTip(ports, target, from) : undefined);
  if (foreign !== undefined) return end(ports, op, foreign, "foreign_tip");
  // The engine may have died after moving the target and before recording it. The intent has the old tip.
  if (await merging.contains(from, to)) return finish(ports, op, { from: op.beforeCommit ?? from, to: from });
  const runId = op.request.runId ?? null;
  const rewritten = await rewrittenTarget(ports, { landing, target, from, to, runId }, tools);
  // The landing branch has moved, or it is known now that it cannot: this promotion looks again.
  if (rewritten === "replayed") return true;
  if (rewritten !== undefined) return end(ports, op, rewritten.problem, "rewritten_target");
  const known = (await merging.baseOf(to, from)) ?? to;
  const strange = await strangeTarget(ports, { target, tip: from, known });
  if (strange !== undefined) return end(ports, op, strange.problem, "foreign_tip");
  if (known !== from) return bringIn(ports, op, { landing, target, head: from });
  const [checkout, other] = await merging.checkoutsOf(target);
  if (other !== undefined) {
    return end(ports, op, `${target} is checked out twice, at ${checkout} and at ${other}; keep one of them`);
  }
  const unusable = checkout === undefined ? undefined : await merging.checkoutProblem(checkout);
  if (unusable !== undefined) return end(ports, op, `${target} stays where it is: ${unusable}`);
  if (op.request.onlyIfClean === true && checkout !== undefined && !(await merging.isClean(checkout))) {
    return end(ports, op, `${checkout} has changes that are not committed`, "local_changes");
  }
  const work = [{ agentName: null, runId }];
  const unproved = await unlessFull(() => proveWithNothingKept(ports, tools, { commit: to, base: from, work }));
  if (unproved instanceof Failure) return end(ports, op, fullDiskWords(unproved), "disk_full");
  if (unproved !== undefined) return end(ports, op, unproved, "gate_failed");
  await ports.store.transaction((tx) =>
    tx.mergeOps.settle(op.id, { beforeCommit: from, afterCommit: to, updatedAt: ports.clock.now() }),
  );
  ports.reach("merge.before-land");
  const removedLocks: string[] = [];
  const moved = await move(ports, { target, checkout, from, to }, (path) => removedLocks.push(path));
  ports.reach("merge.after-land");
  const settling = removedLocks.length === 0 ? op : { ...op, request: { ...op.request, removedLocks } };
  return settleMove(ports, settling, { target, checkout, from, to }, moved);
}

/** Gives up a mere look when the disk is full; the operator can ask again. */
export async function unlessFull<T>(work: () => Promise<T>): Promise<T | Failure> {
  try {
    return await work();
  } catch (error) {
    const data = failureOf(error);
    if (data.kind !== "disk-full") throw error;
    return new Failure(data, { cause: error });
  }
}

export function fullDiskWords({ data }: Failure): string {
  const path = data.kind === "disk-full" ? data.path : null;
  return path === null ? "the disk is full" : `the disk that holds ${path} is full`;
}

interface Move {
  readonly target: string;
  /** Undefined when the branch is checked out nowhere. */
  readonly checkout: string | undefined;
  readonly from: string;
  readonly to: string;
}

async function move(
  { merging, reach }: MergePorts,
  { target, checkout, from, to }: Move,
  onLockRemoved: (path: string) => void,
): Promise<CheckoutMove> {
  if (checkout !== undefined) return merging.moveCheckout({ checkout, from, to, reach, onLockRemoved });
  const moved = await merging.updateRefs([{ ref: branchRef(target), from, to }], "overstory: promote", onLockRemoved);
  return moved.kind === "updated" ? { kind: "done" } : moved;
}

async function settleMove(ports: MergePorts, op: MergeOp, move: Move, moved: CheckoutMove): Promise<boolean> {
  const { target, checkout, from } = move;
  switch (moved.kind) {
    case "done":
      return finish(ports, op, move);
    case "local-changes":
      return end(ports, op, inTheWayWords(checkout ?? target, moved), "local_changes");
    case "moved":
      // The target got a commit this moment, and the next look starts over; or it may not be moved at all.
      return (await ports.merging.commitOf(branchRef(target))) === from ? end(ports, op, moved.problem) : true;
    case "locked":
      return end(ports, op, moved.problem, "locked");
    case "no-room":
      return end(ports, op, moved.problem, "disk_full");
    case "failed":
      return end(ports, op, moved.problem);
  }
}

/** With what to type, as long as the names fit a line. */
export function inTheWayWords(checkout: string, { paths, marked = [] }: LocalChanges): string {
  const [files, them] = paths.length === 1 ? ["this file", "it"] : ["these files", "them"];
  const marks = [...new Set(marked.map(({ mark }) => mark))];
  const typed = (words: string, names: readonly string[]): string =>
    `git -C ${shellWord(checkout)} ${words} -- ${names.map(shellWord).join(" ")}`;
  const seen = marks.map((mark) =>
    typed(
      unmarking[mark],
      marked.filter((one) => one.mark === mark).map(({ path }) => path),
    ),
  );
  const command = [...seen, typed("stash push --all", paths)].join(" && ");
  const hidden = marks.filter((mark) => mark !== "intent-to-add");
  const does = hidden.length === 0 ? `commit ${them}, or put ${them} away` : `show ${them} to git and put ${them} away`;
  const why = hidden.length === 0 ? "" : `marked ${hidden.join(" and ")}, so git takes no notice of changes there; `;
  const next = paths.length > 5 ? does : `${does}: ${command}`;
  return `${files} in ${checkout} would be overwritten: ${namedIn(paths)}; ${why}${next}`;
}

type LocalChanges = Pick<Extract<CheckoutMove, { kind: "local-changes" }>, "paths" | "marked">;

/** Takes a mark away, so that git puts the file away like any other. */
const unmarking: Readonly<Record<MarkedPath["mark"], string>> = {
  "skip-worktree": "update-index --no-skip-worktree",
  "assume-unchanged": "update-index --no-assume-unchanged",
  "intent-to-add": "add",
};

/** The target's own commits go through the queue; this promotion waits for them. False while nothing new is to be done. */
async function bringIn(
  ports: MergePorts,
  op: MergeOp,
  { landing, target, head }: { readonly landing: string; readonly target: string; readonly head: string },
): Promise<boolean> {
  const context = mergeContext(ports);
  // A landing or a new agent may have queued the same commits before. An entry that has ended by then is tried again.
  const earlier = (await ports.store.read((tx) => tx.merges.list({ branch: target }))).findLast(
    (entry) =>
      entry.headCommit === head &&
      entry.targetBranch === landing &&
      (entry.enqueuedAt >= op.createdAt || isOpenMerge(entry)),
  );
  if (earlier !== undefined && isOpenMerge(earlier)) return false;
  if (earlier !== undefined) {
    const { status, causeDetail } = earlier;
    if (earlier.cause === "conflict") {
      const [checkout] = await ports.merging.checkoutsOf(target);
      const files = causeDetail?.files ?? [];
      return end(ports, op, conflictWords({ landing, target, checkout, files, id: earlier.id }), "conflict");
    }
    const cause = earlier.cause === "gate_failed" ? earlier.cause : undefined;
    const why = causeDetail?.message ?? `its merge ${earlier.id} is ${status}`;
    const see = `see: ov merge show ${earlier.id}`;
    return end(ports, op, `${target} has commits of its own, and they cannot be brought in: ${why}; ${see}`, cause);
  }
  const taken = { landing, target, head, runId: op.request.runId ?? null, askedBy: op.actor };
  await ports.store.transaction((tx) => enqueueTarget(tx, context, taken));
  return true;
}

interface TargetConflict {
  readonly landing: string;
  readonly target: string;
  readonly checkout: string | undefined;
  readonly files: readonly string[];
  readonly id: number;
}

/** If the user merges the landing branch into the target by hand, the next promotion has nothing left to do. */
function conflictWords({ landing, target, checkout, files, id }: TargetConflict): string {
  const where = files.length === 0 ? "" : ` in ${namedIn(files)}`;
  const join =
    checkout === undefined
      ? `git switch ${shellWord(target)} && ${joinCommand(landing)}`
      : joinCommand(landing, checkout);
  return (
    `${target} has commits of its own that conflict with ${landing}${where}; join them yourself: ${join}, settle ` +
    `${files.length === 1 ? "this file" : "these files"}, git add and git commit; what each side did: ov merge show ${id}`
  );
}

/** Where it is when there was nothing to move is where it was. */
async function finish(ports: MergePorts, op: MergeOp, { from, to }: { from: string; to: string }): Promise<boolean> {
  await ports.store.transaction((tx) =>
    settlePromotion(tx, mergeContext(ports), op, {
      status: "done",
      request: op.request,
      beforeCommit: from,
      afterCommit: to,
      problem: null,
    }),
  );
  ports.reach("merge.after-fact");
  const { landing = "" } = op.request;
  const pinned = isIntegration(landing) ? await ports.merging.commitOf(landingRef(landing)) : undefined;
  if (pinned !== undefined && (await ports.merging.contains(to, pinned))) {
    await ports.merging.updateRefs(await pinLanding(ports, landing, null), "overstory: promoted");
  }
  return true;
}

async function end(ports: MergePorts, op: MergeOp, problem: string, cause?: PromoteCause): Promise<boolean> {
  const request = cause === undefined ? op.request : { ...op.request, cause };
  await ports.store.transaction((tx) =>
    settlePromotion(tx, mergeContext(ports), { ...op, request }, { status: "dropped", problem, request }),
  );
  return true;
}
