import { duration } from "../shared/format.ts";
import type { Io } from "./command.ts";

/** Says on stderr what goes on, when a person has to wait for it: whatever is new, and now and then that it still is. */
export function teller(io: Io): (what: string) => void {
  const began = performance.now();
  let said = "";
  let at = began;
  return (what) => {
    const now = performance.now();
    const isNew = what !== said && now - began > patienceMs;
    if (!isNew && now - at < againMs) return;
    said = what;
    at = now;
    io.say(`${duration(now - began)}: ${what}`);
  };
}

/** Most merges are over by then, and their result says it all. */
const patienceMs = 2_000;
const againMs = 30_000;

/**
 * Follows something until Ctrl-C, or until the work ends by itself. The first signal asks the work to end; a second one
 * ends the program, as always.
 */
export async function untilInterrupted<T>(work: (over: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController();
  const interrupt = (): void => over.abort();
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.once(signal, interrupt);
  try {
    return await work(over.signal);
  } finally {
    for (const signal of signals) process.off(signal, interrupt);
  }
}
