import type { Caller } from "../caller/caller.ts";
import type { Refusal } from "../refusal.ts";

/** Why the caller may not end its run: of the agents only the coordinator sees the whole of it. */
export function forbiddenToComplete(caller: Caller, runId: string): Refusal | undefined {
  if (caller.kind !== "agent" || caller.capability === "coordinator") return undefined;
  const why = "only its coordinator and the operator end a run";
  return { kind: "not-allowed", action: `complete ${runId}`, caller: caller.name, why };
}
