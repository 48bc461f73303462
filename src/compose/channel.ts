import { existsSync, realpathSync } from "node:fs";
import { Failure } from "../domain/failure.ts";
import type { Refusal } from "../domain/refusal.ts";
import type { Result } from "../domain/result.ts";
import { callEngine } from "../host/engine-contact/caller.ts";
import { randomIds } from "../host/ids.ts";
import { refuseLostDatabase } from "../host/project/lost-database.ts";
import { hasDatabase } from "../host/project-place.ts";
import type { ChannelCall, CommandChannel } from "../ports/command-channel.ts";
import type { EngineNotice } from "../ports/engine-contact.ts";
import type { Store } from "../ports/store.ts";
import { isOperationName, operationOf } from "../usecases/catalog.ts";
import { runUseCase } from "../usecases/channel/run-use-case.ts";
import { silenceWords } from "../usecases/engine/engine-work.ts";
import {
  bindingFor,
  channelPorts,
  contactOf,
  type Environment,
  leaseMsFor,
  openStore,
  type Project,
  thisProcess,
} from "./project.ts";

/** Set for agents that cannot reach the database file. */
const remoteOnly = "engine";

export const isRemote = (env: Environment): boolean => env.OVERSTORY_CHANNEL === remoteOnly;

export async function channelFor(project: Project, options: Pick<DirectOptions, "warn"> = {}): Promise<CommandChannel> {
  if (isRemote(project.env)) return remoteChannel(project);
  const home = await homeOfOrchestrator(project);
  return directChannel(project, home === undefined ? options : { ...options, sentFrom: home });
}

/**
 * A token is valid in the project that gave it out. In another repository an orchestrator acts for the operator, who
 * sent it there; every other token is refused. Returns the project of the orchestrator.
 */
async function homeOfOrchestrator({ root, env }: Project): Promise<string | undefined> {
  const { OVERSTORY_TOKEN: token, OVERSTORY_PROJECT_ROOT: home } = env;
  if (token === undefined || token === "" || home === undefined || home === "" || home === root) return undefined;
  if (!existsSync(home) || realpathSync(home) === realpathSync(root)) return undefined;
  const { isOrchestrator } = await import("./orchestrator-abroad.ts");
  return (await isOrchestrator(home, token)) ? home : undefined;
}

export interface DirectOptions {
  /** Prints a line for the user at once, while the command still runs. */
  readonly warn?: (line: string) => void;
  /** The project whose orchestrator we are, proven there. */
  readonly sentFrom?: string;
}

/** Runs the use case here, on the database file; opened for reading only when that is enough. */
export function directChannel(project: Project, { sentFrom, warn }: DirectOptions = {}): CommandChannel {
  let store: { readonly opened: Store; readonly readOnly: boolean; readonly isEmpty: boolean } | undefined;
  // Two connections of one process would wait for each other's locks while neither can run.
  const storeFor = (readOnly: boolean): Store => {
    const isThere = hasDatabase(project.dir);
    // A read found no database and got an empty store. Another process may have made the database since.
    if (store !== undefined && (readOnly || !store.readOnly) && !(store.isEmpty && isThere)) return store.opened;
    void store?.opened.close();
    store = { opened: openStore(project, { life: "command", readOnly }), readOnly, isEmpty: readOnly && !isThere };
    return store.opened;
  };
  return {
    call: async (call) => {
      const name = known(call);
      const { kind } = await operationOf(name);
      const hasNone = store === undefined || store.isEmpty;
      if (kind !== "read" && hasNone && !hasDatabase(project.dir)) await makeStore(project);
      const opened = channelPorts(project, storeFor(kind === "read"));
      const sight = sentFrom === undefined ? opened.sight : ({ kind: "sent", process: thisProcess } as const);
      const ports = { ...opened, sight, records: () => storeFor(false) };
      const run = () => runUseCase(ports, { ...call, name });
      const { result, due, mayStart } = await run().catch((error) => afterSilence(project, { error, run, warn }));
      ports.reach("command.after-commit");
      if (due) {
        ports.reach("command.before-wake");
        const contact = contactOf(project);
        // Inside an agent an engine is only told, never started.
        if (mayStart) tellOfSilence(await contact.ensure(), project, warn);
        else if (!(await contact.wake()) && sentFrom !== undefined) {
          const { askForEngine } = await import("./engines-abroad.ts");
          await askForEngine(sentFrom, project.root, project.env);
        }
      }
      return result;
    },
    changeCounter: async () => store?.opened.changeCounter(),
    close: async () => {
      await store?.opened.close();
    },
  };
}

interface Waiting<T> {
  readonly error: unknown;
  readonly run: () => Promise<T>;
  readonly warn: DirectOptions["warn"];
}

/**
 * An engine that was stopped in the middle of a transaction holds the database until its successor kills it. A use case
 * that failed with "busy" has changed nothing, so it runs again.
 */
async function afterSilence<T>(project: Project, { error, run, warn }: Waiting<T>, tries = 1): Promise<T> {
  const isBusy = error instanceof Failure && error.data.kind === "store-busy";
  const contact = contactOf(project);
  // If no engine runs, another process holds the database, and a new engine would have to wait for it too.
  const mayBeSilent = isBusy && tries < mostTries && contact.notice() !== undefined;
  const silent = mayBeSilent ? await contact.ensure() : undefined;
  if (silent === undefined) throw error;
  tellOfSilence(silent, project, warn);
  return run().catch((again) => afterSilence(project, { error: again, run, warn }, tries + 1));
}

/**
 * Each try waits as long as a writer does, so that six of them outlast the time for which a successor watches a silent
 * engine.
 */
const mostTries = 6;

/** Warns once for each silent engine: a waiting command comes here again and again. */
function tellOfSilence(silent: EngineNotice | undefined, { env }: Project, warn?: (line: string) => void): void {
  if (silent === undefined || silent.pid === toldOf) return;
  toldOf = silent.pid;
  warn?.(silenceWords({ replacedWithinMs: 2 * leaseMsFor(env) }));
}

let toldOf: number | undefined;

/** A clone of the repository brings the configuration but no state. */
async function makeStore({ root, dir, env }: Project): Promise<void> {
  refuseLostDatabase({ root, state: dir });
  await (await bindingFor(env)).record({ root, state: dir });
}

/** Sends the call to the engine; its request id makes repeating it after a broken connection harmless. */
export function remoteChannel(project: Pick<Project, "dir">): CommandChannel {
  return {
    call: async (call) => {
      const frame = JSON.stringify({ ...call, name: known(call), requestId: randomIds.next("request", 20) });
      const answer = JSON.parse(await callEngine(project.dir, frame)) as {
        result?: Result<unknown, Refusal>;
        problem?: string;
      };
      if (answer.result === undefined) throw new Error(answer.problem ?? "the engine answered nothing");
      return answer.result;
    },
    changeCounter: async () => undefined,
    close: async () => {},
  };
}

function known({ name }: ChannelCall) {
  if (!isOperationName(name)) throw new Error(`there is no operation called ${name}`);
  return name;
}
