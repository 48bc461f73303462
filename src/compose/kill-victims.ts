import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readIdentity } from "../host/engine-contact/keeper.ts";
import { allProcesses, carries } from "../host/linux/process-table.ts";
import { linuxProcesses } from "../host/processes.ts";
import { stateDir } from "../host/project-place.ts";

/** Who can be killed besides whoever reaches a kill-point: each is found anew at the moment of the blow. */
export const killVictims = ["engine", "keeper", "supervisor", "agent", "command"] as const;
export type KillVictim = (typeof killVictims)[number];

/** Processes of the project at `root` that play this part now. Several agents have several supervisors. */
export function pidsOf(victim: string, root: string): number[] {
  if (victim === "keeper") return keeperOf(root);
  return allProcesses()
    .filter(({ pid, defunct }) => !defunct && carries(pid, "OVERSTORY_PROJECT_ROOT", root))
    .filter(({ pid }) => partOf(wordsOf(pid)) === victim)
    .map(({ pid }) => pid);
}

function keeperOf(root: string): number[] {
  const keeper = readIdentity(join(stateDir(root), "run", "keeper.json"));
  return keeper !== undefined && linuxProcesses.check(keeper) === "alive" ? [keeper.pid] : [];
}

function partOf([program = "", first, second]: readonly string[]): KillVictim | undefined {
  // A shell that waits at its gate, or a shim that is about to become `ov`, is nobody yet.
  if (!/(^|\/)ov(-[^/]*)?$/.test(program)) return undefined;
  if (first === "scripted-agent") return "agent";
  if (second === "run" && first === "turn") return "supervisor";
  return second === "run" && first === "engine" ? "engine" : "command";
}

function wordsOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    // Gone since it was listed.
    return [];
  }
}
