import { Failure, lastingProblem } from "../../domain/failure.ts";
import type { MergeEntry } from "../../domain/merge/entry.ts";
import { type MergeOp, type PromoteCause, wasLater } from "../../domain/merge/operation.ts";
import { promoteCommand } from "../../domain/merge/words.ts";
import { namedIn } from "../../domain/text/long-list.ts";
import { shellWord } from "../../domain/text/shell-word.ts";
import type { CheckoutMove } from "../../ports/merge-git.ts";
import { findUndo } from "../../usecases/merge/landing/request-undo.ts";
import { undone } from "../../usecases/merge/landing/settle-undo.ts";
import { judgeTip, type TipTools } from "./judge-tip.ts";
import { foreignTip, tipOf } from "./landing-tip.ts";
import { unlearn } from "./learn.ts";
import { backupRef, backupRefs, branchRef, landingRefs, type MergePorts, mergeContext, pinLanding } from "./ports.ts";
import { fullDiskWords, inTheWayWords, unlessFull } from "./promote.ts";

/**
 * Takes back what an operation brought. While nothing came after it and no branch builds on it the branch simply goes
 * back to where it was; else what each branch brought is taken out on top, and that must pass the gates like anything
 * that lands. What cannot be taken out by itself is refused, and the branch stays as it was. Answers whether anything
 * was done.
 */
export async function undo(ports: MergePorts, op: MergeOp, tools: TipTools): Promise<boolean> {
  try {
    return await takeBack(ports, op, tools);
  } catch (error) {
    const lasting = lastingProblem(error);
    if (lasting === undefined || tools.stop.aborted) throw error;
    return await drop(ports, op, lasting);
  }
}

async function takeBack(ports: MergePorts, op: MergeOp, tools: TipTools): Promise<boolean> {
  // A checkout that was left half-moved, by us or by a promotion, comes first.
  await ports.merging.finishMoves(ports.reach);
  const branch = op.ref.replace(/^refs\/heads\//, "");
  const tip = await tipOf(ports, branch);
  if (tip === undefined) return drop(ports, op, `there is no ${op.ref}`);
  if (await hasMoved(ports, op, tip)) return record(ports, op);
  const foreign = await foreignTip(ports, branch, tip);
  if (foreign !== undefined) return drop(ports, op, foreign);
  const target = op.undoes === null ? undefined : await ports.store.read((tx) => tx.mergeOps.get(op.undoes ?? ""));
  if (target === undefined) return drop(ports, op, "what it should take back is not on record");
  const plan = await unlessFull(() => planned(ports, op, tools, { target, tip }));
  if (plan instanceof Failure) return drop(ports, op, fullDiskWords(plan), "disk_full");
  if (typeof plan === "string") return drop(ports, op, plan);
  return move(ports, op, tip, plan);
}

/** The proved commit that the branch moves to, or the reason why it does not move. */
async function planned(
  ports: MergePorts,
  op: MergeOp,
  tools: TipTools,
  { target, tip }: { readonly target: MergeOp; readonly tip: string },
): Promise<Plan | string> {
  const plan = (await mayGoBack(ports, op, target, tip)) ? back(target) : await takeOut(ports, op, target, tip);
  if (typeof plan === "string" || plan.commits.length === 0) return plan;
  return (await failedGates(ports, tools, { ...plan, base: tip, queueIds: op.queueIds })) ?? plan;
}

interface Plan {
  /** Where the branch goes. */
  readonly to: string;
  /** One for each entry of the undo, in their order; none when the branch goes back. */
  readonly commits: readonly string[];
}

/**
 * May the branch simply move back? Not if another branch holds the undone commits too, such as a branch begun since or
 * the target of a promotion: they would come back with it. Only a commit on top records that they are not wanted.
 */
async function mayGoBack({ merging }: MergePorts, op: MergeOp, target: MergeOp, tip: string): Promise<boolean> {
  const isWhole = op.queueIds.length === target.queueIds.length;
  if (!isWhole || target.afterCommit !== tip) return false;
  // The commits of a promotion came from the landing branch, and stay there.
  if (target.kind === "promote") return (await remotesWith(merging, tip)).length === 0;
  const isForward = target.beforeCommit !== null && (await merging.contains(target.beforeCommit, tip));
  if (isForward) return true;
  const holders = await merging.refsWith(tip);
  return holders.every((ref) => ref === op.ref || ref.startsWith(backupRefs) || ref.startsWith(landingRefs));
}

/** Remote branches that have a commit, as far as this repository knows: others may have built on it. */
const remotesWith = async (merging: MergePorts["merging"], commit: string): Promise<readonly string[]> =>
  (await merging.refsWith(commit))
    .filter((ref) => ref.startsWith(remoteRefs))
    .map((ref) => ref.slice(remoteRefs.length));

const remoteRefs = "refs/remotes/";

const back = ({ beforeCommit }: MergeOp): Plan | string =>
  beforeCommit === null ? "where the branch was before is not on record" : { to: beforeCommit, commits: [] };

/** The newest first: what came later may rest on what came earlier. */
async function takeOut(ports: MergePorts, op: MergeOp, target: MergeOp, tip: string): Promise<Plan | string> {
  const { merging, store } = ports;
  const commits = new Map<number, string>();
  /** By the commit that brought it, which several have in common where one branch holds the others. */
  const out = new Map<string, string>();
  let onto = tip;
  const newestFirst = target.queueIds.filter((id) => op.queueIds.includes(id)).toReversed();
  if (newestFirst.length === 0) return movedOnWords(ports, target, tip);
  for (const id of newestFirst) {
    const entry = await store.read((tx) => tx.merges.get(id));
    const brought =
      target.kind === "undo" ? target.request.commits?.[target.queueIds.indexOf(id)] : entry?.resultCommit;
    if (entry === undefined || brought == null) return `what #${id} brought is not on record`;
    const same = out.get(brought);
    if (same !== undefined) {
      commits.set(id, same);
      continue;
    }
    const again = target.kind === "undo" ? await landedAgain(ports, target, entry) : undefined;
    if (again !== undefined) return again;
    const other = await broughtWith(ports, op, target, brought);
    if (other !== undefined) return `${entry.branch} brought nothing of its own, it came with ${other}`;
    const reverted = await merging.revert(brought, onto);
    if (reverted.kind === "conflicts") {
      const files = reverted.conflicts.map(({ path }) => path);
      const what = `what came later touches the same lines as ${entry.branch}: ${namedIn(files)}`;
      return `${what}; ${await insteadWords(ports, op, target, files)}`;
    }
    if (reverted.kind !== "clean") return `${entry.branch} cannot be taken out: ${reverted.kind}`;
    if (reverted.tree === (await merging.treeOf(onto)) && (await hasChanges(ports, brought))) {
      return noChangeWords(entry, target);
    }
    onto = await merging.commit({ tree: reverted.tree, parents: [onto], message: messageOf(entry, brought, target) });
    commits.set(id, onto);
    out.set(brought, onto);
  }
  return { to: onto, commits: op.queueIds.map((id) => commits.get(id) ?? onto) };
}

/** Why an undo is not taken back: the branch landed again since, and that brought everything back. */
async function landedAgain(
  { store }: MergePorts,
  op: MergeOp,
  { branch, targetBranch }: MergeEntry,
): Promise<string | undefined> {
  const newer = await store.read(async (tx) => {
    const merged = (await tx.merges.list({ branch, statuses: ["merged"] })).map(({ id }) => id);
    const landings = await tx.mergeOps.list({ kind: "land", status: "done", ref: op.ref });
    return landings
      .filter((one) => wasLater(one, op))
      .flatMap(({ queueIds }) => queueIds.find((id) => merged.includes(id)) ?? []);
  });
  const [id] = newer;
  if (id === undefined) return undefined;
  return `there is nothing to bring back: ${branch} is on ${targetBranch} already, it landed again as #${id}; see it: ov merge show ${id}`;
}

/** Did a landing or an undo change any file? A branch without changes of its own may land and be undone. */
async function hasChanges({ merging }: MergePorts, commit: string): Promise<boolean> {
  const before = await merging.commitOf(`${commit}^1`);
  return before === undefined || (await merging.treeOf(before)) !== (await merging.treeOf(commit));
}

/** Says that other commits have already taken out, or brought back, what the undo is about. */
function noChangeWords({ id, branch, targetBranch }: MergeEntry, { kind }: MergeOp): string {
  const see = `see what changed it: git log ${shellWord(targetBranch)}`;
  return kind === "undo"
    ? `there is nothing to bring back: ${targetBranch} has what ${branch} (#${id}) brought already; ${see}`
    : `there is nothing to take out: ${targetBranch} has nothing any more of what ${branch} (#${id}) brought; ${see}`;
}

/**
 * A branch with newer commits cannot simply move back, nor one that was pushed: the next pull would bring everything
 * again. Work of a promotion is taken out where it landed.
 */
async function movedOnWords({ store, merging }: MergePorts, op: MergeOp, tip: string): Promise<string> {
  const { ref, request, afterCommit } = op;
  const branch = ref.replace(/^refs\/heads\//, "");
  const { landing = "", runId } = request;
  const { later, brought } = await store.read(async (tx) => {
    const promotions = await tx.mergeOps.list({ kind: "promote", status: "done", ref });
    const before = promotions.find(
      (one) => one.undoneBy === null && one.request.landing === landing && wasLater(op, one),
    );
    const landed = await tx.mergeOps.list({ kind: "land", status: "done", ref: branchRef(landing) });
    const found: string[] = [];
    for (const one of landed) {
      if (wasLater(one, op) || (before !== undefined && !wasLater(one, before))) continue;
      if ((await findUndo(tx, { of: one.id })).ok) found.push(one.id);
    }
    return { later: promotions.filter((one) => wasLater(one, op)), brought: found };
  });
  const last = later.find((one) => one.undoneBy === null && one.beforeCommit !== one.afterCommit);
  if (last?.afterCommit === tip) {
    return `${branch} has moved on by a later promotion; take that back first: ov merge undo ${last.id}`;
  }
  const commands = brought.map((id) => `ov merge undo ${id}`);
  const isThere = afterCommit !== null && (await merging.commitOf(afterCommit)) !== undefined;
  if (!isThere || !(await merging.contains(tip, afterCommit))) {
    const gone = `${branch} no longer has this promotion, so there is nothing to take back from it`;
    if (commands.length === 0) return `${gone}; see what has landed: ov merge log`;
    return `${gone}; take what it brought out of ${landing} too: ${commands.join(", ")}`;
  }
  const [remote] = afterCommit === tip ? await remotesWith(merging, tip) : [];
  const why =
    remote === undefined
      ? `${branch} has commits that came after this promotion, so it cannot go back to where it was`
      : `this promotion was pushed: ${remote} has it, so ${branch} cannot simply go back, and the next pull would bring it again`;
  if (commands.length === 0) return `${why}; see what has landed: ov merge log`;
  return `${why}; take out what it brought instead: ${commands.join(", ")}, then: ${promoteCommand({ runId: runId ?? null, target: branch })}`;
}

/** What can be typed when later work touches the same lines: that work goes first, or a person changes them by hand. */
async function insteadWords(
  { store, merging }: MergePorts,
  { ref, queueIds }: MergeOp,
  target: MergeOp,
  files: readonly string[],
): Promise<string> {
  const later = (await store.read((tx) => tx.mergeOps.list({ kind: "land", status: "done", ref }))).filter(
    (one) => one.undoneBy === null && wasLater(one, target),
  );
  const commands: string[] = [];
  for (const { id, beforeCommit, afterCommit } of later) {
    if (beforeCommit === null || afterCommit === null) continue;
    const changed = await merging.changedFiles(beforeCommit, afterCommit);
    const mayGo =
      changed.some((file) => files.includes(file)) && (await store.read((tx) => findUndo(tx, { of: id }))).ok;
    if (mayGo) commands.push(`ov merge undo ${id}`);
  }
  const branch = shellWord(ref.replace(/^refs\/heads\//, ""));
  // The operation stands for all branches that landed with it; the number of an entry stands for that one branch.
  const asked = queueIds.length === 1 && target.queueIds.length > 1 ? queueIds[0] : target.id;
  if (commands.length > 0) return `take that out first: ${commands.join(", ")}, then again: ov merge undo ${asked}`;
  return `change the lines by hand: git switch -c <branch> ${branch}, commit, then: ov merge --branch <branch>`;
}

/** The branch of an entry that stays, and that the same commit brought. */
async function broughtWith(
  { store }: MergePorts,
  op: MergeOp,
  target: MergeOp,
  commit: string,
): Promise<string | undefined> {
  if (target.kind === "undo") return undefined;
  const others = target.queueIds.filter((id) => !op.queueIds.includes(id));
  const entries = await store.read((tx) => Promise.all(others.map((id) => tx.merges.get(id))));
  return entries.find((entry) => entry?.status === "merged" && entry.resultCommit === commit)?.branch;
}

function messageOf(entry: MergeEntry, brought: string, target: MergeOp): string {
  const what = target.kind === "undo" ? "Bring back" : "Take out";
  return `${what} ${entry.branch}\n\nThis reverts commit ${brought}.\n\nOverstory-Queue-Id: ${entry.id}\nOverstory-Undoes: ${target.id}\n`;
}

async function failedGates(
  ports: MergePorts,
  tools: TipTools,
  { to, base, queueIds }: Plan & Pick<MergeOp, "queueIds"> & { readonly base: string },
): Promise<string | undefined> {
  const entries = await ports.store.read((tx) => Promise.all(queueIds.map((id) => tx.merges.get(id))));
  const work = entries.filter((entry) => entry !== undefined);
  const logDir = ports.mergeLogDir(ports.ids.next("undo"));
  const { fault } = await judgeTip(ports, tools, { commit: to, base, work, logDir });
  if (fault === undefined) return undefined;
  const { logPath } = fault.detail;
  return `without it these gates would fail: ${fault.gates.join(", ")}${logPath === undefined ? "" : ` (output: ${logPath})`}`;
}

async function move(ports: MergePorts, op: MergeOp, tip: string, { to, commits }: Plan): Promise<boolean> {
  const { merging, store, clock, reach } = ports;
  const request = { ...op.request, commits, tree: await merging.treeOf(to) };
  const intent = { beforeCommit: tip, afterCommit: to, request, updatedAt: clock.now() };
  await store.transaction((tx) => tx.mergeOps.settle(op.id, intent));
  reach("merge.before-land");
  const removedLocks: string[] = [];
  const moved = await setRef(ports, op, { from: tip, to }, (path) => removedLocks.push(path));
  reach("merge.after-land");
  const settling = { ...op, ...intent, request: removedLocks.length === 0 ? request : { ...request, removedLocks } };
  if (moved === undefined) return record(ports, settling);
  // The branch moved meanwhile: the next look plans anew. A branch that may not move at all is given up.
  if ((await merging.commitOf(op.ref)) !== tip) return true;
  return drop(ports, settling, `${moved.problem}${await freeWords(ports, op)}`, moved.cause);
}

/** What to type when the branch may not move because it is checked out. */
async function freeWords({ merging, store }: MergePorts, { ref, queueIds, undoes }: MergeOp): Promise<string> {
  const [checkout] = queueIds.length === 0 ? [] : await merging.checkoutsOf(ref);
  if (checkout === undefined) return "";
  const target = await store.read((tx) => tx.mergeOps.get(undoes ?? ""));
  const isOne = queueIds.length === 1 && target?.kind === "land" && target.queueIds.length > 1;
  const again = `ov merge undo ${isOne ? queueIds[0] : undoes}`;
  const place = `git -C ${shellWord(checkout)} switch`;
  const back = shellWord(ref.replace(/^refs\/heads\//, ""));
  return `; leave the branch there: ${place} --detach, then again: ${again}, and return to it: ${place} ${back}`;
}

/** What a promotion brought into a checkout goes out of it in the same way. */
async function setRef(
  ports: MergePorts,
  op: MergeOp,
  { from, to }: { readonly from: string; readonly to: string },
  onLockRemoved: (path: string) => void,
): Promise<Moved> {
  const { merging, reach } = ports;
  const backup = { ref: backupRef(op.id), from: null, to: from };
  const [checkout] = await merging.checkoutsOf(op.ref);
  if (checkout === undefined || op.queueIds.length > 0) {
    const pin = await pinLanding(ports, op.ref.replace(/^refs\/heads\//, ""), to);
    const updates = [{ ref: op.ref, from, to }, backup, ...pin];
    const updated = await merging.updateRefs(updates, "overstory: undo", onLockRemoved);
    return updated.kind === "updated" ? undefined : { problem: updated.problem, cause: causes[updated.kind] };
  }
  if ((await merging.commitOf(backup.ref)) === undefined) await merging.updateRefs([backup], "overstory: undo");
  const moved = await merging.moveCheckout({ checkout, from, to, reach, onLockRemoved });
  if (moved.kind === "done") return undefined;
  const problem = moved.kind === "local-changes" ? inTheWayWords(checkout, moved) : moved.problem;
  return { problem, cause: causes[moved.kind] };
}

/** Why the branch was not moved; undefined when it was. */
type Moved = { readonly problem: string; readonly cause: PromoteCause | undefined } | undefined;

const causes: Readonly<Record<Exclude<CheckoutMove["kind"], "done">, PromoteCause | undefined>> = {
  "local-changes": "local_changes",
  locked: "locked",
  "no-room": "disk_full",
  moved: undefined,
  failed: undefined,
};

/**
 * Did an undo whose process died move the branch already? A branch that is still to go back contains the commit it goes
 * back to as well, so it counts as moved only when its old tip is gone from it.
 */
async function hasMoved({ merging }: MergePorts, op: MergeOp, tip: string): Promise<boolean> {
  const { beforeCommit: before, afterCommit: after } = op;
  if (before === null || after === null || !(await merging.contains(tip, after))) return false;
  const wentBack = !(await merging.contains(after, before));
  return !wentBack || !(await merging.contains(tip, before));
}

async function record(ports: MergePorts, op: MergeOp): Promise<boolean> {
  const { beforeCommit, afterCommit } = op;
  if (beforeCommit === null || afterCommit === null) return drop(ports, op, "it never moved the branch");
  await ports.store.transaction((tx) => undone(tx, mergeContext(ports), { op, beforeCommit, afterCommit }));
  ports.reach("merge.after-fact");
  await unlearn(ports, op);
  return true;
}

async function drop(ports: MergePorts, op: MergeOp, problem: string, cause?: PromoteCause): Promise<boolean> {
  const request = cause === undefined ? op.request : { ...op.request, cause };
  const change = { status: "dropped", problem, request, updatedAt: ports.clock.now() } as const;
  await ports.store.transaction((tx) => tx.mergeOps.settle(op.id, change));
  return true;
}
