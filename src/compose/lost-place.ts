import { accessSync, constants } from "node:fs";
import { Failure } from "../domain/failure.ts";
import { allProcesses } from "../host/linux/process-table.ts";
import { type PlaceStanding, watchPlace } from "../host/place-watch.ts";
import { linuxProcesses } from "../host/processes.ts";
import { databaseIn } from "../host/project-place.ts";
import { errorCode } from "../host/writable.ts";
import type { Store } from "../ports/store.ts";
import { exits } from "../surfaces/shared/exits.ts";
import type { Project } from "./project.ts";
import { say } from "./say.ts";

/** A project as a process serves it that lives for long. */
export interface ServedProject {
  readonly store: Store;
  /** Ends this process when the project is no longer where the process found it. */
  check(): void;
}

/**
 * Before each use of the store it is asked whether the project is still where the process found it. If not, the process
 * ends at once and writes nothing: another one may serve the project by now, and every path this one knows is wrong.
 */
export function serve({ root, dir }: Project, store: Store, leave: Leave): ServedProject {
  const place = watchPlace({ root, state: dir }, leave.onNotice);
  const database = databaseIn(dir);
  const here = <T>(work: () => Promise<T>): Promise<T> => {
    const standing = place.standing();
    if (standing === "here") return isWritable(database) ? work() : Promise.reject(readOnly(database));
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

export interface Leave {
  now(standing: PlaceStanding): void;
  /** Where the system is asked to tell at once. It has few watches to give, so supervisors do without. */
  readonly onNotice?: (standing: PlaceStanding) => void;
}

/** The engine's turns go on without it, and the next command starts an engine where the project is now. */
export function leaveAsEngine({ root }: Project, isForeground: boolean): Leave & { replaced(): void } {
  // The keeper restarts an engine that exited with an error. An engine that exited with 0 is not restarted.
  const leave = (why: string, exit: number): void => {
    say(`${new Date().toISOString()} ${why}\n`);
    process.exit(isForeground ? exit : 0);
  };
  const now = (standing: PlaceStanding): void =>
    leave(`the project is no longer at ${root} (${standing}); leaving`, exits.setup);
  return {
    now,
    onNotice: now,
    replaced: () => leave("this engine was stopped for so long that another one has replaced it; leaving", exits.busy),
  };
}

/** Of a moved project the agent goes on, and is adopted by the next supervisor. Nobody would ever end a deleted one's. */
export function leaveAsSupervisor({ root }: Project): Leave {
  let isLeaving = false;
  const now = (standing: PlaceStanding): void => {
    if (isLeaving) return;
    isLeaving = true;
    say(`${new Date().toISOString()} the project is no longer at ${root} (${standing}); leaving\n`);
    const children = standing === "gone" ? allProcesses().filter(({ parent }) => parent === process.pid) : [];
    const ended = children.flatMap(({ pid }) => {
      const identity = linuxProcesses.identify(pid);
      return identity === undefined ? [] : [linuxProcesses.endTree(identity, 0)];
    });
    void Promise.allSettled(ended).then(() => process.exit(0));
  };
  return { now };
}
