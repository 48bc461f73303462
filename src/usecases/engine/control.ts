import { Failure } from "../../domain/failure.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { decimal, fields, flag, noFields } from "../../domain/schema/schema.ts";
import type { EngineControl, EngineNotice } from "../../ports/engine-contact.ts";
import type { BlockedMerge } from "../merge/queue/queue-state.ts";
import type { Effect, Stream, World } from "../operation.ts";
import type { DiskState } from "../status/show.ts";
import { silenceWords, type TriedMerge, type Workload } from "./engine-work.ts";

const startMs = 10_000;
/** An engine that leaves first finishes the worktree it is making. */
const leaveMs = 15_000;
/** An idle engine leaves within this time. */
const promptMs = 1_000;
const lookMs = 20;

export interface EngineStart {
  readonly pid: number;
  /** False when it was running before. */
  readonly started: boolean;
}

/** Returns when an engine listens. */
export const startEngine: Effect<object, EngineStart> = {
  kind: "effect",
  request: noFields,
  place: "caller",
  run: async (world) => {
    const refused = await world.requireOperator("start an engine");
    if (refused !== undefined) return no(refused);
    const control = await world.engineControl();
    const { contact } = control;
    const before = contact.notice();
    const silent = await contact.ensure();
    if (silent !== undefined) world.warn(silenceWords(control));
    const answering = async (): Promise<EngineNotice | undefined> => {
      if (await contact.answers()) return contact.notice();
      // The engine that was told may have been about to leave. Its keeper ends with it, and starts none.
      if (contact.notice() === undefined && !control.keeperIsAlive()) await contact.ensure();
      return undefined;
    };
    // A successor watches the silent engine for a while before it replaces it.
    const engine = await until(world, answering, startMs, control.successorIsAlive);
    if (engine === undefined) {
      const late = `it did not start within ${startMs / 1000} s`;
      const full = world.fullDisk();
      const problem = `${late}; ${full ?? `see ${control.log.path}`}`;
      throw new Failure({ kind: "engine-unreachable", problem, next: "then try the same again: ov engine start" });
    }
    return ok({ pid: engine.pid, started: before?.pid !== engine.pid });
  },
};

export interface EngineReport extends Workload, DiskState {
  readonly running: boolean;
  /** Did the engine answer just now? Null when no engine runs. */
  readonly answers: boolean | null;
  readonly pid: number | null;
  readonly socket: string | null;
  readonly version: string | null;
  readonly uptimeMs: number | null;
  /** The file that this engine and earlier ones write what went wrong to; null when there is none yet. */
  readonly log: string | null;
}

export const engineStatus: Effect<object, EngineReport> = {
  kind: "effect",
  request: noFields,
  place: "caller",
  run: async (world) => {
    const control = await world.engineControl();
    const engine = control.contact.notice();
    const left = await workload(world);
    if (!left.ok) return left;
    const log = control.log.exists() ? control.log.path : null;
    const rest = { log, fullDisk: world.fullDisk() ?? null, ...left.value };
    if (engine === undefined) {
      return ok({ running: false, answers: null, pid: null, socket: null, version: null, uptimeMs: null, ...rest });
    }
    const { pid, socket, version } = engine;
    const answers = await control.contact.answers();
    return ok({ running: true, answers, pid, socket, version, uptimeMs: control.uptimeMs(engine), ...rest });
  },
};

export interface EngineStop extends Workload {
  readonly wasRunning: boolean;
  /** False when it had not left in time. */
  readonly stopped: boolean;
  readonly pid: number | null;
}

/** Returns when the engine has left. Turns that run go on without it. */
export const stopEngine: Effect<object, EngineStop> = {
  kind: "effect",
  request: noFields,
  place: "caller",
  run: async (world) => {
    const refused = await world.requireOperator("stop the engine");
    if (refused !== undefined) return no(refused);
    const { engine, gone } = await endEngine(world);
    const left = await workload(world);
    if (!left.ok) return left;
    if (engine === undefined) return ok({ wasRunning: false, stopped: true, pid: null, ...left.value });
    return ok({ wasRunning: true, stopped: gone === true, pid: engine.pid, ...left.value });
  },
};

/** Works without a database, so that a damaged one can be put aside afterwards. */
export async function endEngine(world: World) {
  const control = await world.engineControl();
  const engine = await runningOne(world, control);
  return { engine, gone: engine === undefined ? undefined : await untilGone(world, control, engine) };
}

/** The engine that was asked to leave; undefined when none runs. */
async function runningOne(world: World, control: EngineControl): Promise<EngineNotice | undefined> {
  const { contact } = control;
  await contact.endLost();
  // An engine that is just being started has no notice yet.
  const isStarting = contact.notice() === undefined && control.keeperIsAlive();
  const engine = isStarting ? await until(world, async () => contact.notice(), startMs) : contact.notice();
  return engine !== undefined && control.askToEnd(engine) ? engine : undefined;
}

async function untilGone(world: World, control: EngineControl, engine: EngineNotice): Promise<true | undefined> {
  const { contact } = control;
  const left = async (): Promise<true | undefined> => (control.isGone(engine) ? true : undefined);
  if ((await until(world, left, promptMs)) === undefined && !(await contact.answers()))
    world.warn(`the engine does not answer; it is killed if it is still there in ${leaveMs / 1000} s`);
  let gone = await until(world, left, leaveMs);
  if (gone === undefined && !(await contact.answers())) {
    control.kill(engine);
    gone = await until(world, left, leaveMs);
  }
  // A keeper that has yet to notice the end keeps others from starting an engine, and then starts none itself.
  const isLeft = async () => (control.keeperIsAlive() && contact.notice() === undefined ? undefined : true);
  await until(world, isLeft, promptMs);
  return gone;
}

export interface EngineInstall {
  readonly path: string;
  readonly unit: string;
  readonly text: string;
  readonly written: boolean;
  /** What to type next. */
  readonly enable: string;
}

/** Writes a user service that starts the engine with the machine; with `print` only returns its text. */
export const installEngine: Effect<{ readonly print: boolean }, EngineInstall> = {
  kind: "effect",
  request: fields({ print: flag }),
  place: "caller",
  run: async (world, { print }) => {
    const refused = await world.requireOperator("install the engine");
    if (refused !== undefined) return no(refused);
    const { service } = await world.engineControl();
    if (service === undefined) return no(invalid("engine install", "writes a systemd unit, and this is no Linux"));
    const { path, unit, text, enable } = service;
    const written = !print && !service.isWritten();
    if (written) service.write();
    return ok({ path, unit, text, written, enable });
  },
};

export async function workload(world: World): Promise<Result<Workload, Refusal>> {
  const read = await world.call("engine.readWorkload", {});
  if (!read.ok) return read;
  const { runningTurns, queuedTurns, runningChecks, waitingChecks } = read.value;
  return ok({ runningTurns, queuedTurns, runningChecks, waitingChecks });
}

async function until<T>(
  { sleep }: World,
  look: () => Promise<T | undefined>,
  ms: number,
  isComing: () => boolean = () => false,
): Promise<T | undefined> {
  const deadline = performance.now() + ms;
  for (;;) {
    const found = await look();
    if (found !== undefined || (performance.now() > deadline && !isComing())) return found;
    await sleep(lookMs);
  }
}

export const idleEndings = ["idle", "timeout", "interrupted"] as const;

export interface IdleReport extends Workload {
  readonly ending: (typeof idleEndings)[number];
  /** Branches that cannot land before something is mended. */
  readonly blocked: readonly BlockedMerge[];
}

const betweenLooksMs = 100;

/** A lock of another program passes within seconds. */
const stuckMs = 5_000;

/**
 * Is the engine itself, or waits for the one there is, until nothing is left to do, or nothing but merges that wait for
 * a person.
 */
export const runUntilIdle: Stream<{ readonly timeoutMs?: number | undefined }, IdleReport, never> = {
  kind: "stream",
  request: fields({}, { timeoutMs: decimal }),
  place: "caller",
  run: async (world, { timeoutMs }, { signal }) => {
    const refused = await world.requireOperator("run the engine");
    if (refused !== undefined) return no(refused);
    const control = await world.engineControl();
    const { contact } = control;
    const late = timeoutMs === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const over = new AbortController();
    const stop = AbortSignal.any([late, over.signal]);
    const watching = Promise.allSettled([untilStuck(world, stop).finally(() => over.abort())]);
    try {
      while (!stop.aborted) {
        const other = contact.notice();
        const answers = other !== undefined && (await contact.answers());
        if (other !== undefined && !answers) world.warn(silenceWords(control));
        if (!answers) await control.run(stop);
        const left = await world.call("engine.readWorkload", {});
        if (!left.ok) return left;
        if (stop.aborted || left.value.idle) break;
        await world.sleep(betweenLooksMs);
      }
    } finally {
      over.abort();
      await watching;
    }
    const [watched] = await watching;
    if (watched.status === "rejected") throw watched.reason;
    const left = await world.call("engine.readWorkload", {});
    if (!left.ok) return left;
    const { idle: _, stuck: __, tried: ___, ...report } = left.value;
    return ok({ ending: signal.aborted ? "interrupted" : late.aborted ? "timeout" : "idle", ...report });
  },
};

/**
 * Returns when nothing is left but merges that wait for a person, or with the signal. What blocks a merge counts as that
 * when it is found again by a try that we ask for: by itself the engine tries again after half a minute at the soonest.
 */
async function untilStuck({ call, sleep }: World, stop: AbortSignal): Promise<void> {
  let since: number | undefined;
  const asked = new Map<number, TriedMerge>();
  while (!stop.aborted) {
    const left = await call("engine.readWorkload", {});
    const now = performance.now();
    since = left.ok && left.value.stuck ? (since ?? now) : undefined;
    if (left.ok && since !== undefined && now - since >= stuckMs) {
      const { tried } = left.value;
      if (tried.every((one) => isFoundAgain(one, asked.get(one.id)))) return;
      const fresh = tried.filter(({ id, triedAt }) => asked.get(id)?.triedAt !== triedAt);
      for (const one of fresh) asked.set(one.id, one);
      if (fresh.length > 0) await call("engine.tryBlocked", { ids: fresh.map(({ id }) => id) });
    }
    await sleep(stuckLookMs, stop);
  }
}

const isFoundAgain = ({ cause, triedAt }: TriedMerge, before: TriedMerge | undefined): boolean =>
  before !== undefined && before.cause === cause && before.triedAt !== triedAt;

const stuckLookMs = 500;
