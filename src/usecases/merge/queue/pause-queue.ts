import type { QueuePause } from "../../../domain/merge/queue-pause.ts";
import { ok } from "../../../domain/result.ts";
import { fields, noFields, text } from "../../../domain/schema/schema.ts";
import { record } from "../../events/record.ts";
import type { UseCase } from "../../usecase.ts";

/**
 * Keeps the queue from landing anything until it is resumed; an engine that is restarted keeps the pause. A running
 * train goes on, and operations that a person asks for (undo, promotion) are done. Branches take in commits of their
 * targets as before, because agents start from them.
 */
export const pauseQueue: UseCase<
  { readonly reason?: string | undefined },
  { readonly paused: QueuePause; readonly changed: boolean; readonly underWay: number }
> = {
  kind: "write",
  request: fields({}, { reason: text }),
  operatorOnly: true,
  run: async (tx, { caller, now }, { reason }) => {
    const before = await tx.merges.pause();
    const given = reason?.trim() ?? "";
    const words = given === "" ? (before?.reason ?? null) : given;
    const paused = { pausedBy: caller.name, since: now, ...before, reason: words };
    const changed = before === undefined || before.reason !== words;
    if (changed) {
      await tx.merges.setPause(paused);
      await record(tx, now, {
        source: caller.kind,
        type: "merge_queue_paused",
        data: { by: caller.name, reason: words },
      });
    }
    const underWay = (await tx.merges.list({ statuses: ["merging", "gating"] })).length;
    return ok({ paused, changed, underWay });
  },
};

/** Lets the queue go on. */
export const resumeQueue: UseCase<object, { readonly changed: boolean }> = {
  kind: "write",
  request: noFields,
  operatorOnly: true,
  run: async (tx, { caller, now }) => {
    if ((await tx.merges.pause()) === undefined) return ok({ changed: false });
    await tx.merges.setPause(undefined);
    await record(tx, now, { source: caller.kind, type: "merge_queue_resumed", data: { by: caller.name } });
    return ok({ changed: true });
  },
};
