import { existsSync } from "node:fs";
import { join } from "node:path";
import { config, watchConfig } from "../config/config.ts";
import { failureOf } from "../domain/failure.ts";
import { runEngine } from "../engine/engine.ts";
import { seatedStore } from "../engine/engine-lease.ts";
import type { EnginePorts } from "../engine/ports.ts";
import { enginesAbroad } from "../host/engine-contact/caller.ts";
import { engineSide } from "../host/engine-contact/engine-side.ts";
import { openRepository } from "../host/git/repository.ts";
import { randomIds } from "../host/ids.ts";
import { isTestBuild, killPointsFrom } from "../host/kill-points.ts";
import { lockLimitOf } from "../host/linux/mark.ts";
import { killOne, processAndAbove } from "../host/linux/process-table.ts";
import { cutLog, redactLog, say } from "../host/log-files.ts";
import { notifyChannels } from "../host/notify-channels.ts";
import { oldFiles } from "../host/old-files.ts";
import { placeOvShim, selfCommand, serviceEnvironment, settleIn } from "../host/own-program.ts";
import { leaveAsEngine, serve } from "../host/place-watch.ts";
import { linuxProcesses } from "../host/processes.ts";
import { knownSettings, projectFiles } from "../host/project-files.ts";
import { databaseIn, isOldState, placeAround, readRecord } from "../host/project-place.ts";
import { unconfinedBecause } from "../host/sandbox/project-sandbox.ts";
import { removeScratch } from "../host/turn-files.ts";
import type { EngineSide } from "../ports/engine-contact.ts";
import type { Store } from "../ports/store.ts";
import { shrinkSparseDatabase } from "../store/database-files.ts";
import { exits } from "../surfaces/shared/exits.ts";
import { readFrame } from "../usecases/channel/read-frame.ts";
import type { ChannelPorts } from "../usecases/channel/run-use-case.ts";
import { isConfirmedCommand, tellOfChangedSettings } from "../usecases/config/judging-settings.ts";
import { record } from "../usecases/events/record.ts";
import type { CallerSight, ProcessSight } from "../usecases/identity/identify.ts";
import { projectWorktrees } from "./agent-parts.ts";
import { engineCall } from "./engine-call.ts";
import { mergingParts } from "./merging.ts";
import {
  bindingFor,
  channelPorts,
  clockFor,
  contactOf,
  keeperOptions,
  leaseMsFor,
  openStore,
  type Project,
  placeOf,
  redactionFor,
  settingsOf,
  withoutOverrides,
} from "./project.ts";
import { version } from "./version.ts";
import { announcing, withWeb } from "./web.ts";

interface EngineOptions {
  /** Ends an engine that a user runs in the foreground. */
  readonly stop?: AbortSignal;
  /** Changes the project for this engine only. */
  readonly adapt?: (project: Project) => Project;
}

/** The engine process of one project, until it has nothing to do or is asked to end. */
export async function engineMain(opened: Project, options: EngineOptions = {}): Promise<void> {
  // Most of its work comes in short bursts, in which compiling at once takes the processor from the git that it waits for.
  settleIn({ reluctance: 8 });
  cutLogs(opened);
  await recordIfNew(opened);
  const stop = options.stop ?? stopOnSignals();
  const ownSide = engineSide({ ...keeperOptions(opened), version });
  for (let project = opened; ; ) {
    const isForeground = options.stop !== undefined;
    const end = await serveWith(project, { ...options, ownSide, stop, isForeground });
    // The engine was asked to end while it took up new settings. Its keeper must not stay on record.
    if (end === "unseated" && project !== opened && stop.aborted && !isForeground) await ownSide.releaseKeeper();
    if (end !== "outdated") return;
    const { root, dir, env } = opened;
    const changed = await config({ root, state: dir }, env);
    // If the new settings cannot be used, a user is still editing them. The engine keeps the old ones until its next
    // look.
    project = changed.ok ? { root, dir, env, ...changed.value } : { ...project };
  }
}

/** Runs an engine with the settings of `opened`. */
async function serveWith(
  opened: Project,
  options: EngineOptions & { readonly ownSide: EngineSide; readonly stop: AbortSignal; readonly isForeground: boolean },
): ReturnType<typeof runEngine> {
  const { ownSide, stop, adapt, isForeground } = options;
  const [program = process.execPath] = selfCommand();
  const project = adapt === undefined ? opened : adapt(opened);
  const { config: settings } = project;
  redactLog(redactionFor(project).said);
  const leave = leaveAsEngine(
    project.root,
    // A keeper starts an engine again that exits with anything but 0.
    isForeground
      ? { lost: exits.setup, replaced: exits.busy, again: exits.busy }
      : { lost: exits.ok, replaced: exits.ok, again: exits.busy },
  );
  const served = serve(placeOf(project), openStore(project, { life: "process", isWatched: true }), leave);
  const { store: seated, holdTo } = seatedStore(served.store, leave.replaced);
  const announced = announcing(seated);
  const { store } = announced;
  placeOvShim(project.dir);
  const mcp = settings.engine.mcpHttp ? (await import("./mcp-http.ts")).mcpHttp(project, store) : undefined;
  const web = isForeground ? undefined : withWeb(ownSide, project, announced, mcp);
  const webSide = web ?? ownSide;
  const side = mcp === undefined ? webSide : mcp.beside(webSide);
  const repository = openRepository(project.root);
  const memory = knownSettings(opened.dir);
  const ports: EnginePorts = {
    root: project.root,
    store,
    holdTo,
    clock: clockFor(project.env),
    ids: randomIds,
    reach: killPointsFrom(project.env),
    processes: linuxProcesses,
    killOne,
    worktrees: projectWorktrees(project, repository),
    ...mergingParts(project, store, repository),
    // A person who runs the engine in the foreground is its keeper.
    side: {
      ...side,
      ...(isForeground ? { keeperIsAlive: () => true } : {}),
      replaceKeeper: () => {
        served.check();
        side.replaceKeeper();
      },
    },
    startSupervisor: (turnId, fence, onExit) => startSupervisor(project, turnId, fence, onExit),
    oldFiles: oldFiles(project.dir),
    abroad: enginesAbroad(project.dir, async (at) => {
      const { root, state } = placeAround(at);
      await contactOf({ root, dir: state, env: withoutOverrides(project.env) }).ensure();
    }),
    notifying: {
      project: settings.project.name,
      channels: notifyChannels(settings.notify, serviceEnvironment(project.env, project.root), () =>
        isConfirmedCommand(memory, opened.config),
      ),
      bell: settings.notify.bell,
      debounceMs: settings.notify.debounceMs,
    },
    forgetEnvironment: (path) => void projectFiles(project).removeEnvironment(path),
    shrinkDatabase: () => shrinkSparseDatabase(databaseIn(project.dir)),
    forgetScratch: (agentName) => removeScratch(project.dir, agentName),
    report: (error) => reportFailure(project, store, error),
    answer: (frame, peer) => answer(project, store, frame, peer),
    worktreePath: (agentName) => join(project.root, project.config.worktrees.baseDir, agentName),
    logDir: (agentName, turnId) => join(project.dir, "logs", agentName, `${timestamp(project)}-${turnId}`),
    rules: settingsOf(project),
    settings: {
      maxTurns: settings.engine.maxTurns > 0 ? settings.engine.maxTurns : Number.MAX_SAFE_INTEGER,
      maxTurnsPerRun: settings.agents.maxConcurrent,
      leaseMs: leaseMsFor(project.env),
      idleExitMs: settings.engine.idleExitMs,
      canonicalBranch: settings.project.canonicalBranch,
      budgets: settings.budgets,
      retention: {
        "history.retentionDays": settings.history.retentionDays,
        "snapshot.retentionDays": settings.snapshot.retentionDays,
        "mail.retentionDays": settings.mail.retentionDays,
        "merge.keepRefsDays": settings.merge.keepRefsDays,
        "events.retentionDays": settings.events.retentionDays,
        "logs.retentionDays": settings.logs.retentionDays,
        "costs.retentionDays": settings.costs.retentionDays,
        "history.landedDays": settings.history.landedDays,
        "merge.keepLogsDays": settings.merge.keepLogsDays,
        "merge.keepReceiptsDays": settings.merge.keepReceiptsDays,
        "merge.keepAttemptsDays": settings.merge.keepAttemptsDays,
      },
      mostEvents: settings.events.maxRows,
      watchdog: settings.watchdog,
    },
    // A person who runs the engine in the foreground may have limited it.
    lockLimit: () => (isForeground ? undefined : lockLimitOf("self")),
    missingProgram: () => (existsSync(program) ? undefined : program),
    giveUp: () => process.exit(1),
    settingsChanged: watchConfig(placeOf(opened), opened.env, opened),
  };
  try {
    await tellOfChangedSettings(opened.config, { store, memory, ids: randomIds, now: ports.clock.now() });
    return await runEngine(ports, stop);
  } finally {
    await web?.answered();
    await store.close();
  }
}

/** An engine starts with a long log as well: a full disk, for example, must not keep it from making room. */
function cutLogs({ dir }: Project): void {
  for (const name of ["engine.log", "supervisors.log"]) {
    try {
      cutLog(join(dir, "run", name));
    } catch (error) {
      say(`${new Date().toISOString()} ${name} could not be cut: ${String(error)}\n`);
    }
  }
}

/** A project that was never bound, as after a clone, is written down before anything long-lived relies on its place. */
async function recordIfNew({ root, dir, env }: Project): Promise<void> {
  if (isOldState(dir) || readRecord(dir) !== undefined) return;
  await (await bindingFor(env)).record({ root, state: dir });
}

/** To the engine's log, and as an event when the store takes it. */
function reportFailure(project: Project, store: Store, error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  say(`${new Date().toISOString()} ${text}\n`);
  const now = clockFor(project.env).now();
  store
    .transaction((tx) => record(tx, now, { source: "engine", type: "engine_error", level: "error", data: { text } }))
    .catch(() => say("the failure could not be stored as an event\n"));
}

function stopOnSignals(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stop.abort());
  return stop.signal;
}

/**
 * Turns the compiler off for supervisors. A supervisor mostly waits: compiling its code costs more than running it, and
 * twice the memory. The agent's own environment does not get this variable.
 */
const interpreted = { BUN_JSC_useJIT: "0" };

function startSupervisor(project: Project, turnId: string, fence: number, onExit: () => void): void {
  linuxProcesses.startDetached(
    [...selfCommand(), "turn", "run", turnId, "--fence", String(fence), "--project", project.root],
    {
      env: { ...serviceEnvironment(project.env, project.root), ...interpreted },
      logFile: join(project.dir, "run", "supervisors.log"),
      onExit,
    },
  );
}

const timestamp = (project: Project): string =>
  new Date(clockFor(project.env).now()).toISOString().replace(/[:.]/g, "-");

/**
 * The facts about a caller at the other end of the engine's socket. Tokens count there only where the system confines agents.
 * A confined process cannot leave the process tree of its agent, so its ancestors tell which agent it belongs to. Tests can
 * play that agents are confined.
 */
function connectionSight({ dir, config, env }: Project, peer: () => number | undefined): CallerSight {
  if (isTestBuild && env.OVERSTORY_TEST_CONFINED === "1") return { kind: "connection", takesTokens: true };
  const { sandbox: settings } = config;
  if (settings.mode !== "os" || unconfinedBecause({ settings, state: dir }) !== undefined)
    return { kind: "connection", takesTokens: false };
  const pid = peer();
  if (pid === undefined) return { kind: "connection", takesTokens: false };
  const process: ProcessSight = {
    kind: "process",
    mark: () => lockLimitOf(pid),
    ancestors: () => processAndAbove(pid),
  };
  return { kind: "connection", takesTokens: true, process };
}

/** Answers one request of a remote caller: runs the operation in this process, for the agent whose token the request carries. */
async function answer(project: Project, store: Store, text: string, peer: () => number | undefined): Promise<string> {
  try {
    const sight = connectionSight(project, peer);
    const asked = await readFrame(text);
    if (!asked.ok) return JSON.stringify({ result: asked });
    const ports: ChannelPorts = { ...channelPorts(project, store), sight };
    const { token, ...frame } = asked.value;
    return JSON.stringify({ result: await engineCall({ project, store, ports, token }).run(frame) });
  } catch (error) {
    // The caller must not wait for an answer that never comes.
    const failure = failureOf(error);
    if (failure.kind === "unexpected") reportFailure(project, store, error);
    return JSON.stringify({ failure });
  }
}

/** Is the engine in a command's own process. It leaves as soon as nothing is left to do. */
export const engineInForeground = (project: Project, stop: AbortSignal): Promise<void> =>
  engineMain(project, { stop, adapt: leavingAtOnce });

/** A supervisor that has settled its turn looks for an engine and must still find us, lest it start one behind our back. */
const lastWordsMs = 300;

function leavingAtOnce(project: Project): Project {
  const { config } = project;
  return { ...project, config: { ...config, engine: { ...config.engine, idleExitMs: lastWordsMs } } };
}
