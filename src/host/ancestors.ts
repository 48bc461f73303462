import type { ProcessIdentity } from "../domain/process/process.ts";
import { bootId, entryOf, identityOf } from "./linux/process-table.ts";

/** Deeper than any chain of shells and tools, and an end should /proc ever show a circle. */
const deepest = 64;

/**
 * The processes this one descends from, nearest first, as far as they can be seen, and then those that lead the sessions
 * and groups of all of them: who was put into the background by a parent that has left descends from nobody any more,
 * but still belongs there.
 */
export function ancestorsOfThisProcess(): readonly ProcessIdentity[] {
  known ??= readAncestors();
  return known;
}

/** Read once: a parent that leaves later has still started us. */
let known: readonly ProcessIdentity[] | undefined;

function readAncestors(): readonly ProcessIdentity[] {
  const found = new Map<number, ProcessIdentity>();
  const leaders = new Set<number>();
  for (let pid = process.pid; pid > 1 && found.size <= deepest; ) {
    const entry = entryOf(pid);
    if (entry === undefined) break;
    found.set(pid, { pid, startToken: entry.startToken, bootId: bootId() });
    leaders.add(entry.session).add(entry.group);
    pid = entry.parent;
  }
  for (const pid of leaders) {
    const leader = pid <= 1 || found.has(pid) ? undefined : identityOf(pid);
    if (leader !== undefined) found.set(pid, leader);
  }
  found.delete(process.pid);
  return [...found.values()];
}
