import { readdirSync, readFileSync } from "node:fs";
import type { ProcessIdentity } from "../../domain/process/process.ts";

let boot: string | undefined;

/** Changes with every boot, so an identity recorded before a reboot never matches. */
export function bootId(): string {
  boot ??= readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  return boot;
}

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Clock ticks after boot at which it started. */
  readonly startToken: string;
  /** Dead, but not yet waited for by its parent. */
  readonly defunct: boolean;
  /** The process is on a processor now, or ready to run. */
  readonly computing: boolean;
  /** Clock ticks that processors have spent on the process. */
  readonly ticks: number;
}

/** One row of /proc, or undefined when there is no such process. */
export function entryOf(pid: number): ProcessEntry | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
  // The name in parentheses may itself hold spaces and parentheses: fields count from the last one.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return {
    pid,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    startToken: fields[19] ?? "",
    defunct: fields[0] === "Z" || fields[0] === "X",
    computing: fields[0] === "R",
    ticks: Number(fields[11]) + Number(fields[12]),
  };
}

export function identityOf(pid: number): ProcessIdentity | undefined {
  const entry = entryOf(pid);
  return entry === undefined ? undefined : { pid, startToken: entry.startToken, bootId: bootId() };
}

/**
 * The number that was given last to a new process or thread; undefined where the system does not tell. While it stays the
 * same, no process was started.
 */
export function lastPid(): number | undefined {
  const last = Number(/ (\d+)\n?$/.exec(readFileSync("/proc/loadavg", "latin1"))?.[1]);
  return Number.isInteger(last) ? last : undefined;
}

/** Every process there is now. Rows may vanish while they are read. */
export function allProcesses(): ProcessEntry[] {
  const found: ProcessEntry[] = [];
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const entry = entryOf(pid);
    if (entry !== undefined) found.push(entry);
  }
  return found;
}

/**
 * Was this process started with the variable set to this value? A child inherits it, also after a change of its session
 * or parent. False where the system does not tell, as for processes of other users.
 */
export function carries(pid: number, variable: string, value: string): boolean {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, "latin1")}\0`.includes(`\0${variable}=${value}\0`);
  } catch (error) {
    if (isGone(error) || codeOf(error) === "EACCES" || codeOf(error) === "EPERM") return false;
    throw error;
  }
}

/** How long a process has been running, by the clock that counts since boot. */
export const ageMs = ({ startToken }: Pick<ProcessIdentity, "startToken">): number =>
  Math.max(0, Math.round((ticksSinceBoot() - Number(startToken)) * msPerTick));

/** The start token of a process that was started so long ago. */
export const startTokenAgo = (ms: number): number => ticksSinceBoot() - ms / msPerTick;

/** The tick rate that Linux reports to programs, at any rate of the kernel itself. */
const msPerTick = 10;

const ticksSinceBoot = (): number => (Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) * 1000) / msPerTick;

const isGone = (error: unknown): boolean => codeOf(error) === "ENOENT" || codeOf(error) === "ESRCH";

const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined);

/** Kills this one process, not its children. Does nothing when another process has the pid by now. */
export function killOne(identity: ProcessIdentity): void {
  if (identity.bootId !== bootId() || entryOf(identity.pid)?.startToken !== identity.startToken) return;
  try {
    process.kill(identity.pid, "SIGKILL");
  } catch (error) {
    // The process ended between the look and the signal, as wanted.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

/** Deeper than any chain of shells and tools, and an end should /proc ever show a circle. */
const deepest = 64;

/**
 * The visible ancestors of this process, nearest first, and then the leaders of their sessions and groups. A process in
 * the background has no ancestors once its parent has left, but it keeps its session and group.
 */
export function ancestorsOfThisProcess(): readonly ProcessIdentity[] {
  known ??= processAndAbove(process.pid).filter(({ pid }) => pid !== process.pid);
  return known;
}

/** Read once: a parent that leaves later has still started us. */
let known: readonly ProcessIdentity[] | undefined;

/** A process, its visible ancestors, nearest first, and then the leaders of their sessions and groups. */
export function processAndAbove(of: number): readonly ProcessIdentity[] {
  const found = new Map<number, ProcessIdentity>();
  const leaders = new Set<number>();
  for (let pid = of; pid > 1 && found.size <= deepest; ) {
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
  return [...found.values()];
}
