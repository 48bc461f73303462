import type { Turn } from "../domain/turn/turn.ts";
import type { Claimed } from "./dispatch.ts";
import type { EnginePorts } from "./ports.ts";

/**
 * Running turns whose supervisor is gone, each given to a new one by a higher fence. `starting` names turns whose
 * supervisor we have just started and that had no time to record itself.
 */
export async function takeOverLostTurns(ports: EnginePorts, starting: ReadonlySet<string>): Promise<Claimed[]> {
  const lost = await lostTurns(ports, starting);
  if (lost.length === 0) return [];
  return ports.store.transaction(async (tx) => {
    const taken: Claimed[] = [];
    for (const turn of lost) {
      const current = await tx.turns.get(turn.id);
      if (current?.fence !== turn.fence) continue;
      const fence = await tx.turns.takeOver(turn.id);
      if (fence !== undefined) taken.push({ turnId: turn.id, fence });
    }
    return taken;
  });
}

async function lostTurns(ports: EnginePorts, starting: ReadonlySet<string>): Promise<Turn[]> {
  return ports.store.read(async (tx) => {
    const lost: Turn[] = [];
    for (const turn of await tx.turns.running()) {
      if (starting.has(turn.id)) continue;
      const supervisors = (await tx.processes.liveForTurn(turn.id)).filter((process) => process.role === "supervisor");
      if (supervisors.every((process) => ports.processes.check(process) === "gone")) lost.push(turn);
    }
    return lost;
  });
}
