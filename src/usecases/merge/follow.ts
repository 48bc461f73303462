import { isOpenMerge, type MergeEntry } from "../../domain/merge/entry.ts";
import type { MergeOp } from "../../domain/merge/operation.ts";
import { resumeCommand } from "../../domain/merge/queue-pause.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { ok, type Result } from "../../domain/result.ts";
import { fields, list, text, whole } from "../../domain/schema/schema.ts";
import { visibleLine } from "../../domain/text/visible.ts";
import type { Stream, World } from "../operation.ts";
import type { MergeOutcome, QueuedMerge } from "./read-merges.ts";

export interface FollowedMerges {
  readonly merges: readonly MergeOutcome[];
  /** Why an entry that is still open will not move by itself, by its number. */
  readonly standing: Readonly<Record<number, string>>;
}

/** How things stand while the caller waits. */
export interface MergesUnderWay {
  readonly left: readonly MergeEntry[];
  /** In words, that the disk is full, so that nothing can go on. */
  readonly fullDisk: string | undefined;
}

/**
 * Waits until the engine has ended each of these entries, or until the rest waits for a person. Returns the outcome of
 * each, in their order.
 */
export const followMerges: Stream<{ readonly ids: readonly number[] }, FollowedMerges, MergesUnderWay> = {
  kind: "stream",
  request: fields({ ids: list(whole) }),
  place: "engine",
  run: async (world, { ids }, { onItem }) => {
    const standing = await world.until(async () => {
      const listed = await world.call("merge.list", {});
      if (!listed.ok) return listed;
      const open = new Map(listed.value.entries.map((merge) => [merge.entry.id, merge]));
      const left = ids.flatMap((id) => open.get(id) ?? []);
      const reasons = left.map((merge) => [merge.entry.id, standstill(merge, open)] as const);
      if (reasons.every(([, reason]) => reason !== undefined)) return ok(Object.fromEntries(reasons));
      onItem({ left: left.map(({ entry }) => entry), fullDisk: world.fullDisk() });
      return undefined;
    });
    if (!standing.ok) return standing;
    const ended = await world.call("merge.showOutcomes", { ids });
    if (!ended.ok) return ended;
    return ok({ merges: ended.value.merges, standing: standing.value as Readonly<Record<number, string>> });
  },
};

/** Why an open entry will not move by itself; undefined when it will. */
export function standstill(
  merge: QueuedMerge,
  open: ReadonlyMap<number, QueuedMerge>,
  above: readonly number[] = [],
): string | undefined {
  const { entry, place, waitsFor, isHeld } = merge;
  if (isHeld) return `the queue is paused; let it go on: ${resumeCommand}`;
  if (!isOpenMerge(entry) || place !== null || entry.status === "merging" || entry.status === "gating")
    return undefined;
  if (entry.status === "blocked")
    return `${entry.causeDetail?.message ?? "something is in the way"}; it is tried again later`;
  for (const id of waitsFor) {
    const before = open.get(id);
    if (before === undefined) return `it waits for #${id}, which did not land`;
    if (above.includes(id)) return `it waits for #${id}, which waits for it`;
    if (standstill(before, open, [...above, entry.id]) !== undefined) return `it waits for #${id}, which waits itself`;
  }
  if (waitsFor.length > 0 || entry.notBefore > Date.now()) return undefined;
  if (entry.approval === "operator") return undefined;
  const { message } = entry.causeDetail ?? {};
  return `${message === undefined ? "" : `${message}; `}it waits for the operator's approval`;
}

export interface FollowedOperation {
  readonly op: MergeOp;
  /** Every branch that operations of late concerned. */
  readonly entries: readonly MergeEntry[];
  /** Why it did not happen; null when it did. */
  readonly problem: string | null;
}

export interface OperationUnderWay {
  readonly op: MergeOp;
  readonly fullDisk: string | undefined;
}

/** How many operations an operation may speak about. */
const lately = 200;

/** Waits until the engine has done the requested operation, or has found that it cannot. */
export const followOperation: Stream<{ readonly id: string }, FollowedOperation, OperationUnderWay> = {
  kind: "stream",
  request: fields({ id: text }),
  place: "engine",
  run: async (world, { id }, { onItem }) => {
    const ended = await world.until(async () => {
      const found = await world.call("merge.operation", { id });
      if (!found.ok) return found;
      const { operation: op } = found.value;
      if (op.status !== "intended") {
        return ok({ op, problem: op.status === "done" ? null : (op.problem ?? "it did not happen") });
      }
      const stuck = await obstacle(world, op);
      if (!stuck.ok) return stuck;
      if (stuck.value !== undefined) return ok({ op, problem: stuck.value });
      onItem({ op, fullDisk: world.fullDisk() });
      return undefined;
    });
    if (!ended.ok) return ended;
    const log = await world.call("merge.log", { limit: lately, empty: true });
    return log.ok ? ok({ ...ended.value, entries: log.value.entries }) : log;
  },
};

/** A promotion waits for the target's own commits, which go through the queue like anything else. */
async function obstacle({ call }: World, { kind, request }: MergeOp): Promise<Result<string | undefined, Refusal>> {
  if (kind !== "promote") return ok(undefined);
  const listed = await call("merge.list", {});
  if (!listed.ok) return listed;
  const { entries } = listed.value;
  const first = entries.find(({ entry }) => entry.branch === request.target && entry.targetBranch === request.landing);
  const why = first && standstill(first, new Map(entries.map((merge) => [merge.entry.id, merge])));
  if (first === undefined || why === undefined) return ok(undefined);
  return ok(`${visibleLine(first.entry.branch)} has moved and is brought in first as merge ${first.entry.id}: ${why}`);
}
