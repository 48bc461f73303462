import { chmodSync, lstatSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { DoorHandlers, EngineNotice, EngineSide } from "../../ports/engine-door.ts";
import { writeAtomically } from "../atomic-file.ts";
import { entryOf } from "../linux/process-table.ts";
import { makeStateDir } from "../project/record.ts";
import { identityOf } from "../project-place.ts";
import { hasAnswer, lifeSign, readNotice } from "./caller.ts";
import {
  adoptKeeper,
  forgetKeeper,
  type KeeperOptions,
  keeperIsAlive,
  keeperIsStarting,
  killEngine,
  readIdentity,
} from "./keeper.ts";
import { doorPaths } from "./paths.ts";

interface Connection {
  received: Buffer[];
  unsent: Buffer;
}

/** The engine's side of the door: a Unix socket that takes single bytes (wakes) and lines (request frames). */
export function engineSide(options: KeeperOptions & { readonly version: string }): EngineSide {
  const paths = doorPaths(options.state);
  let adopted: Bun.FileSink | undefined;
  return {
    open: (handlers) => {
      if (dirname(paths.socket) === paths.run) makeStateDir(paths.run);
      const socket = inPrivate(paths.socket);
      rmSync(socket, { force: true });
      const server = Bun.listen<Connection>({ unix: socket, socket: serve(handlers) });
      // We are the engine now, and may need a successor ourselves.
      if (readIdentity(paths.successor)?.pid === process.pid) rmSync(paths.successor, { force: true });
      chmodSync(socket, 0o600);
      const identity = identityOf(options.state);
      const place = identity === undefined ? {} : { place: { state: options.state, ...identity } };
      const notice: EngineNotice = { ...options.processes.self(), socket, version: options.version, ...place };
      writeAtomically(paths.notice, JSON.stringify(notice), 0o600);
      return {
        close: ({ comesBack }) => {
          rmSync(paths.notice, { force: true });
          if (comesBack !== true) forgetKeeper(options.state);
          server.stop(true);
        },
      };
    },
    look: async (engine, ms) => {
      const before = entryOf(engine.pid)?.ticks;
      const notice = readNotice(paths.notice);
      if (notice?.pid !== engine.pid || notice.startToken !== engine.startToken) await Bun.sleep(ms);
      else if (await hasAnswer(notice.socket, ms))
        return options.processes.check(engine) === "gone" ? "silent" : "answers";
      return entryOf(engine.pid)?.ticks === before ? "silent" : "busy";
    },
    end: (engine) => killEngine(options.state, engine),
    keeperIsAlive: () => keeperIsStarting(options) || keeperIsAlive(options),
    replaceKeeper: () => {
      adopted = adoptKeeper(options);
    },
    dismissKeeper: async () => {
      try {
        adopted?.write("leaving\n");
        await adopted?.end();
      } catch (error) {
        // It died before us: there is nobody to dismiss.
        if (!(error instanceof Error && "code" in error && error.code === "EPIPE")) throw error;
      }
    },
  };
}

/**
 * The socket in a directory that is ours alone. One that somebody else made first, or can write to, is not used: its name
 * can be guessed. Callers read the path from the notice, so another one does as well.
 */
function inPrivate(socket: string): string {
  const dir = dirname(socket);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const { uid, mode } = lstatSync(dir);
  const isDirectory = lstatSync(dir).isDirectory();
  if (isDirectory && uid === process.getuid?.() && (mode & 0o077) === 0) return socket;
  return join(mkdtempSync(join(dirname(dir), "overstory-")), basename(socket));
}

function serve(handlers: DoorHandlers): Bun.SocketHandler<Connection> {
  const flush = (socket: Bun.Socket<Connection>): void => {
    const { data } = socket;
    if (data.unsent.length > 0) data.unsent = data.unsent.subarray(socket.write(data.unsent));
  };
  return {
    open: (socket) => {
      socket.data = { received: [], unsent: Buffer.alloc(0) };
    },
    drain: flush,
    data: (socket, chunk) => {
      if (socket.data.received.length === 0 && chunk[0] === wakeByte) {
        handlers.wake();
        return;
      }
      socket.data.received.push(Buffer.from(chunk));
      if (chunk.at(-1) !== newline) return;
      const frame = Buffer.concat(socket.data.received).toString("utf8");
      socket.data.received = [];
      if (frame.trimEnd() === lifeSign) {
        socket.data.unsent = Buffer.from(`${lifeSign}\n`);
        flush(socket);
        return;
      }
      handlers.call(frame).then(
        (answer) => {
          socket.data.unsent = Buffer.from(`${answer}\n`);
          flush(socket);
        },
        // A broken request must not take the engine down; the caller sees its connection end and learns by its own time.
        () => socket.end(),
      );
    },
  };
}

const wakeByte = 119;
const newline = 10;
