import type { ProcessRecord } from "../domain/process/process.ts";
import type { Store, Tx } from "../ports/store.ts";
import { isIdle } from "../usecases/engine/engine-work.ts";
import { record } from "../usecases/events/record.ts";
import type { EnginePorts } from "./ports.ts";

const engineLease = "engine";

/** The right to be the engine of this project. */
export interface EngineSeat {
  readonly fence: number;
  readonly processId: string;
}

/** How long one look at the holder of the seat takes at most. */
const lookMs = 500;

/** An engine that computes without answering gets this many times the patience of an idle one. */
const busyFactor = 20;

/**
 * Takes the seat, unless its holder is alive and answers: of any number of engines one works. A holder that does not
 * answer is watched for twice the lease, then killed and followed. Only looks are counted, each for the time it was meant
 * to take: while this process or the whole machine sleeps nothing is counted, and the holder has every look to answer.
 *
 *   seat free, or holder gone    take it
 *   holder answers               leave
 *   holder silent for long       kill it, look again
 *   still there after the kill   take it: a killed process executes nothing more, and the fence keeps it from writing
 */
export async function takeEngineSeat(ports: EnginePorts, stop: AbortSignal): Promise<EngineSeat | undefined> {
  const patienceMs = 2 * ports.settings.leaseMs;
  const sliceMs = Math.min(lookMs, ports.settings.leaseMs / 3);
  let seen = { id: "", silentMs: 0, busyMs: 0, killed: false };
  while (!stop.aborted) {
    const overdue = seen.silentMs >= patienceMs || seen.busyMs >= busyFactor * patienceMs;
    const found = await seatOrHolder(ports, { ...seen, overdue });
    if ("fence" in found) return found;
    if (found.id !== seen.id) seen = { id: found.id, silentMs: 0, busyMs: 0, killed: false };
    else if (overdue && !seen.killed) {
      ports.side.end(found);
      seen = { id: found.id, silentMs: 0, busyMs: 0, killed: true };
    }
    const look = await ports.side.look(found, sliceMs);
    if (look === "answers") return undefined;
    if (look === "busy") seen = { ...seen, silentMs: 0, busyMs: seen.busyMs + sliceMs };
    else seen = { ...seen, silentMs: seen.silentMs + sliceMs };
  }
  return undefined;
}

interface Seen {
  /** The process that was looked at. */
  readonly id: string;
  readonly killed: boolean;
  readonly overdue: boolean;
}

/** The seat, or the process that holds it. */
async function seatOrHolder(ports: EnginePorts, seen: Seen): Promise<EngineSeat | ProcessRecord> {
  const givenUp = seen.killed && seen.overdue ? seen.id : undefined;
  const holder = await ports.store.read((tx) => livingHolder(tx, ports));
  if (holder !== undefined && holder.id !== givenUp) return holder;
  const now = ports.clock.now();
  return ports.store.transaction(async (tx) => {
    const living = await livingHolder(tx, ports);
    if (living !== undefined && living.id !== givenUp) return living;
    const lost = await holderOf(tx);
    if (lost !== undefined && lost.endedAt === null) await tx.processes.end(lost.id, "gone", now);
    if (lost !== undefined && lost.id === seen.id && seen.killed) {
      const data = { pid: lost.pid };
      await record(tx, now, { source: "engine", type: "engine_replaced", level: "warn", data });
    }
    const processId = ports.ids.next("process");
    const identity = ports.processes.self();
    const none = { agentId: null, turnId: null, endedAt: null, endReason: null };
    await tx.processes.insert({ id: processId, role: "engine", ...identity, ...none, startedAt: now });
    return { processId, fence: await tx.leases.take(engineLease, processId) };
  });
}

async function holderOf(tx: Tx): Promise<ProcessRecord | undefined> {
  const lease = await tx.leases.get(engineLease);
  return lease?.processId == null ? undefined : tx.processes.get(lease.processId);
}

async function livingHolder(tx: Tx, { processes }: EnginePorts): Promise<ProcessRecord | undefined> {
  const holder = await holderOf(tx);
  return holder !== undefined && holder.endedAt === null && processes.check(holder) !== "gone" ? holder : undefined;
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

export interface SeatedStore {
  readonly store: Store;
  holdTo(seat: EngineSeat | undefined): void;
}

/**
 * Wraps the store of the engine. An engine that was stopped for long may wake up and find another engine in its seat.
 * It must not write anything more; `onLost` ends its process.
 */
export function seatedStore(store: Store, onLost: () => void): SeatedStore {
  let held: EngineSeat | undefined;
  const seated =
    <T>(work: (tx: Tx) => Promise<T>) =>
    async (tx: Tx): Promise<T> => {
      if (held !== undefined && (await tx.leases.get(engineLease))?.fence !== held.fence) {
        onLost();
        throw new Error("another engine has the seat");
      }
      return work(tx);
    };
  return {
    store: {
      ...store,
      transaction: (work) => store.transaction(seated(work)),
      read: (work) => store.read(seated(work)),
    },
    holdTo: (seat) => {
      held = seat;
    },
  };
}
