import { ApiError } from "../api/client.ts";
import { connection } from "./resource.ts";

interface Shown {
  readonly status?: string;
  readonly reply?: unknown;
  readonly error?: { readonly error?: { readonly code: string; readonly message: string; readonly hint?: string } };
}

/** The code of the error when the engine that did the work is gone, and with it what became of the work. */
export const outcomeUnknown = "OUTCOME_UNKNOWN";

/** Waits for the end of work that takes longer than a request may. Its failure is an error like that of a request. */
export function operationEnd(id: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const leave = connection.subscribe(`op:${id}`, (changes) => {
      for (const change of changes) {
        if (change.kind === "unknown") {
          leave();
          return reject(new ApiError(0, { code: outcomeUnknown, message: lostWords, hint: lostHint }));
        }
        const shown = (
          change.kind === "snapshot" ? change.data : change.kind === "delta" ? change.items[0] : {}
        ) as Shown;
        if (shown.status !== "done" && shown.status !== "failed") continue;
        leave();
        if (shown.status === "done") return resolve(shown.reply);
        return reject(new ApiError(0, shown.error?.error ?? { code: "unknown", message: "it failed" }));
      }
    });
  });
}

const lostWords = "the engine was started anew before it told how it ended, so the outcome is not known";
const lostHint = "Look at how things stand now, and at the audit on Health, before you try again.";
