import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { Failure } from "../domain/failure.ts";

/** Runs an action that writes `path`; where we may not write, the failure says so instead of naming a system call. */
export function writable<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    const code = errorCode(error);
    if (code === "EACCES" || code === "EPERM" || code === "EROFS") {
      throw new Failure({ kind: "store-read-only", path: dirname(path) }, { cause: error });
    }
    throw error;
  }
}

/** The code of a system error. */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;

/**
 * Makes a directory of the state with at most so many levels, itself included. It never makes the repository around the
 * state: a process that still serves a moved project must make nothing at the old place.
 */
export function makeWithin(dir: string, levels: number): void {
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    const code = errorCode(error);
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || levels <= 1) throw error;
    makeWithin(dirname(dir), levels - 1);
    makeWithin(dir, 1);
  }
}
