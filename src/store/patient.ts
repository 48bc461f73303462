import { Failure } from "../domain/failure.ts";
import type { Store } from "../ports/store.ts";

const shortestPauseMs = 100;
const longestPauseMs = 1_000;

/**
 * The same store for a process that must not give up: what cannot be written because the disk is full is tried again
 * until it can. Nothing was changed by a try that failed, so each unit of work still happens once.
 */
export function patientStore(store: Store, onFull: (error: Failure) => void): Store {
  return {
    ...store,
    transaction: async (work) => {
      for (let pause = shortestPauseMs; ; pause = Math.min(pause * 2, longestPauseMs)) {
        try {
          return await store.transaction(work);
        } catch (error) {
          if (!(error instanceof Failure) || error.data.kind !== "disk-full") throw error;
          onFull(error);
        }
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    },
  };
}
