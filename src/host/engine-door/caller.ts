import { readFileSync, rmSync } from "node:fs";
import { Failure } from "../../domain/failure.ts";
import type { EngineDoor, EngineNotice } from "../../ports/engine-door.ts";
import { killOne } from "../kill-one.ts";
import { ownLockLimit } from "../linux/mark.ts";
import { identityOf } from "../project-place.ts";
import { type KeeperOptions, readIdentity, startKeeper } from "./keeper.ts";
import { doorPaths } from "./paths.ts";

/** The caller's side of the door. */
export function engineDoor(options: KeeperOptions): EngineDoor {
  const paths = doorPaths(options.state);
  const notice = (): EngineNotice | undefined => {
    const found = readNotice(paths.notice);
    return found !== undefined && servesHere(found, options.state) === "here" ? found : undefined;
  };
  const endLost = async (): Promise<void> => {
    const found = readNotice(paths.notice);
    if (found === undefined || servesHere(found, options.state) !== "moved") return;
    // The keeper first: it would start an engine again where nothing is any more.
    const keeper = readIdentity(paths.keeper);
    for (const each of [keeper, found]) if (each !== undefined) killOne(each);
    for (const path of [paths.keeper, paths.notice]) rmSync(path, { force: true });
  };
  const wake = async (): Promise<boolean> => {
    await endLost();
    const engine = notice();
    if (engine === undefined || options.processes.check(engine) === "gone") return false;
    return sendByte(engine.socket);
  };
  return {
    notice,
    endLost,
    wake,
    ensure: async () => {
      // What is started inside an agent carries its mark, and is ended with its turn.
      if (!(await wake()) && ownLockLimit() === undefined) startKeeper(options);
    },
  };
}

/** An engine is known by the directory it serves: `moved` is ours at a path that is gone, `elsewhere` somebody else's. */
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
    // Nobody listens there (any more): the caller decides whether to start an engine.
    if (error instanceof Error && "code" in error) return false;
    throw error;
  }
}

const patienceMs = 30_000;

/**
 * Sends one request frame and waits for its answer. The engine may be restarted meanwhile: the frame's request id makes
 * it safe to send again until an answer comes or the patience ends.
 */
export async function callEngine(state: string, frame: string): Promise<string> {
  const deadline = performance.now() + patienceMs;
  for (let wait = 20; ; wait = Math.min(wait * 2, 500)) {
    const engine = readNotice(doorPaths(state).notice);
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

function readNotice(path: string): EngineNotice | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as EngineNotice;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
