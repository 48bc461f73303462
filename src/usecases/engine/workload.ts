import { ok } from "../../domain/result.ts";
import type { UseCase } from "../usecase.ts";
import { isIdle } from "./engine-work.ts";

/** Work that an engine would see. */
export interface Workload {
  readonly runningTurns: number;
  readonly queuedTurns: number;
}

/** What is left for an engine to do. `idle`: nothing, now or at a later moment. */
export const readWorkload: UseCase<object, Workload & { readonly idle: boolean }> = {
  kind: "read",
  startsNoEngine: true,
  run: async (tx, { now, settings }) => {
    let queuedTurns = 0;
    for (const agent of await tx.agents.list({ live: true })) {
      if ((await tx.turns.queuedFor(agent.id)) !== undefined) queuedTurns++;
    }
    const runningTurns = (await tx.turns.running()).length;
    return ok({ runningTurns, queuedTurns, idle: await isIdle(tx, { now, settings }) });
  },
};
