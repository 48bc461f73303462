import { closeSync, fstatSync, openSync, watch } from "node:fs";
import type { ProjectPlace } from "../domain/project/place.ts";
import { databaseIn, identityOf } from "./project-place.ts";
import { errorCode } from "./writable.ts";

/**
 * here   the project is where this process found it
 * moved  it is somewhere else now
 * gone   it was deleted
 */
export type PlaceStanding = "here" | "moved" | "gone";

export interface PlaceWatch extends Disposable {
  /** Costs three looks at the file system. */
  standing(): PlaceStanding;
}

/**
 * Notices that a project was moved or deleted under a process that serves it. `onLost` is called as soon as the system
 * tells of it; a parent directory that moves is told by nobody, so whoever is about to write asks `standing` first.
 */
export function watchPlace({ root, state }: ProjectPlace, onLost?: (standing: PlaceStanding) => void): PlaceWatch {
  // Somebody may put another database in the place of ours: then we would write into one that nobody reads.
  const [isState, isRoot, isDatabase] = [sameAs(state), sameAs(root), sameAs(databaseIn(state))];
  const held = openSync(state, "r");
  const standing = (): PlaceStanding => {
    if (isState()) return isDatabase() ? (isRoot() ? "here" : "moved") : "gone";
    // The last name of a deleted directory is gone, although we still hold it.
    return fstatSync(held).nlink === 0 ? "gone" : "moved";
  };
  const look = (): void => {
    const now = standing();
    if (now !== "here") onLost?.(now);
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
