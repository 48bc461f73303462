import type { ProcessIdentity } from "../domain/process/process.ts";
import { bootId, entryOf } from "./linux/process-table.ts";

/** Deeper than any chain of shells and tools, and an end should /proc ever show a circle. */
const deepest = 64;

/** The processes this one descends from, nearest first; ends at init or at the first that cannot be seen. */
export function ancestorsOfThisProcess(): ProcessIdentity[] {
  const found: ProcessIdentity[] = [];
  for (let pid = process.ppid; pid > 1 && found.length < deepest; ) {
    const entry = entryOf(pid);
    if (entry === undefined) break;
    found.push({ pid, startToken: entry.startToken, bootId: bootId() });
    pid = entry.parent;
  }
  return found;
}
