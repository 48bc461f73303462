import { chmodSync, lstatSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { EngineNotice, EngineSide, SocketHandlers } from "../../ports/engine-contact.ts";
import { errorCode, makeWithin, writeAtomically } from "../file-access.ts";
import { entryOf } from "../linux/process-table.ts";
import { peerOf } from "../linux/socket-peer.ts";
import { watched } from "../place-watch.ts";
import { makeStateDir } from "../project/record.ts";
import { identityOf } from "../project-place.ts";
import { hasAnswer, lifeSign, readNotice } from "./caller.ts";
import {
  adoptKeeper,
  enginePaths,
  forgetKeeper,
  type KeeperOptions,
  keeperIsAlive,
  keeperIsStarting,
  killEngine,
  readIdentity,
} from "./keeper.ts";

type SideOptions = KeeperOptions & { readonly version: string };

interface Connection {
  /** Parts of a frame that is not complete yet. */
  received: Buffer[];
  receivedBytes: number;
  unsent: Buffer;
  /** Ends a connection whose frame does not become complete. */
  deadline: ReturnType<typeof setTimeout>;
}

/** The engine's side of the contact: a Unix socket that takes single bytes (wakes) and lines (request frames). */
export function engineSide(options: SideOptions): EngineSide {
  const paths = enginePaths(options.state);
  let adopted: Bun.FileSink | undefined;
  const dismissKeeper = async (): Promise<void> => {
    try {
      adopted?.write("leaving\n");
      await adopted?.end();
    } catch (error) {
      // The keeper has died already, so there is none to dismiss.
      if (!(error instanceof Error && "code" in error && error.code === "EPIPE")) throw error;
    }
  };
  return {
    open: (handlers) => {
      // This process is no longer a successor but the engine, and may need a successor itself.
      if (readIdentity(paths.successor)?.pid === process.pid) rmSync(paths.successor, { force: true });
      let entrance = listen(options, handlers);
      let keeper = readIdentity(paths.keeper);
      const watching = watchFiles({
        dirs: () => [paths.run, dirname(entrance.socket)],
        isWhole: () => {
          keeper = readIdentity(paths.keeper) ?? keeper;
          return entrance.isThere() || !isOurs(options);
        },
        restore: () => {
          entrance.close();
          entrance = listen(options, handlers);
          if (keeper !== undefined && options.processes.check(keeper) === "alive")
            writeAtomically(paths.keeper, JSON.stringify(keeper), 0o600);
          handlers.restored();
        },
      });
      return {
        close: ({ comesBack }) => {
          watching.close();
          rmSync(paths.notice, { force: true });
          if (comesBack !== true) forgetKeeper(options.state);
          entrance.close();
        },
      };
    },
    look: async (engine, ms) => {
      const before = entryOf(engine.pid)?.ticks;
      const until = performance.now() + ms;
      const notice = readNotice(paths.notice);
      const isAnnounced = notice?.pid === engine.pid && notice.startToken === engine.startToken;
      if (isAnnounced && (await hasAnswer(notice.socket, ms)))
        return options.processes.check(engine) === "gone" ? "silent" : "answers";
      // A socket that was deleted refuses at once. The engine has the whole look to make it again.
      await Bun.sleep(until - performance.now());
      return entryOf(engine.pid)?.ticks === before ? "silent" : "busy";
    },
    end: (engine) => killEngine(options.state, engine),
    keeperIsAlive: () => keeperIsStarting(options) || keeperIsAlive(options),
    replaceKeeper: () => {
      adopted = adoptKeeper(options);
    },
    dismissKeeper,
    releaseKeeper: async () => {
      forgetKeeper(options.state);
      await dismissKeeper();
    },
  };
}

interface Entrance {
  readonly socket: string;
  /** Can callers find the socket and the notice? */
  isThere(): boolean;
  close(): void;
}

/** Listens, and writes the notice that tells callers where. */
function listen(options: SideOptions, handlers: SocketHandlers): Entrance {
  const paths = enginePaths(options.state);
  makeStateDir(paths.run);
  makeWithin(paths.contact, 1);
  const socket = inPrivate(paths.socket);
  rmSync(socket, { force: true });
  const server = Bun.listen<Connection>({ unix: socket, socket: serve(handlers) });
  chmodSync(socket, 0o600);
  const bound = identityOf(socket);
  const identity = identityOf(options.state);
  const place = identity === undefined ? {} : { place: { state: options.state, ...identity } };
  const self = options.processes.self();
  const notice: EngineNotice = { ...self, socket, version: options.version, ...place };
  for (const path of [join(paths.contact, basename(paths.notice)), paths.notice]) {
    writeAtomically(path, JSON.stringify(notice), 0o600);
  }
  return {
    socket,
    isThere: () => {
      const now = identityOf(socket);
      const isBound = now !== undefined && now.device === bound?.device && now.inode === bound.inode;
      return isBound && readNotice(paths.notice)?.pid === self.pid;
    },
    close: () => server.stop(true),
  };
}

/** The state directory is still there, and no other engine has been announced. */
function isOurs({ state, processes }: SideOptions): boolean {
  if (identityOf(state) === undefined) return false;
  const notice = readNotice(enginePaths(state).notice);
  return notice === undefined || notice.pid === process.pid || processes.check(notice) === "gone";
}

interface WatchedFiles {
  dirs(): readonly string[];
  isWhole(): boolean;
  restore(): void;
}

/**
 * Restores missing files after their directories have been quiet for a moment, so that a person who deletes a directory
 * finds no new files in it. The system reports changes, so waiting for them costs nothing.
 */
function watchFiles({ dirs, isWhole, restore }: WatchedFiles): { close(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = (): void => {
    if (isWhole()) return;
    for (const watcher of watchers) watcher.close();
    try {
      restore();
    } catch (error) {
      // Writing failed, as on a full disk. Callers that find no engine start a successor.
      if (errorCode(error) === undefined) throw error;
    }
    // The watch of a deleted directory is dead. The files may have changed before the new watch, so look at once.
    watchers = watch();
    if (!isWhole()) onChange();
  };
  const onChange = (): void => {
    clearTimeout(timer);
    timer = setTimeout(look, quietMs);
    timer.unref();
  };
  const watch = (): { close(): void }[] => [...new Set(dirs())].flatMap((dir) => watched(dir, onChange));
  let watchers = watch();
  return {
    close: () => {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}

const quietMs = 100;

/**
 * The socket in a directory that is ours alone. A directory that another user made first, or can write to, is not used: its name
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

function serve(handlers: SocketHandlers): Bun.SocketHandler<Connection> {
  const flush = (socket: Bun.Socket<Connection>): void => {
    const { data } = socket;
    if (data.unsent.length > 0) data.unsent = data.unsent.subarray(socket.write(data.unsent));
  };
  const endLater = (socket: Bun.Socket<Connection>): ReturnType<typeof setTimeout> => {
    const timer = setTimeout(() => socket.end(), frameMs);
    timer.unref();
    return timer;
  };
  /** Answers and forgets the rest: a caller that only sends must not hold memory of ours. */
  const refuse = (socket: Bun.Socket<Connection>, problem: string): void => {
    socket.data.received = [];
    socket.write(`${JSON.stringify({ problem })}\n`);
    socket.terminate();
  };
  return {
    open: (socket) => {
      socket.data = { received: [], receivedBytes: 0, unsent: Buffer.alloc(0), deadline: endLater(socket) };
    },
    close: (socket) => clearTimeout(socket.data.deadline),
    drain: flush,
    data: (socket, chunk) => {
      const { data } = socket;
      if (data.received.length === 0 && chunk[0] === wakeByte) {
        handlers.wake();
        return;
      }
      data.receivedBytes += chunk.length;
      if (data.receivedBytes > mostFrameBytes) {
        refuse(socket, `a request to the engine may have ${mostFrameBytes / 2 ** 20} MiB at most; nothing was changed`);
        return;
      }
      data.received.push(Buffer.from(chunk));
      if (chunk.at(-1) !== newline) return;
      const frame = Buffer.concat(data.received).toString("utf8");
      data.received = [];
      data.receivedBytes = 0;
      clearTimeout(data.deadline);
      if (frame.trimEnd() === lifeSign) {
        data.unsent = Buffer.from(`${lifeSign}\n`);
        flush(socket);
        data.deadline = endLater(socket);
        return;
      }
      handlers
        .call(frame, () => peerOf(socket))
        .then(
          (answer) => {
            data.unsent = Buffer.from(`${answer}\n`);
            flush(socket);
            data.deadline = endLater(socket);
          },
          // A request that fails must not end the engine, and its caller must not wait for an answer that never comes.
          (error) => refuse(socket, `the engine failed: ${String(error)}`),
        );
    },
  };
}

/** Far above the largest request: texts beyond a few kilobytes are stored as files, and files are named, not sent. */
export const mostFrameBytes = 32 * 2 ** 20;
/** Callers send a frame at once. */
const frameMs = 30_000;

const wakeByte = 119;
const newline = 10;
