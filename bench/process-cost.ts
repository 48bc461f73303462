import { readFileSync } from "node:fs";
import { allProcesses } from "../src/host/linux/process-table.ts";

const tickMs = 10;

/** CPU time a process has used so far, in milliseconds. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}

export const childrenOf = (pid: number): number =>
  allProcesses().filter((entry) => entry.parent === pid && !entry.defunct).length;

/** Memory of a process with its fair share of what it shares; undefined when it is gone. */
export function pssMegabytes(pid: number): number | undefined {
  try {
    const kilobytes = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
  } catch {
    // It ended since it was found.
    return undefined;
  }
}
