import type { ProcessIdentity } from "../../domain/process/process.ts";
import { linuxProcesses } from "../processes.ts";

/** What locks a worktree while this process prepares it. A number alone may be another process's later. */
export function ownLock(): string {
  const { pid, startToken, bootId } = linuxProcesses.self();
  return `overstory is preparing it (process ${pid} ${startToken} ${bootId})`;
}

/** Ours, or git's own while `worktree add` runs. */
export const isPreparation = (lock: string): boolean => lock === "initializing" || preparer(lock) !== undefined;

/** Whoever took this lock is known to be no more. */
export function preparerIsGone(lock: string): boolean {
  const found = preparer(lock);
  if (found === undefined) return false;
  return typeof found === "number" ? !isTaken(found) : linuxProcesses.check(found) === "gone";
}

/** Earlier versions wrote the number only. */
function preparer(lock: string): ProcessIdentity | number | undefined {
  const [, pid, startToken, bootId] = shape.exec(lock) ?? [];
  if (pid === undefined) return undefined;
  if (startToken === undefined || bootId === undefined) return Number(pid);
  return { pid: Number(pid), startToken, bootId };
}

const shape = /^overstory is preparing it \(process (\d+)(?: (\d+) ([0-9a-f-]+))?\)$/;

function isTaken(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    // Gone, or another user's; neither prepares worktrees here.
    return false;
  }
}
