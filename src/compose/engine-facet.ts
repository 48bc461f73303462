import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { Failure } from "../domain/failure.ts";
import { invalid } from "../domain/refusal.ts";
import { no, ok } from "../domain/result.ts";
import { writeAtomically } from "../host/atomic-file.ts";
import { keeperIsAlive, killEngine, successorIsAlive } from "../host/engine-door/keeper.ts";
import { ageMs } from "../host/linux/process-table.ts";
import { unitName, unitText } from "../host/linux/systemd-unit.ts";
import { askToEnd, linuxProcesses } from "../host/processes.ts";
import type { EngineNotice } from "../ports/engine-door.ts";
import type { EngineControl, EngineInstall, Workload } from "../surfaces/cli/facets/engine.ts";
import { silenceWords } from "./channel.ts";
import { operatorOnly } from "./operator-only.ts";
import { doorOf, keeperOptions, openStore, type Project } from "./project.ts";
import { runUntilIdle } from "./run-until-idle.ts";

const startMs = 10_000;
/** An engine that leaves first finishes the worktree it is making. */
const leaveMs = 15_000;
/** An idle engine leaves within this time. */
const promptMs = 1_000;
const lookMs = 20;

/** The engine of this project, as a person sees and steers it. */
export function makeEngineControl(project: Project, warn: (line: string) => void): EngineControl {
  const door = doorOf(project);
  const live = (): EngineNotice | undefined => door.notice();
  const answering = async (): Promise<EngineNotice | undefined> => ((await door.answers()) ? live() : undefined);
  return {
    start: async () => {
      const refused = await operatorOnly(project.dir, project.env, "start an engine");
      if (refused !== undefined) return no(refused);
      const before = live();
      const silent = await door.ensure();
      if (silent !== undefined) warn(silenceWords(project.env));
      // A successor watches the silent engine for a while before it replaces it.
      const engine = await until(answering, startMs, () => successorIsAlive(keeperOptions(project)));
      if (engine === undefined) {
        const problem = `it did not start within ${startMs / 1000} s; see ${join(project.dir, "run", "engine.log")}`;
        throw new Failure({ kind: "engine-unreachable", problem });
      }
      return ok({ pid: engine.pid, started: before?.pid !== engine.pid });
    },
    status: async () => {
      const engine = live();
      const path = join(project.dir, "run", "engine.log");
      const rest = { log: existsSync(path) ? path : null, ...(await workload(project)) };
      if (engine === undefined) {
        return { running: false, answers: null, pid: null, socket: null, version: null, uptimeMs: null, ...rest };
      }
      const { pid, socket, version } = engine;
      const answers = await door.answers();
      return { running: true, answers, pid, socket, version, uptimeMs: ageMs(engine), ...rest };
    },
    stop: async () => {
      const refused = await operatorOnly(project.dir, project.env, "stop the engine");
      if (refused !== undefined) return no(refused);
      await door.endLost();
      // One that is only just being started has no notice yet.
      const engine =
        live() ?? (keeperIsAlive(keeperOptions(project)) ? await until(async () => live(), startMs) : undefined);
      if (engine === undefined || !askToEnd(engine)) {
        return ok({ wasRunning: false, stopped: true, pid: null, ...(await workload(project)) });
      }
      const left = async (): Promise<true | undefined> => (linuxProcesses.check(engine) === "gone" ? true : undefined);
      if ((await until(left, promptMs)) === undefined && !(await door.answers()))
        warn(`the engine does not answer; it is killed if it is still there in ${leaveMs / 1000} s`);
      let gone = await until(left, leaveMs);
      if (gone === undefined && !(await door.answers())) {
        killEngine(project.dir, engine);
        gone = await until(left, leaveMs);
      }
      // A keeper that has yet to notice the end keeps others from starting an engine, and then starts none itself.
      await until(
        async () => (keeperIsAlive(keeperOptions(project)) && live() === undefined ? undefined : true),
        promptMs,
      );
      return ok({ wasRunning: true, stopped: gone === true, pid: engine.pid, ...(await workload(project)) });
    },
    install: async ({ print }) => {
      const refused = await operatorOnly(project.dir, project.env, "install the engine");
      if (refused !== undefined) return no(refused);
      if (process.platform !== "linux")
        return no(invalid("engine install", "writes a systemd unit, and this is no Linux"));
      return ok(install(project, print));
    },
    runUntilIdle: async ({ timeoutMs }) => {
      const refused = await operatorOnly(project.dir, project.env, "run the engine");
      if (refused !== undefined) return no(refused);
      const anotherEngine = async (): Promise<boolean> => {
        const engine = live();
        if (engine === undefined || (await door.answers())) return engine !== undefined;
        warn(silenceWords(project.env));
        return false;
      };
      const ending = await runUntilIdle(project, { timeoutMs, anotherEngine });
      return ok({ ending, ...(await workload(project)) });
    },
  };
}

async function workload(project: Project): Promise<Workload> {
  const store = openStore(project, { life: "command", readOnly: true });
  try {
    return await store.read(async (tx) => {
      let queuedTurns = 0;
      for (const agent of await tx.agents.list({ live: true })) {
        if ((await tx.turns.queuedFor(agent.id)) !== undefined) queuedTurns++;
      }
      return { runningTurns: (await tx.turns.running()).length, queuedTurns };
    });
  } finally {
    await store.close();
  }
}

function install(project: Project, print: boolean): EngineInstall {
  const { root, env } = project;
  const unit = unitName(root);
  const home = env.XDG_CONFIG_HOME ?? join(env.HOME ?? homedir(), ".config");
  const path = join(home, "systemd", "user", unit);
  // The rest of what the engine keeps is set by the service manager for every session of this person.
  const kept = { PATH: env.PATH ?? "/usr/local/bin:/usr/bin:/bin", OVERSTORY_PROJECT_ROOT: root };
  const text = unitText({ root, state: project.dir, engine: keeperOptions(project).engine, env: kept });
  const same = existsSync(path) && readFileSync(path, "utf8") === text;
  if (!print && !same) writeAtomically(path, text);
  return { path, unit, text, written: !print && !same, enable: `systemctl --user enable --now ${unit}` };
}

async function until<T>(
  look: () => Promise<T | undefined>,
  ms: number,
  isComing: () => boolean = () => false,
): Promise<T | undefined> {
  const deadline = performance.now() + ms;
  for (;;) {
    const found = await look();
    if (found !== undefined || (performance.now() > deadline && !isComing())) return found;
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}
