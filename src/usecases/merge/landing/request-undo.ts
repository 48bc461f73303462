import { type MergeEntry, mergeRef } from "../../../domain/merge/entry.ts";
import { type MergeOp, wasLater } from "../../../domain/merge/operation.ts";
import type { Promotion } from "../../../domain/merge/words.ts";
import { invalid, notFound, type Refusal } from "../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../domain/result.ts";
import { fields, flag, text } from "../../../domain/schema/schema.ts";
import type { Tx } from "../../../ports/store.ts";
import type { UseCase } from "../../usecase.ts";
import { findEntry, newOp } from "../merge-records.ts";
import { isOfTarget, promotionOf, purposeOf } from "./landing-target.ts";

export interface UndoTarget {
  /** Id of an operation, number of an entry, or a branch. */
  readonly of?: string | undefined;
  /** Undo the newest landing that was not undone yet. */
  readonly last?: boolean | undefined;
}

export interface Undoable {
  readonly op: MergeOp;
  /** What of it would be taken back. */
  readonly entries: readonly MergeEntry[];
  /** The undo takes back all work of the operation. */
  readonly whole: boolean;
  /**
   * The branch that was promoted since. It keeps the work that the landing branch loses, or still lacks the work that
   * comes back.
   */
  readonly promoted: string | null;
  /** Landings on the same branch since, which stay. Without any, the branch goes back to where it was. */
  readonly later: number;
}

const undoTarget = { of: text, last: flag } as const;

/** What taking something back would concern. */
export const planUndo: UseCase<UndoTarget, Undoable> = {
  kind: "read",
  request: fields({}, undoTarget),
  run: (tx, _context, target) => findUndo(tx, target),
};

export interface UndoRequest extends UndoTarget {
  /** The branches go back into the queue. */
  readonly requeue?: boolean | undefined;
}

export interface UndoReply extends Undoable {
  readonly undo: MergeOp;
  /** What `ov merge promote` must name to bring what the undo leaves to the branch that was promoted. */
  readonly promotion: Promotion;
}

/** Asks the engine to take something back. Asking twice is asking once. */
export const requestUndo: UseCase<UndoRequest, UndoReply> = {
  kind: "write",
  request: fields({}, { ...undoTarget, requeue: flag }),
  operatorOnly: true,
  run: async (tx, context, { requeue, ...target }) => {
    const found = await findUndo(tx, target);
    if (!found.ok) return found;
    const { op, entries } = found.value;
    const purpose = await purposeOf(tx, context, op.ref.replace(/^refs\/heads\//, ""));
    const reply = { ...found.value, promotion: await promotionOf(tx, purpose) };
    const queueIds = entries.map(({ id }) => id);
    const asked = await askedBefore(tx, op, queueIds);
    if (asked !== undefined) return ok({ ...reply, undo: asked });
    const undo = await newOp(tx, context, {
      kind: "undo",
      ref: op.ref,
      queueIds,
      undoes: op.id,
      request: { requeue: requeue === true },
    });
    return ok({ ...reply, undo });
  },
};

async function askedBefore(tx: Tx, op: MergeOp, queueIds: readonly number[]): Promise<MergeOp | undefined> {
  const wanted = queueIds.join(",");
  const intended = await tx.mergeOps.list({ kind: "undo", status: "intended", ref: op.ref });
  return intended.find((undo) => undo.undoes === op.id && undo.queueIds.join(",") === wanted);
}

/** What the user means to take back: a whole operation, or one branch of a landing of several. */
export async function findUndo(tx: Tx, { of, last }: UndoTarget): Promise<Result<Undoable, Refusal>> {
  if (last === true) {
    const landings = await tx.mergeOps.list({ kind: "land", status: "done" });
    for (const op of landings) {
      if (op.undoneBy !== null) continue;
      const found = await wholeOf(tx, op);
      if (found.entries.length > 0) return ok(found);
    }
    return no(nothing("the last landing", "nothing has landed that was not taken back"));
  }
  if (of === undefined) return no(invalid("operation", "must say what to take back"));
  const op = await tx.mergeOps.get(of);
  if (op !== undefined) return undoable(op) ?? (await ofOperation(tx, op));
  if (/^op-/.test(of)) return no(notFound("merge operation", of));
  return ofEntry(tx, of);
}

function undoable(op: MergeOp): Result<never, Refusal> | undefined {
  if (op.kind === "begin") return no(nothing(op.id, "nothing came in by it"));
  if (op.kind === "accept" || op.kind === "restore") return no({ ...nothing(op.id, decided(op)), next: landAgain(op) });
  if (op.status !== "done") return no(nothing(op.id, op.status === "dropped" ? "it never happened" : "it goes on"));
  if (op.beforeCommit !== null && op.beforeCommit === op.afterCommit) return no(nothing(op.id, "it moved nothing"));
  if (op.undoneBy !== null) return no(nothing(op.id, `${op.undoneBy} took it back`));
  return undefined;
}

async function ofOperation(tx: Tx, op: MergeOp): Promise<Result<Undoable, Refusal>> {
  const found = await wholeOf(tx, op);
  if (op.kind !== "land" || found.entries.length > 0) return ok(found);
  for (const id of op.queueIds) {
    const entry = await tx.merges.get(id);
    if (entry !== undefined && (await isOfTarget(tx, entry))) return no(nothing(op.id, ofTargetWords(entry)));
  }
  const known = await Promise.all(op.queueIds.map((id) => tx.merges.get(id)));
  // Retention deletes the entries of work that landed long ago, never those of work that was taken out.
  if (op.queueIds.length > 0 && known.every((entry) => entry === undefined))
    return no({
      ...nothing(op.id, "its branches landed so long ago that their record is gone"),
      next: "take it out by a commit of your own: git revert",
    });
  return ok(found);
}

const ofTargetWords = ({ branch }: MergeEntry): string => `it brought in commits of ${branch} itself, and they stay`;

async function ofEntry(tx: Tx, of: string): Promise<Result<Undoable, Refusal>> {
  const found = await findEntry(tx, of);
  if (!found.ok) return found;
  // A newer entry of the branch may wait already; what landed is what can be taken back.
  const entries = /^#?\d+$/.test(of) ? [found.value] : await tx.merges.list({ branch: found.value.branch });
  const merged = entries.filter(({ status }) => status === "merged").toReversed();
  const [newest] = merged;
  if (newest === undefined) return no(nothing(of, "it has not landed, or was taken back"));
  if (await isOfTarget(tx, newest)) return no(nothing(of, ofTargetWords(newest)));
  // An entry whose commits were there already landed nothing itself; an earlier entry of the branch may have.
  for (const entry of merged) {
    const landings = await tx.mergeOps.list({ kind: "land", status: "done", queueId: entry.id });
    const op = landings.find(({ undoneBy }) => undoneBy === null);
    if (op === undefined) continue;
    const all = await entriesOf(tx, op);
    return ok({
      op,
      entries: [entry],
      whole: all.every(({ id }) => id === entry.id),
      promoted: await promotedTo(tx, op),
      later: await landedSince(tx, op),
    });
  }
  return no(nothing(mergeRef(newest.id), "its landing is not on record"));
}

async function wholeOf(tx: Tx, op: MergeOp): Promise<Undoable> {
  const [entries, promoted, later] = [await entriesOf(tx, op), await promotedTo(tx, op), await landedSince(tx, op)];
  return { op, entries, whole: true, promoted, later };
}

async function landedSince(tx: Tx, op: MergeOp): Promise<number> {
  const landings = await tx.mergeOps.list({ kind: "land", status: "done", ref: op.ref });
  return landings.filter((one) => one.undoneBy === null && wasLater(one, op)).length;
}

/** The entries of a landing that are still landed, or the entries that an undo took back. */
async function entriesOf(tx: Tx, op: MergeOp): Promise<readonly MergeEntry[]> {
  const entries: MergeEntry[] = [];
  for (const id of op.queueIds) {
    const entry = await tx.merges.get(id);
    if (entry?.status !== (op.kind === "undo" ? "reverted" : "merged")) continue;
    if (op.kind === "undo" || !(await isOfTarget(tx, entry))) entries.push(entry);
  }
  return entries;
}

/** Where a promotion took the outcome of this operation, unless it was taken back. */
async function promotedTo(tx: Tx, op: MergeOp): Promise<string | null> {
  if (op.kind !== "land" && op.kind !== "undo") return null;
  const promotions = await tx.mergeOps.list({ kind: "promote", status: "done" });
  const later = promotions.find(
    (one) =>
      one.undoneBy === null &&
      one.beforeCommit !== one.afterCommit &&
      `refs/heads/${one.request.landing}` === op.ref &&
      wasLater(one, op),
  );
  return later?.request.target ?? null;
}

/** What the operator decided about a branch that had been moved. */
function decided({ kind, request }: MergeOp): string {
  if (kind === "restore" && request.dropped !== undefined)
    return `you decided to leave ${request.dropped.slice(0, 10)} out`;
  return kind === "restore" ? "you decided to put the branch back" : "you decided to accept the branch where it was";
}

/** A restored branch was elsewhere before, and that is kept. Of an accepted one the branches can land again. */
const landAgain = ({ id, kind, status }: MergeOp): string =>
  kind === "restore" && status === "done"
    ? `see what it took away: git log refs/overstory/backup/${id}; a branch of it lands again with: ov merge --branch <branch>`
    : "a branch that it took out lands again with: ov merge --branch <branch>; see: ov merge log";

const nothing = (what: string, why: string) => ({ kind: "nothing-to-undo", what, why }) as const;
