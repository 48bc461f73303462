import { writeFileSync } from "node:fs";
import type { KillPoint, ReachKillPoint } from "../ports/kill-points.ts";
import { isTestBuild } from "./build.ts";
import { pidsOf } from "./kill-victims.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * In a test build, kills by SIGKILL at the point that `OVERSTORY_TEST_KILL_AT` names: this process, or the processes
 * listed in `OVERSTORY_TEST_KILL_WHO` (`self`, or the names of `kill-victims.ts`). `OVERSTORY_TEST_KILL_ONCE` is a file that is
 * created first; with it there nobody dies any more, so that the successors live.
 */
export function killPointsFrom(env: Environment): ReachKillPoint {
  const target = isTestBuild ? env.OVERSTORY_TEST_KILL_AT : undefined;
  if (target === undefined) return () => {};
  return (name: KillPoint) => {
    if (name === target && isFirst(env.OVERSTORY_TEST_KILL_ONCE)) strike(env);
  };
}

function strike(env: Environment): void {
  const victims = (env.OVERSTORY_TEST_KILL_WHO ?? "self").split(",");
  const root = env.OVERSTORY_PROJECT_ROOT ?? process.cwd();
  for (const victim of victims.filter((name) => name !== "self")) {
    for (const pid of pidsOf(victim, root)) killIfThere(pid);
  }
  if (!victims.includes("self")) return;
  process.kill(process.pid, "SIGKILL");
  // Nothing after the kill-point may run, not even until the signal arrives.
  for (;;) Bun.sleepSync(1000);
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    // It left by itself since it was found: then it cannot be killed here.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

function isFirst(marker: string | undefined): boolean {
  if (marker === undefined) return true;
  try {
    writeFileSync(marker, `${process.pid}\n`, { flag: "wx" });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}
