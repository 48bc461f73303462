import { movableStatuses } from "../../../domain/merge/entry.ts";
import { invalid } from "../../../domain/refusal.ts";
import { no, ok } from "../../../domain/result.ts";
import { fields, list, text, whole } from "../../../domain/schema/schema.ts";
import type { UseCase } from "../../usecase.ts";
import { findEntry, recordMerge, wrongStatus } from "../merge-records.ts";
import { type QueuedMerge, queuedMerge } from "../read-merges.ts";
import { entriesBefore, wrongPriority } from "./add-entry.ts";
import { queueOrder } from "./queue-state.ts";

export interface MoveRequest {
  /** Number or branch. */
  readonly of: string;
  /** 0 is the most urgent, 4 the least. */
  readonly priority?: number | undefined;
  /** Numbers or branches of entries that must land first, in place of those it waited for. Empty: it waits for none. */
  readonly after?: readonly string[] | undefined;
}

/** Changes when a waiting branch lands, by the rules of the queue: its priority, and what must land before it. */
export const moveMerge: UseCase<MoveRequest, QueuedMerge> = {
  kind: "write",
  request: fields({ of: text }, { priority: whole, after: list(text) }),
  operatorOnly: true,
  run: async (tx, context, { of, priority, after }) => {
    if (priority === undefined && after === undefined)
      return no(invalid("this command", "needs a new place", { allowed: ["--priority", "--after"] }));
    const found = await findEntry(tx, of);
    if (!found.ok) return found;
    const entry = found.value;
    const refused = wrongPriority(priority) ?? wrongStatus(entry, movableStatuses);
    if (refused !== undefined) return no(refused);
    const before = after === undefined ? ok(entry.dependsOn) : await entriesBefore(tx, { ...entry, dependsOn: after });
    if (!before.ok) return before;
    const place = { priority: priority ?? entry.priority, dependsOn: [...new Set(before.value)] };
    await tx.merges.change(entry.id, movableStatuses, { ...place, updatedAt: context.now });
    const moved = { ...entry, ...place, updatedAt: context.now };
    await recordMerge(tx, context, moved, (facts) => ({ type: "merge_moved", data: { ...facts, ...place } }));
    return ok(await queuedMerge(tx, moved, await queueOrder(tx, context)));
  },
};
