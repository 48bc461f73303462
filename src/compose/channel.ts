import { existsSync, realpathSync } from "node:fs";
import { askForEngine, callEngine } from "../host/engine-contact/caller.ts";
import { randomIds } from "../host/ids.ts";
import { refuseLostDatabase } from "../host/project/lost-database.ts";
import { databaseIn, hasDatabase, stateDir } from "../host/project-place.ts";
import type { CommandChannel } from "../ports/command-channel.ts";
import { openSqlite } from "../store/sqlite.ts";
import * as channels from "../usecases/channel/command-channels.ts";
import {
  bindingFor,
  channelPorts,
  contactOf,
  isRemote,
  leaseMsFor,
  openStore,
  type Project,
  placeOf,
  thisProcess,
} from "./project.ts";

export async function channelFor(project: Project, options: Pick<DirectOptions, "warn"> = {}): Promise<CommandChannel> {
  if (isRemote(project.env)) return remoteChannel(project);
  const home = await homeOfOrchestrator(project);
  return directChannel(project, home === undefined ? options : { ...options, sentFrom: home });
}

/** The project of the orchestrator that this process works for, where that is another one than this. */
async function homeOfOrchestrator({ root, env }: Project): Promise<string | undefined> {
  const { OVERSTORY_TOKEN: token, OVERSTORY_PROJECT_ROOT: home } = env;
  if (token === undefined || token === "" || home === undefined || home === "" || home === root) return undefined;
  if (!existsSync(home) || realpathSync(home) === realpathSync(root)) return undefined;
  const { isOrchestratorAbroad } = await import("../usecases/identity/orchestrator-abroad.ts");
  const openHome = () => {
    const path = databaseIn(stateDir(home));
    return existsSync(path) ? openSqlite({ path, life: "command", readOnly: true }) : undefined;
  };
  const isOne = await isOrchestratorAbroad({ token, sight: thisProcess, ids: randomIds, openHome });
  return isOne ? home : undefined;
}

export interface DirectOptions {
  /** Prints a line for the user at once, while the command still runs. */
  readonly warn?: (line: string) => void;
  /** The project whose orchestrator we are, proven there. */
  readonly sentFrom?: string;
}

export function directChannel(project: Project, { sentFrom, warn }: DirectOptions = {}): CommandChannel {
  const { dir, env } = project;
  return channels.directChannel({
    hasDatabase: () => hasDatabase(dir),
    makeDatabase: async () => {
      refuseLostDatabase(placeOf(project));
      await (await bindingFor(env)).record(placeOf(project));
    },
    open: (options) => openStore(project, { life: "command", ...options }),
    ports: (store) => {
      const ports = channelPorts(project, store);
      return sentFrom === undefined ? ports : { ...ports, sight: { kind: "sent", process: thisProcess } };
    },
    contact: () => contactOf(project),
    replacedWithinMs: 2 * leaseMsFor(env),
    askForEngine: sentFrom === undefined ? undefined : () => askHome(sentFrom, project),
    warn,
  });
}

/** The engine of the orchestrator's own project starts the engine that its work here needs. */
async function askHome(home: string, { root, env }: Project): Promise<void> {
  const state = stateDir(home);
  askForEngine(state, root);
  await contactOf({ root: home, dir: state, env }).wake();
}

export const remoteChannel = ({ dir }: Pick<Project, "dir">): CommandChannel =>
  channels.remoteChannel((frame) => callEngine(dir, frame), randomIds);
