import type { ProcessIdentity } from "../../domain/process/process.ts";
import { endTree } from "../linux/end-tree.ts";
import { allProcesses, bootId, carries, type ProcessEntry } from "../linux/process-table.ts";

/** Inherited by all that a command starts, so that it is found wherever it moved; its value names one run. */
export const runVariable = "OVERSTORY_GATE_RUN";

/** Whoever starts new processes faster than they are ended is given up on after so many looks. */
const maxRounds = 5;

/**
 * Ends the root and everything it started, also what is left of it when the root itself has gone: members of its
 * session and group, and whatever still carries the mark of its run. Only a process that left both and dropped its environment is
 * not found.
 */
export async function endAll(root: ProcessIdentity, run: string, graceMs: number): Promise<void> {
  await endTree(root, graceMs);
  for (let round = 0; round < maxRounds; round++) {
    const left = leftBy(root, run);
    if (left.length === 0) return;
    await Promise.all(left.map(({ pid, startToken }) => endTree({ pid, startToken, bootId: bootId() }, graceMs)));
  }
}

function leftBy({ pid, startToken }: ProcessIdentity, run: string): readonly ProcessEntry[] {
  const all = allProcesses();
  // The number is not given away while its session or group exists; a new holder means that they do not.
  const isReused = all.some((entry) => entry.pid === pid && entry.startToken !== startToken);
  const isOurs = (entry: ProcessEntry): boolean =>
    (!isReused && (entry.group === pid || entry.session === pid)) || carries(entry.pid, runVariable, run);
  return all.filter((entry) => !entry.defunct && entry.pid !== process.pid && isOurs(entry));
}
