import { Failure } from "../domain/failure.ts";
import type { Store } from "../ports/store.ts";

const shortestPauseMs = 100;
const longestPauseMs = 1_000;

/** Failures that go away: a person frees the disk, or a successor kills a stopped engine that holds the database. */
const passing: ReadonlySet<string> = new Set(["disk-full", "store-read-only", "store-busy", "store-index-lost"]);

/**
 * Wraps the store of a process that must not give up. If the disk is full, or the database cannot be written for a
 * while, the unit of work is tried again. A failed try has changed nothing, so each unit of work still happens once.
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
