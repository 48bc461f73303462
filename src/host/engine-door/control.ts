import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { EngineControl, EngineService } from "../../ports/engine-control.ts";
import type { EngineDoor } from "../../ports/engine-door.ts";
import { writeAtomically } from "../atomic-file.ts";
import { ageMs } from "../linux/process-table.ts";
import { unitName, unitText } from "../linux/systemd-unit.ts";
import { askToEnd } from "../processes.ts";
import { type KeeperOptions, keeperIsAlive, killEngine, successorIsAlive } from "./keeper.ts";

export interface ControlOptions extends Pick<EngineControl, "run" | "replacedWithinMs"> {
  readonly root: string;
  readonly door: EngineDoor;
  readonly keeper: KeeperOptions;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function engineControl({ root, door, keeper, env, ...rest }: ControlOptions): EngineControl {
  const { state, processes } = keeper;
  const log = join(state, "run", "engine.log");
  return {
    ...rest,
    door,
    log: { path: log, exists: () => existsSync(log) },
    uptimeMs: ageMs,
    successorIsAlive: () => successorIsAlive(keeper),
    keeperIsAlive: () => keeperIsAlive(keeper),
    askToEnd,
    isGone: (engine) => processes.check(engine) === "gone",
    kill: (engine) => killEngine(state, engine),
    service: process.platform === "linux" ? serviceOf(root, keeper, env) : undefined,
  };
}

function serviceOf(root: string, { state, engine }: KeeperOptions, env: ControlOptions["env"]): EngineService {
  const unit = unitName(root);
  const home = env.XDG_CONFIG_HOME ?? join(env.HOME ?? homedir(), ".config");
  const path = join(home, "systemd", "user", unit);
  // The rest of what the engine keeps is set by the service manager for every session of this person.
  const kept = { PATH: env.PATH ?? "/usr/local/bin:/usr/bin:/bin", OVERSTORY_PROJECT_ROOT: root };
  const text = unitText({ root, state, engine, env: kept });
  return {
    path,
    unit,
    text,
    enable: `systemctl --user enable --now ${unit}`,
    isWritten: () => existsSync(path) && readFileSync(path, "utf8") === text,
    write: () => writeAtomically(path, text),
  };
}
