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

/** `replaced`: another program made new files beside the database, and this process may not even close its own. */
type Reason = PlaceStanding | "replaced";

export interface PlaceWatch extends Disposable {
  /** Costs three looks at the file system. */
  standing(): PlaceStanding;
}

/**
 * Notices that a project was moved or deleted under a process that serves it. `onLost` is called as soon as the system
 * tells of it; a parent directory that moves is told by nobody, so whoever is about to write asks `standing` first.
 */
export function watchPlace(
  { root, state }: ProjectPlace,
  onLost?: (standing: PlaceStanding) => void,
  onChange?: () => void,
): PlaceWatch {
  // Another database may be put in the place of ours: then we would write into a file that no process reads.
  const [isState, isRoot, isDatabase] = [sameAs(state), sameAs(root), sameAs(databaseIn(state))];
  const held = openSync(state, "r");
  const standing = (): PlaceStanding => {
    if (isState()) return isDatabase() ? (isRoot() ? "here" : "moved") : "gone";
    // The last name of a deleted directory is gone, although we still hold it.
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

/** Whether this path still names what it names now. */
function sameAs(path: string): () => boolean {
  const before = identityOf(path);
  return () => {
    const now = identityOf(path);
    return now !== undefined && now.device === before?.device && now.inode === before.inode;
  };
}

/** Where the system has no room for one more watch, the looks before each write have to do. */
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

/** A project as a process serves it that lives for long. */
interface ServedProject {
  readonly store: Store;
  /** Ends this process when the project is no longer where the process found it. */
  check(): void;
}

/**
 * Before each use of the store it is asked whether the project is still where the process found it. If not, the process
 * ends at once and writes nothing: another one may serve the project by now, and every path this one knows is wrong.
 */
export function serve({ root, state }: ProjectPlace, store: Store, leave: Leave): ServedProject {
  const database = databaseIn(state);
  const place = watchPlace({ root, state }, leave.onNotice, () => {
    // The store then lets go of the deleted files. Other processes wait for that.
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
    if (standing === "here") return isWritable(database) ? work().catch(orLeave) : Promise.reject(readOnly(database));
    leave.now(standing);
    // Nothing happens any more in this process.
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
function isWritable(database: string): boolean {
  try {
    accessSync(`${database}-shm`, constants.W_OK);
    return true;
  } catch (error) {
    // SQLite makes the file when the first process opens the database for writing.
    return errorCode(error) === "ENOENT";
  }
}

const readOnly = (path: string): Failure => new Failure({ kind: "store-read-only", path });

interface Leave {
  now(reason: Reason): void;
  /** Where the system is asked to tell at once. It has few watches to give, so supervisors do without. */
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
