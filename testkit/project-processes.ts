import { readdirSync } from "node:fs";
import { ageMs, allProcesses, bootId, entryOf, killOne, type ProcessEntry } from "../src/host/linux/process-table.ts";
import { aboutProcess } from "./about-process.ts";

/** The processes that work for one test project: those that name its directory in their environment. */
export interface ProjectProcesses {
  /** Pids of those that are alive. Cheap enough to ask every few milliseconds. */
  pids(): number[];
  /** One line for each: its pid, what it waits for, its command line. */
  table(): string;
  /** Kills all of them and what they started, which may have cleared its environment. */
  end(): Promise<void>;
}

/** A process of this age shows its own environment: between fork and exec it shows that of its parent. */
const settledMs = 1_000;
/** For so long a number that belonged to another process is not looked at again; no number is given out twice so soon. */
const memoryMs = 1_000;
const patienceMs = 50_000;

export function projectProcesses(base: string): ProjectProcesses {
  const isOurs = (pid: number): boolean => aboutProcess(pid, "environ").includes(`${base}/`);
  let strangers = new Set<number>();
  let lookedAt = 0;
  const pids = (): number[] => {
    const now = performance.now();
    const before = now - lookedAt < memoryMs ? strangers : new Set<number>();
    lookedAt = now;
    strangers = new Set();
    return listed().filter((pid) => {
      if (before.has(pid)) return strangers.add(pid) && false;
      const entry = entryOf(pid);
      if (entry === undefined || entry.defunct) return false;
      if (isOurs(pid)) return true;
      if (ageMs(entry) > settledMs) strangers.add(pid);
      return false;
    });
  };
  const table = (): string =>
    pids()
      .map(
        (pid) =>
          `${pid} ${aboutProcess(pid, "wchan")} ${aboutProcess(pid, "cmdline").replaceAll("\0", " ").slice(0, 300)}`,
      )
      .join("\n");
  /** `linuxProcesses.endTree` asks first and proves that it overlooked none: too slow for the end of each test. */
  const end = async (): Promise<void> => {
    const deadline = performance.now() + patienceMs;
    for (let left = treeOf(isOurs); left.length > 0; left = treeOf(isOurs)) {
      if (performance.now() > deadline) throw new Error(`processes of the project cannot be ended\n${table()}`);
      for (const { pid, startToken } of left) killOne({ pid, startToken, bootId: bootId() });
      await Bun.sleep(2);
    }
  };
  return { pids, table, end };
}

const listed = (): number[] =>
  readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid);

function treeOf(isOurs: (pid: number) => boolean): ProcessEntry[] {
  const all = allProcesses().filter(({ pid, defunct }) => pid !== process.pid && !defunct);
  const found = new Set(all.map(({ pid }) => pid).filter(isOurs));
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const { pid, parent, group, session } of all)
      if ([parent, group, session].some((leader) => found.has(leader))) found.add(pid);
  }
  return all.filter(({ pid }) => found.has(pid));
}
