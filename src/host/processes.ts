import { closeSync, openSync } from "node:fs";
import { Failure } from "../domain/failure.ts";
import type { ProcessIdentity } from "../domain/process/process.ts";
import type { KillReport, Liveness, Processes } from "../ports/process.ts";
import { allProcesses, bootId, entryOf, identityOf, type ProcessEntry } from "./linux/process-table.ts";

/** Processes of a Linux host. */
export const linuxProcesses: Processes = {
  identify: identityOf,
  self: () => {
    const self = identityOf(process.pid);
    if (self === undefined) throw new Failure({ kind: "unexpected", problem: "this process is not in /proc" });
    return self;
  },
  check,
  endTree,
  startDetached: (command, { env, logFile, onExit }) => {
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
};

function check(identity: ProcessIdentity): Liveness {
  if (identity.bootId !== bootId()) return "gone";
  const entry = entryOf(identity.pid);
  if (entry === undefined || entry.defunct || entry.startToken !== identity.startToken) return "gone";
  return "alive";
}

/**
 * The real CLIs start their tools in sessions of their own, where a group signal does not reach: the descendants are
 * collected first, while the parent links still hold, and each is signalled only if it is still the same process.
 */
async function endTree(root: ProcessIdentity, graceMs: number): Promise<KillReport> {
  if (check(root) !== "alive") return { signalled: 0, escalated: false, survivors: [] };
  const doomed = withDescendants(root.pid);
  for (const entry of doomed) signal(entry, "SIGTERM");
  const deadline = performance.now() + graceMs;
  while (doomed.some(isAlive) && performance.now() < deadline) await sleep(20);
  const stubborn = [...new Set([...doomed, ...doomed.flatMap((entry) => withDescendants(entry.pid))])].filter(isAlive);
  for (const entry of stubborn) signal(entry, "SIGKILL");
  for (let i = 0; stubborn.some(isAlive) && i < 100; i++) await sleep(20);
  const survivors = stubborn.filter(isAlive).map((entry) => entry.pid);
  return { signalled: doomed.length, escalated: stubborn.length > 0, survivors };
}

function withDescendants(rootPid: number): ProcessEntry[] {
  const all = allProcesses();
  const found: ProcessEntry[] = all.filter((entry) => entry.pid === rootPid || entry.group === rootPid);
  const known = new Set(found.map((entry) => entry.pid));
  for (let grew = true; grew; ) {
    grew = false;
    for (const entry of all) {
      if (known.has(entry.pid) || !known.has(entry.parent)) continue;
      known.add(entry.pid);
      found.push(entry);
      grew = true;
    }
  }
  return found;
}

function isAlive(entry: ProcessEntry): boolean {
  const now = entryOf(entry.pid);
  return now !== undefined && !now.defunct && now.startToken === entry.startToken;
}

function signal(entry: ProcessEntry, name: "SIGTERM" | "SIGKILL"): void {
  if (!isAlive(entry)) return;
  try {
    process.kill(entry.pid, name);
  } catch (error) {
    // It went away between the look and the signal, which is what we wanted.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
