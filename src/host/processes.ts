import { closeSync, openSync } from "node:fs";
import { Failure } from "../domain/failure.ts";
import type { ProcessIdentity } from "../domain/process/process.ts";
import type { Liveness, Processes } from "../ports/process.ts";
import { expectRegular } from "./file-access.ts";
import { endStartedFor, endTree } from "./linux/end-tree.ts";
import { bootId, entryOf, identityOf } from "./linux/process-table.ts";

/** Processes of a Linux host. */
export const linuxProcesses = {
  identify: identityOf,
  self: () => {
    const self = identityOf(process.pid);
    if (self === undefined) throw new Failure({ kind: "unexpected", problem: "this process is not in /proc" });
    return self;
  },
  check,
  endTree,
  endStartedFor,
  startDetached: (command, { env, logFile, onExit }) => {
    expectRegular(logFile);
    const log = openSync(logFile, "a", 0o600);
    try {
      const child = Bun.spawn({
        cmd: [...command],
        env: { ...env },
        cwd: "/",
        stdio: ["ignore", log, log],
        detached: true,
        ...(onExit === undefined ? {} : { onExit: () => onExit() }),
      });
      child.unref();
      return child.pid;
    } finally {
      closeSync(log);
    }
  },
} as const satisfies Processes;

function check(identity: ProcessIdentity): Liveness {
  if (identity.bootId !== bootId()) return "gone";
  const entry = entryOf(identity.pid);
  if (entry === undefined || entry.defunct || entry.startToken !== identity.startToken) return "gone";
  return "alive";
}

/**
 * Asks one process to end. Its children outlive it. False when it is gone already, or is another
 * process by now.
 */
export function askToEnd(identity: ProcessIdentity): boolean {
  if (check(identity) !== "alive") return false;
  try {
    process.kill(identity.pid, "SIGTERM");
    return true;
  } catch (error) {
    // It left by itself between the look and the signal.
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
    throw error;
  }
}
