import { Failure } from "../domain/failure.ts";
import type { Store } from "../ports/store.ts";

const shortestPauseMs = 100;
const longestPauseMs = 1_000;

/** What a person puts right while the process waits, or the engine's successor: a stopped engine may hold the database. */
const passing: ReadonlySet<string> = new Set(["disk-full", "store-read-only", "store-busy"]);

/**
 * The same store for a process that must not give up: what cannot be written because the disk is full, or may not be
 * written for a while, is tried again until it can. Nothing was changed by a try that failed, so each unit of work still happens once.
 */
export function patientStore(store: Store, onFull: (error: Failure) => void): Store {
  return {
    ...store,
    transaction: async (work) => {
      for (let pause = shortestPauseMs; ; pause = Math.min(pause * 2, longestPauseMs)) {
        try {
          return await store.transaction(work);
        } catch (error) {
          if (!(error instanceof Failure) || !passing.has(error.data.kind)) throw error;
          onFull(error);
        }
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    },
  };
}
