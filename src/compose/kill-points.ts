import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { KillPoint, ReachKillPoint } from "../ports/kill-points.ts";
import { isTestBuild } from "./build.ts";
import { overstoryDir } from "./self.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * In a test build, kills by SIGKILL at the point that `OVERSTORY_TEST_KILL_AT` names: this process, or the processes
 * listed in `OVERSTORY_TEST_KILL_WHO` (`self`, `engine`, `keeper`). `OVERSTORY_TEST_KILL_ONCE` is a file that is
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
  for (const victim of victims.filter((name) => name !== "self")) {
    const pid = pidOf(victim, env.OVERSTORY_PROJECT_ROOT ?? process.cwd());
    if (pid !== undefined) process.kill(pid, "SIGKILL");
  }
  if (!victims.includes("self")) return;
  process.kill(process.pid, "SIGKILL");
  // Nothing after the kill-point may run, not even until the signal arrives.
  for (;;) Bun.sleepSync(1000);
}

function pidOf(victim: string, root: string): number | undefined {
  try {
    return JSON.parse(readFileSync(join(overstoryDir(root), "run", `${victim}.json`), "utf8")).pid;
  } catch (error) {
    // Nobody of that name is there yet, or any more: then there is nobody to kill.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
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
