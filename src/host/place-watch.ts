import { accessSync, closeSync, constants, existsSync, fstatSync, openSync, watch } from "node:fs";
import { Failure } from "../domain/failure.ts";
import type { ProjectPlace } from "../domain/project/place.ts";
import type { Store } from "../ports/store.ts";
import { errorCode } from "./file-access.ts";
import { allProcesses } from "./linux/process-table.ts";
import { say } from "./log-files.ts";
import { linuxProcesses } from "./processes.ts";
import { databaseIn, identityOf } from "./project-place.ts";

/**
 * here   the project is where this process found it
 * moved  it is somewhere else now
 * gone   it was deleted
 */
export type PlaceStanding = "here" | "moved" | "gone";

/** `replaced`: another program made new files beside the database. This process must not even close its own ones. */
type Reason = PlaceStanding | "replaced";

export interface PlaceWatch extends Disposable {
  /** Reads the state of three paths; cheap enough to ask before each write. */
  standing(): PlaceStanding;
}

/**
 * Notices that a project was moved or deleted while a process serves it. `onLost` is called as soon as the system reports the
 * change. The system does not report that a parent directory moved, so callers ask `standing` before each write.
 */
export function watchPlace(
  { root, state }: ProjectPlace,
  onLost?: (standing: PlaceStanding) => void,
  onChange?: () => void,
): PlaceWatch {
  // Another database may be put in the place of ours. We would then write into a file that no process reads.
  const [isState, isRoot, isDatabase] = [sameAs(state), sameAs(root), sameAs(databaseIn(state))];
  const held = openSync(state, "r");
  const standing = (): PlaceStanding => {
    if (isState()) return isDatabase() ? (isRoot() ? "here" : "moved") : "gone";
    // A deleted directory has no name any more, although we still hold it open.
    return fstatSync(held).nlink === 0 ? "gone" : "moved";
  };
  const look = (): void => {
    const now = standing();
    if (now === "here") onChange?.();
    else onLost?.(now);
  };
  const watchers = onLost === undefined ? [] : [state, root].flatMap((path) => watched(path, look));
  return {
    standing,
    [Symbol.dispose]: () => {
      for (const watcher of watchers) watcher.close();
      closeSync(held);
    },
  };
}

/** Answers a function that says whether the path still names the same file or directory as at this moment. */
function sameAs(path: string): () => boolean {
  const before = identityOf(path);
  return () => {
    const now = identityOf(path);
    return now !== undefined && now.device === before?.device && now.inode === before.inode;
  };
}

/** If the system has no watch left to give, there is none. The looks before each write are then all there is. */
export function watched(path: string, look: () => void): { close(): void }[] {
  try {
    const watcher = watch(path, { persistent: false }, look);
    watcher.on("error", look);
    return [watcher];
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return [];
  }
}

/** A project that an engine or a supervisor serves. */
interface ServedProject {
  readonly store: Store;
  /** Ends this process when the project is no longer where the process found it. */
  check(): void;
}

/**
 * A store that checks before each use whether the project is still where the process found it. If the project is elsewhere, the
 * process ends at once and writes nothing: another process may serve the project by now, and every path that this one
 * knows is wrong.
 */
export function serve({ root, state }: ProjectPlace, store: Store, leave: Leave): ServedProject {
  const database = databaseIn(state);
  const place = watchPlace({ root, state }, leave.onNotice, () => {
    // The store then closes the deleted files. Other processes wait until it has.
    if (["-wal", "-shm"].some((end) => !existsSync(database + end))) void store.changeCounter().catch(() => {});
  });
  const orLeave = (error: unknown): never | Promise<never> => {
    if (!(error instanceof Failure && error.data.kind === "store-index-lost" && error.data.holders.length === 0))
      throw error;
    leave.now("replaced");
    return new Promise(() => {});
  };
  const here = <T>(work: () => Promise<T>): Promise<T> => {
    const standing = place.standing();
    if (standing === "here") {
      const refused = whyUnwritable(database);
      return refused === undefined ? work().catch(orLeave) : Promise.reject(refused);
    }
    leave.now(standing);
    // The process is about to exit: its caller gets no answer.
    return new Promise(() => {});
  };
  const served: Store = {
    transaction: (work) => here(() => store.transaction(work)),
    read: (work) => here(() => store.read(work)),
    changeCounter: () => here(() => store.changeCounter()),
    close: async () => {
      place[Symbol.dispose]();
      await store.close();
    },
  };
  const check = (): void => {
    const standing = place.standing();
    if (standing !== "here") leave.now(standing);
  };
  return { store: served, check };
}

/**
 * SQLite writes to the index of its log (`-shm`) through mapped memory. The system kills a process that writes so to a
 * file that became read-only (`chattr +i`, a read-only mount). So this asks the system first.
 */
function whyUnwritable(database: string): Failure | undefined {
  try {
    accessSync(`${database}-shm`, constants.W_OK);
    return undefined;
  } catch (error) {
    const code = errorCode(error);
    // SQLite makes the file when the first process opens the database for writing.
    if (code === "ENOENT") return undefined;
    return new Failure({ kind: "store-read-only", path: database, ...(code === "EROFS" ? { of: "disk" } : {}) });
  }
}

interface Leave {
  now(reason: Reason): void;
  /** Asks the system to report changes at once. The system has few watches, so only the engine asks for one. */
  readonly onNotice?: (standing: PlaceStanding) => void;
}

/**
 * Ends the engine with these exit codes. Its turns go on without it, and the next command starts an engine where the
 * project is now. A keeper restarts an engine unless it exited with 0.
 */
export function leaveAsEngine(
  root: string,
  exit: { readonly lost: number; readonly replaced: number; readonly again: number },
): Leave & { replaced(): void } {
  const leave = (why: string, code: number): void => {
    say(`${new Date().toISOString()} ${why}\n`);
    process.exit(code);
  };
  const now = (reason: Reason): void =>
    reason === "replaced"
      ? leave(`${filesReplaced(root)}; starting again`, exit.again)
      : leave(`the project is no longer at ${root} (${reason}); leaving`, exit.lost);
  return {
    now,
    onNotice: now,
    replaced: () =>
      leave("this engine was stopped for so long that another one has replaced it; leaving", exit.replaced),
  };
}

const filesReplaced = (root: string): string =>
  `another program has made new files beside the database of ${root} while this process used the old ones`;

/**
 * The agent of a moved project goes on, and the next supervisor adopts it. The agent of a deleted project is ended here,
 * because no other process would end it.
 */
export function leaveAsSupervisor(root: string): Leave {
  let isLeaving = false;
  const now = (reason: Reason): void => {
    if (isLeaving) return;
    isLeaving = true;
    const why = reason === "replaced" ? filesReplaced(root) : `the project is no longer at ${root} (${reason})`;
    say(`${new Date().toISOString()} ${why}; leaving\n`);
    const children = reason === "gone" ? allProcesses().filter(({ parent }) => parent === process.pid) : [];
    const ended = children.flatMap(({ pid }) => {
      const identity = linuxProcesses.identify(pid);
      return identity === undefined ? [] : [linuxProcesses.endTree(identity, 0)];
    });
    void Promise.allSettled(ended).then(() => process.exit(0));
  };
  return { now };
}
