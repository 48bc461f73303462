import { ok } from "../../domain/result.ts";
import { fields, text, whole } from "../../domain/schema/schema.ts";
import type { Stream } from "../operation.ts";
import type { UseCase } from "../usecase.ts";
import { hasRunOut, isDebounced, openInbox, wasHandedOver } from "./inbox.ts";

export interface PeekRequest {
  /** Whose inbox; the caller's own when absent. */
  readonly agent?: string | undefined;
  readonly debounceMs?: number | undefined;
}

export interface PeekReply {
  readonly inbox: string;
  /** An agent asks; what it takes is settled by the end of its turn. */
  readonly byAgent: boolean;
  /** `mail.check` would find or change something. */
  readonly waiting: boolean;
  readonly debounced: boolean;
  /** How many messages nobody has taken yet. */
  readonly unread: number;
}

/** Looks whether an inbox is worth opening. Most looks of a hook end here, without a writer's lock. */
export const peekMail: UseCase<PeekRequest, PeekReply> = {
  kind: "read",
  request: fields({}, { agent: text, debounceMs: whole }),
  run: async (tx, { caller, now }, { agent, debounceMs }) => {
    const opened = await openInbox(tx, caller, agent);
    if (!opened.ok) return opened;
    const inbox = opened.value;
    const about = { inbox: inbox.name, byAgent: caller.kind === "agent" };
    if (await isDebounced(tx, inbox, now, debounceMs)) {
      return ok({ ...about, waiting: false, debounced: true, unread: 0 });
    }
    const due = await tx.deliveries.queued(inbox.name, now, 1);
    const open = due.length > 0 ? [] : await tx.deliveries.inState(inbox.name, ["claimed", "delivered"]);
    const unsettled = open.some(({ delivery }) => wasHandedOver(inbox, delivery) || hasRunOut(delivery, now));
    const unread = due.length === 0 ? 0 : await tx.deliveries.countQueued(inbox.name);
    return ok({ ...about, waiting: due.length > 0 || unsettled, debounced: false, unread });
  },
};

/** Waits until there is mail, the time is over, or nobody waits any more. Looking takes no lock. */
export const followMail: Stream<
  { readonly patienceMs: number },
  { readonly waiting: boolean },
  { readonly waiting: false }
> = {
  kind: "stream",
  request: fields({ patienceMs: whole }),
  place: "engine",
  run: async (world, { patienceMs }, { onItem, signal }) => {
    const deadline = performance.now() + patienceMs;
    return world.until(
      async () => {
        const peeked = await world.call("mail.peek", {});
        if (!peeked.ok) return peeked;
        const { waiting } = peeked.value;
        if (waiting || signal.aborted || performance.now() >= deadline) return ok({ waiting });
        onItem({ waiting: false });
        return undefined;
      },
      AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]),
    );
  },
};
