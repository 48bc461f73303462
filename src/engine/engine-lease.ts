import { isIdle } from "../usecases/engine/engine-work.ts";
import type { EnginePorts } from "./ports.ts";

const engineLease = "engine";

/** The right to be the engine of this project. */
export interface EngineSeat {
  readonly fence: number;
  readonly processId: string;
}

/** Takes the seat in one transaction, unless its holder is alive: of any number of engines one works. */
export async function takeEngineSeat(ports: EnginePorts): Promise<EngineSeat | undefined> {
  const now = ports.clock.now();
  return ports.store.transaction(async (tx) => {
    const lease = await tx.leases.get(engineLease);
    const holder = lease?.processId == null ? undefined : await tx.processes.get(lease.processId);
    if (holder !== undefined && holder.endedAt === null) {
      if (ports.processes.check(holder) !== "gone") return undefined;
      await tx.processes.end(holder.id, "gone", now);
    }
    const processId = ports.ids.next("process");
    const identity = ports.processes.self();
    const none = { agentId: null, turnId: null, endedAt: null, endReason: null };
    await tx.processes.insert({ id: processId, role: "engine", ...identity, ...none, startedAt: now });
    return { processId, fence: await tx.leases.take(engineLease, processId) };
  });
}

/** Gives the seat up if there is nothing to do and nothing becomes due. False when work came in at the last moment. */
export async function leaveEngineSeat(
  ports: EnginePorts,
  seat: EngineSeat,
  options: { whateverIsDue: boolean },
): Promise<boolean> {
  const now = ports.clock.now();
  return ports.store.transaction(async (tx) => {
    if (!options.whateverIsDue && !(await isIdle(tx, { now, settings: ports.rules }))) return false;
    await tx.leases.drop(engineLease, seat.fence);
    await tx.processes.end(seat.processId, "left", now);
    return true;
  });
}
