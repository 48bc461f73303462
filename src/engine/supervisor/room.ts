import { failureOf } from "../../domain/failure.ts";
import type { Tx } from "../../ports/store.ts";
import type { OwnedTurn } from "./begin.ts";
import type { SupervisorPorts } from "./ports.ts";

const shortestPauseMs = 100;
const longestPauseMs = 2_000;

/**
 * Does what needs space on the disk, again and again until there is enough: a full disk is no failure of a turn.
 * `taken` when the turn was stopped or lost meanwhile. Any other failure is the caller's.
 */
export async function whenThereIsRoom<T>(
  ports: Pick<SupervisorPorts, "store" | "report">,
  owned: OwnedTurn,
  work: () => T,
): Promise<{ readonly done: T } | "taken"> {
  for (let pause = shortestPauseMs, said = false; ; pause = Math.min(pause * 2, longestPauseMs), said = true) {
    try {
      return { done: work() };
    } catch (error) {
      if (failureOf(error).kind !== "disk-full") throw error;
      if (!said) ports.report(error);
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (!(await ports.store.read((tx) => mayStart(tx, owned)))) return "taken";
  }
}

/** The turn is still ours, and nobody asked its agent to stop. */
export async function mayStart(tx: Tx, { turn, agent, fence }: OwnedTurn): Promise<boolean> {
  const current = await tx.turns.get(turn.id);
  const owner = await tx.agents.get(agent.id);
  return current?.status === "running" && current.fence === fence && owner?.stopRequestedBy === null;
}
