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
