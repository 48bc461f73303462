import type { ProcessIdentity } from "../domain/process/process.ts";
import { bootId, entryOf } from "./linux/process-table.ts";

/** Kills exactly this process, not what it started. Nothing when the pid is somebody else by now. */
export function killOne(identity: ProcessIdentity): void {
  if (identity.bootId !== bootId() || entryOf(identity.pid)?.startToken !== identity.startToken) return;
  try {
    process.kill(identity.pid, "SIGKILL");
  } catch (error) {
    // It ended between the look and the signal, which is what was wanted.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
