import type { EventSource } from "../../domain/event/event.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context } from "../usecase.ts";

/** Appends what the caller did, in its name. `runId` is the run of the thing that changed, when it has one. */
export async function recordEvent(
  tx: Tx,
  { caller, now }: Pick<Context, "caller" | "now">,
  event: { readonly type: string; readonly runId?: string | null; readonly data: unknown },
): Promise<void> {
  const agent = caller.kind === "agent" ? caller : undefined;
  await tx.events.append([
    {
      runId: event.runId ?? agent?.runId ?? null,
      agentName: agent?.name ?? null,
      agentId: agent?.agentId ?? null,
      turnId: agent?.turnId ?? null,
      source: caller.kind satisfies EventSource,
      type: event.type,
      data: event.data,
      createdAt: now,
    },
  ]);
}
