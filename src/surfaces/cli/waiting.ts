import { exits } from "../shared/exits.ts";
import { duration } from "../shared/format.ts";
import type { Io, Outcome } from "./command.ts";

/** Reports progress on stderr while a person waits: every new sentence, and now and then the same one again. */
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

/** Waits for what the engine does, or until Ctrl-C: undefined then. The engine goes on without its caller. */
export function untilLeft<T>(work: (over: AbortSignal) => Promise<T>): Promise<T | undefined> {
  return untilInterrupted((over) => {
    const left = new Promise<undefined>((resolve) => {
      over.addEventListener("abort", () => resolve(undefined), { once: true });
    });
    return Promise.race([left, work(over)]);
  });
}

/**
 * Asks the engine for work. Ctrl-C waits for its answer, so that it can be told what goes on: `isLeft` then. A second one
 * ends the program.
 */
export const untilAsked = <T>(ask: () => Promise<T>): Promise<{ readonly asked: T; readonly isLeft: boolean }> =>
  untilInterrupted(async (over) => {
    const asked = await ask();
    return { asked, isLeft: over.aborted };
  });

export type LeftOutcome = Outcome & { readonly exit: number };

/** The answer after Ctrl-C ended the waiting alone. `what` is the subject of "goes on". */
export function leftOutcome(what: string, hint: string, json: Outcome["json"] = {}): LeftOutcome {
  const error = `interrupted; ${what} goes on in the engine`;
  return { json: { success: false, error, ...json, hint }, text: `${error}\n${hint}`, exit: exits.interrupted };
}

/** Most merges are over by then, and their result says it all. */
const patienceMs = 2_000;
const againMs = 30_000;

/**
 * Follows something until Ctrl-C, or until the work ends by itself. The first signal asks the work to end; a second one
 * ends the program, as always. A program that waits for nothing but a signal would end at once, so a timer keeps it.
 */
export async function untilInterrupted<T>(work: (over: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController();
  const interrupt = (): void => over.abort();
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.once(signal, interrupt);
  const kept = setInterval(() => {}, 2 ** 31 - 1);
  try {
    return await work(over.signal);
  } finally {
    clearInterval(kept);
    for (const signal of signals) process.off(signal, interrupt);
  }
}
