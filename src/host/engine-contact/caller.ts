import { existsSync, mkdirSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../../domain/failure.ts";
import type { ProcessIdentity } from "../../domain/process/process.ts";
import type { EngineContact, EngineNotice, EnginesAbroad } from "../../ports/engine-contact.ts";
import { readText, writeAtomically } from "../file-access.ts";
import { lockLimitOf, ownLockLimit } from "../linux/mark.ts";
import { ageMs, entryOf, killOne } from "../linux/process-table.ts";
import { identityOf } from "../project-place.ts";
import {
  enginePaths,
  forgetKeeper,
  type KeeperOptions,
  killEngine,
  readIdentity,
  startKeeper,
  startSuccessor,
  successorIsAlive,
} from "./keeper.ts";

/** An engine answers within a millisecond. If it has not answered by now, a successor watches it for longer. */
const answerMs = 1_000;
/** The wait for an answer when a successor already watches the engine. */
const watchedAnswerMs = 100;

/** A keeper that is older than this has started its engine long ago. */
const startingMs = 10_000;

/** How commands and supervisors reach the engine: through its notice file and its socket. */
export function engineContact(options: KeeperOptions): EngineContact {
  const paths = enginePaths(options.state);
  /** An engine that crashed has left its notice behind. */
  const notice = (): EngineNotice | undefined => {
    const found = readNotice(paths.notice);
    if (options.isConfined === true) return found;
    if (found === undefined || servesHere(found, options.state) !== "here") return undefined;
    return options.processes.check(found) === "gone" ? undefined : found;
  };
  const endLost = async (): Promise<void> => {
    const found = readNotice(paths.notice);
    if (found === undefined || servesHere(found, options.state) !== "moved") return;
    killEngine(options.state, found);
  };
  const wake = async (): Promise<boolean> => {
    await endLost();
    const engine = notice();
    return engine !== undefined && (await sendByte(engine.socket));
  };
  const silent = async (): Promise<EngineNotice | undefined> => {
    const engine = notice();
    // An engine that computes is not stopped. It answers later, and callers need not wait for the answer.
    if (engine === undefined || entryOf(engine.pid)?.computing === true) return undefined;
    const waitMs = successorIsAlive(options) ? watchedAnswerMs : answerMs;
    if ((await hasAnswer(engine.socket, waitMs)) || options.processes.check(engine) === "gone") return undefined;
    return engine;
  };
  /** Agents can lower the limits of other processes of their user. An engine or keeper with a limit can start nothing. */
  const endLimited = (): void => {
    const [engine, keeper] = [notice(), readIdentity(paths.keeper)];
    const isLimited = (process: ProcessIdentity | undefined): process is ProcessIdentity =>
      process !== undefined && options.processes.check(process) === "alive" && lockLimitOf(process.pid) !== undefined;
    if (isLimited(engine)) killEngine(options.state, engine);
    else if (isLimited(keeper)) {
      killOne(keeper);
      forgetKeeper(options.state);
    }
  };
  /** An engine whose program was deleted can start no supervisor. One of this program takes its place at once. */
  const endWithoutProgram = (): void => {
    const engine = notice();
    if (engine !== undefined && isProgramGone(engine.pid) && !isProgramGone(process.pid)) {
      killEngine(options.state, engine);
    }
  };
  /** The keeper of the engine is alive and started it long ago, but the engine cannot be reached. */
  const isKeptInVain = (): boolean => {
    const keeper = readIdentity(paths.keeper);
    return keeper !== undefined && options.processes.check(keeper) === "alive" && ageMs(keeper) > startingMs;
  };
  return {
    notice,
    endLost,
    wake,
    ensure: async () => {
      if (ownLockLimit() === undefined) {
        endLimited();
        endWithoutProgram();
      }
      // Asked before it is woken: it answers at once, and not after the round that the wake begins.
      const silentEngine = await silent();
      const heard = await wake();
      const unheard = heard ? silentEngine : undefined;
      // A process that is started inside an agent carries the agent's mark, and is ended with the turn.
      if (ownLockLimit() !== undefined || (heard && unheard === undefined)) return unheard;
      if (heard || isKeptInVain()) startSuccessor(options);
      else if (!successorIsAlive(options)) startKeeper(options);
      return unheard;
    },
    answers: async () => {
      const engine = notice();
      return engine !== undefined && (await hasAnswer(engine.socket, answerMs));
    },
    watch: async () => {
      if (ownLockLimit() === undefined && (await silent()) !== undefined) startSuccessor(options);
    },
  };
}

/** An engine is known by the directory it serves: `moved` is ours at a path that is gone, `elsewhere` that of another project. */
function servesHere({ place }: EngineNotice, state: string): "here" | "moved" | "elsewhere" {
  if (place === undefined) return "here";
  const own = identityOf(state);
  if (own === undefined || own.device !== place.device || own.inode !== place.inode) return "elsewhere";
  const served = identityOf(place.state);
  return served?.device === own.device && served.inode === own.inode ? "here" : "moved";
}

async function sendByte(socket: string): Promise<boolean> {
  try {
    const connection = await Bun.connect({ unix: socket, socket: { data: () => {} } });
    connection.write("w");
    connection.end();
    return true;
  } catch (error) {
    // No engine listens there: the caller decides whether to start one.
    if (error instanceof Error && "code" in error) return false;
    throw error;
  }
}

/**
 * Asks the engine behind this socket for a sign of life. An engine of an earlier version ends the connection, which is
 * a sign of life too; the caller checks that it did not die.
 */
export function hasAnswer(socket: string, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    let connection: { end(): void } | undefined;
    const done = (answered: boolean): void => {
      clearTimeout(timer);
      resolve(answered);
      connection?.end();
    };
    const timer = setTimeout(() => done(false), ms);
    Bun.connect({
      unix: socket,
      socket: {
        open: (opened) => {
          connection = opened;
          opened.write(`${lifeSign}\n`);
        },
        data: () => done(true),
        close: () => done(true),
        error: () => done(false),
        connectError: () => done(false),
      },
    }).catch(() => done(false));
  });
}

/** The question to an engine, and its answer. No request frame looks like it. */
export const lifeSign = "alive?";

const patienceMs = 30_000;

/**
 * Sends one request frame and waits for its answer. The engine may be restarted meanwhile: the frame's request id makes
 * it safe to send again until an answer comes or the patience ends.
 */
export async function callEngine(state: string, frame: string): Promise<string> {
  const deadline = performance.now() + patienceMs;
  for (let wait = 20; ; wait = Math.min(wait * 2, 500)) {
    const engine = readNotice(enginePaths(state).notice);
    const answer = engine === undefined ? undefined : await exchange(engine.socket, frame, deadline);
    if (answer !== undefined) return answer;
    if (performance.now() + wait > deadline) {
      throw new Failure({ kind: "engine-unreachable", problem: "no engine answered within 30 s" });
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

/** One attempt; undefined when the connection failed or ended before a whole answer came. */
function exchange(socket: string, frame: string, deadline: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let unsent = Buffer.from(`${frame}\n`);
    const timer = setTimeout(() => resolve(undefined), Math.max(1, deadline - performance.now()));
    const done = (answer: string | undefined): void => {
      clearTimeout(timer);
      resolve(answer);
    };
    const flush = (to: { write(data: Buffer): number }): void => {
      if (unsent.length > 0) unsent = unsent.subarray(to.write(unsent));
    };
    Bun.connect({
      unix: socket,
      socket: {
        open: flush,
        drain: flush,
        data: (connection, data) => {
          chunks.push(Buffer.from(data));
          if (data.at(-1) !== 10) return;
          // Ending calls `close` at once, so the answer must be given first.
          done(Buffer.concat(chunks).toString("utf8").trimEnd());
          connection.end();
        },
        close: () => done(undefined),
        error: () => done(undefined),
        connectError: () => done(undefined),
      },
    }).catch(() => done(undefined));
  });
}

export function readNotice(path: string): EngineNotice | undefined {
  try {
    const text = readText(path);
    return text === undefined ? undefined : (JSON.parse(text) as EngineNotice);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

const askedDir = (state: string): string => join(state, "run", "abroad");

/**
 * Asks the engine of the project with this state directory to start one for the project at `root`. The engine has to be
 * woken after that.
 */
export function askForEngine(state: string, root: string): void {
  const dir = askedDir(state);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const name = new Bun.CryptoHasher("sha256").update(root).digest("hex");
  writeAtomically(join(dir, name), root, 0o600);
}

/** The requests that were made so. */
export const enginesAbroad = (state: string, start: EnginesAbroad["start"]): EnginesAbroad => ({
  requests: () => {
    const dir = askedDir(state);
    // A file that is still being written has a name of another form.
    const names = existsSync(dir) ? readdirSync(dir).filter((name) => /^[0-9a-f]{64}$/.test(name)) : [];
    return names.map((id) => ({ id, root: readText(join(dir, id)) ?? "" }));
  },
  forget: (id) => rmSync(join(askedDir(state), id), { force: true }),
  start,
});

/** True when the program file of this process was deleted and nothing is in its place; false where Linux does not tell. */
function isProgramGone(pid: number): boolean {
  try {
    const program = readlinkSync(`/proc/${pid}/exe`);
    return program.endsWith(deleted) && !existsSync(program.slice(0, -deleted.length));
  } catch {
    // The process has ended, or belongs to another user. Other checks find an engine that does not run.
    return false;
  }
}

/** What Linux adds to the path of a deleted program. */
const deleted = " (deleted)";
