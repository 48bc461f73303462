import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { EngineContact, EngineControl, EngineService } from "../../ports/engine-contact.ts";
import { writeAtomically } from "../file-access.ts";
import { ageMs } from "../linux/process-table.ts";
import { askToEnd } from "../processes.ts";
import { type KeeperOptions, keeperIsAlive, killEngine, successorIsAlive } from "./keeper.ts";

export interface ControlOptions extends Pick<EngineControl, "run" | "replacedWithinMs"> {
  readonly root: string;
  readonly contact: EngineContact;
  readonly keeper: KeeperOptions;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function engineControl({ root, contact, keeper, env, ...rest }: ControlOptions): EngineControl {
  const { state, processes } = keeper;
  const log = join(state, "run", "engine.log");
  return {
    ...rest,
    contact,
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

/** What a user service needs to know to bring a project's engine back after a reboot. */
interface UnitFacts {
  readonly root: string;
  /** The state directory. */
  readonly state: string;
  /** The command line of the engine. */
  readonly engine: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** One service per project, however deep its path. */
export const unitName = (root: string): string =>
  `overstory-${new Bun.CryptoHasher("sha256").update(root).digest("hex").slice(0, 12)}.service`;

/**
 * The text of the service. The engine leaves with success when nothing is left to do, so only a failure restarts it;
 * only its own process is ever signalled, since the turns it started outlive it by design.
 */
export function unitText({ root, state, engine, env }: UnitFacts): string {
  const variables = Object.entries(env).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`);
  return [
    "[Unit]",
    `Description=Overstory engine for ${escaped(root)}`,
    `ConditionPathExists=${escaped(state)}`,
    "",
    "[Service]",
    "Type=exec",
    ...variables,
    // A dollar sign would be read as a variable in a command line, and there alone.
    `ExecStart=${engine.map((word) => quoted(word).replaceAll("$", "$$$$")).join(" ")}`,
    "KillMode=process",
    "Restart=on-failure",
    "RestartSec=5",
    "",
    "[Install]",
    "WantedBy=default.target",
    "",
  ].join("\n");
}

const quoted = (text: string): string => `"${escaped(text).replaceAll('"', '\\"')}"`;

/** A percent sign starts a specifier, a backslash an escape. */
const escaped = (text: string): string =>
  text.replaceAll("\\", "\\\\").replaceAll("%", "%%").replaceAll("\n", "\\n").replaceAll("\t", "\\t");
