import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { KillPoint, ReachKillPoint } from "../ports/kill-points.ts";
import type { Store } from "../ports/store.ts";
import { readIdentity } from "./engine-contact/keeper.ts";
import { allProcesses, carries } from "./linux/process-table.ts";
import { linuxProcesses } from "./processes.ts";
import { stateDir } from "./project-place.ts";

/** Replaced at build time. Running from source is neither a release nor a test build. */
declare const OV_TEST_BUILD: boolean | undefined;

/** Only a test build listens to OVERSTORY_TEST_* variables; a release contains no trace of them. */
export const isTestBuild: boolean = typeof OV_TEST_BUILD !== "undefined" && OV_TEST_BUILD === true;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * In a test build, kills by SIGKILL at the point that `OVERSTORY_TEST_KILL_AT` names, or at the first of several with
 * commas between them: this process, or the processes listed in `OVERSTORY_TEST_KILL_WHO` (`self`, or the names of
 * `killVictims`). `OVERSTORY_TEST_KILL_ONCE` is a file that is created first, with the point in it; while it exists no process
 * dies any more, so that the successors live. `OVERSTORY_TEST_KILL_IN` names the
 * only sort of process that listens: `engine`, `supervisor` or `command`. With `OVERSTORY_TEST_KILL_WITH=SIGSTOP` the
 * process that gets there is stopped instead, and goes on from there when it is continued.
 */
export function killPointsFrom(env: Environment): ReachKillPoint {
  const targets = isTestBuild ? targetOf(env)?.split(",") : undefined;
  if (targets === undefined) return () => {};
  return (name: KillPoint) => {
    if (targets.includes(name) && isFirst(name, env.OVERSTORY_TEST_KILL_ONCE)) strike(env);
  };
}

let commits = 0;

/**
 * The same store. In a test build it listens to `OVERSTORY_TEST_KILL_AT=tx:<n>` as well: the n-th write transaction of
 * this process dies when all is done but its commit, with `tx:<n>+` right after that.
 */
export function killAtCommits(store: Store, env: Environment): Store {
  if (!isTestBuild) return store;
  const point = targetOf(env) ?? "";
  const [, wanted, after] = /^tx:(\d+)(\+?)$/.exec(point) ?? [];
  if (wanted === undefined) return store;
  const edge = after === "" ? "before" : "after";
  const pass = (commit: number, at: typeof edge): void => {
    if (commit === Number(wanted) && at === edge && isFirst(point, env.OVERSTORY_TEST_KILL_ONCE)) strike(env);
  };
  return {
    ...store,
    transaction: async (work) => {
      let commit = 0;
      const value = await store.transaction(async (tx) => {
        const made = await work(tx);
        commit = ++commits;
        pass(commit, "before");
        return made;
      });
      pass(commit, "after");
      return value;
    },
  };
}

function targetOf(env: Environment): string | undefined {
  const listener = env.OVERSTORY_TEST_KILL_IN;
  return listener === undefined || listener === thisPart() ? env.OVERSTORY_TEST_KILL_AT : undefined;
}

/** What this process is started as. */
function thisPart(): KillVictim {
  const [first, second] = process.argv.slice(2);
  if (second !== "run") return "command";
  return first === "turn" ? "supervisor" : first === "engine" ? "engine" : "command";
}

function strike(env: Environment): void {
  const victims = (env.OVERSTORY_TEST_KILL_WHO ?? "self").split(",");
  const root = env.OVERSTORY_PROJECT_ROOT ?? process.cwd();
  const found = victims.filter((name) => name !== "self").flatMap((victim) => pidsOf(victim, root));
  const others = found.filter((pid) => pid !== process.pid);
  if (env.OVERSTORY_TEST_KILL_WITH === "SIGSTOP") {
    process.kill(process.pid, "SIGSTOP");
    return;
  }
  // All at one moment: none of them has time to replace another.
  for (const pid of others) signalIfThere(pid, "SIGSTOP");
  for (const pid of others) signalIfThere(pid, "SIGKILL");
  if (!victims.includes("self") && !found.includes(process.pid)) return;
  process.kill(process.pid, "SIGKILL");
  // Nothing after the kill-point may run, not even until the signal arrives.
  for (;;) Bun.sleepSync(1000);
}

function signalIfThere(pid: number, signal: "SIGSTOP" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It left by itself since it was found: then it cannot be killed here.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

function isFirst(point: string, marker: string | undefined): boolean {
  if (marker === undefined) return true;
  try {
    writeFileSync(marker, `${point}\n`, { flag: "wx" });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

/**
 * Processes that can be killed in place of the one that reaches a kill-point. The victim is looked up at that moment.
 */
const killVictims = ["engine", "keeper", "supervisor", "agent", "command"] as const;
export type KillVictim = (typeof killVictims)[number];

/** Processes of the project at `root` that play this part now. Several agents have several supervisors. */
export function pidsOf(victim: string, root: string): number[] {
  if (victim === "keeper") return keeperOf(root);
  const found = allProcesses()
    .filter(({ pid, defunct }) => !defunct && carries(pid, "OVERSTORY_PROJECT_ROOT", root))
    .filter(({ pid }) => partOf(wordsOf(pid)) === victim);
  if (victim === "command") return found.map(({ pid }) => pid);
  // A child has the words of its parent until it becomes another program.
  const all = new Set(found.map(({ pid }) => pid));
  return found.filter(({ parent }) => !all.has(parent)).map(({ pid }) => pid);
}

function keeperOf(root: string): number[] {
  const keeper = readIdentity(join(stateDir(root), "run", "keeper.json"));
  return keeper !== undefined && linuxProcesses.check(keeper) === "alive" ? [keeper.pid] : [];
}

function partOf([program = "", first, second]: readonly string[]): KillVictim | undefined {
  // A shell that waits at its start gate, or a shim that is about to become `ov`, does not count yet.
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
