import { setTimeout as pause } from "node:timers/promises";

export type StopCause = "SIGTERM" | "SIGHUP" | "SIGINT" | "interrupt";

/** What every wait of a turn throws when the turn is asked to stop. */
export class Stopped extends Error {
  readonly by: StopCause;

  constructor(by: StopCause) {
    super(`stopped by ${by}`);
    this.by = by;
  }
}

/** How the imitated program leaves when a signal ends it. */
export const exitCodes: Readonly<Record<Exclude<StopCause, "interrupt">, number>> = {
  SIGTERM: 143,
  SIGHUP: 129,
  SIGINT: 0,
};

// SIGTERM must end the process within 0.1 s even if its last line cannot be written because its reader is gone.
const lastWordsMs = 60;
const keepAliveMs = 60_000;

/** One place where signals and interrupts meet the running turn. */
export class StopRequest {
  #controller = new AbortController();
  #cause: StopCause | undefined;
  #ignoresSigterm = false;

  /** From now on signals stop the turn instead of the process at once. */
  listen(): void {
    process.on("SIGINT", () => this.request("SIGINT"));
    for (const name of ["SIGTERM", "SIGHUP"] as const) {
      process.on(name, () => {
        if (name === "SIGTERM" && this.#ignoresSigterm) return;
        setTimeout(() => process.exit(exitCodes[name]), lastWordsMs);
        this.request(name);
      });
    }
  }

  ignoreSigterm(): void {
    this.#ignoresSigterm = true;
  }

  get cause(): StopCause | undefined {
    return this.#cause;
  }

  request(cause: StopCause): void {
    this.#cause ??= cause;
    this.#controller.abort();
  }

  /** After an interrupt the process serves the next turn as if nothing had happened. */
  reset(): void {
    this.#cause = undefined;
    this.#controller = new AbortController();
  }

  check(): void {
    if (this.#cause !== undefined) throw new Stopped(this.#cause);
  }

  /** Waits for the work, or throws `Stopped` as soon as a stop is asked for; `onStop` runs first in that case. */
  async during<T>(work: Promise<T>, onStop: () => void = () => {}): Promise<T> {
    const signal = this.#controller.signal;
    let asked = () => {};
    const stopped = new Promise<never>((_, reject) => {
      asked = () => {
        onStop();
        reject(new Stopped(this.#cause ?? "interrupt"));
      };
    });
    if (signal.aborted) asked();
    signal.addEventListener("abort", asked, { once: true });
    try {
      return await Promise.race([work, stopped]);
    } finally {
      signal.removeEventListener("abort", asked);
    }
  }

  sleep(ms: number): Promise<void> {
    return this.during(pause(ms));
  }

  /** Only a stop ends this. */
  async forever(): Promise<never> {
    const alive = setInterval(() => {}, keepAliveMs);
    try {
      return await this.during(new Promise<never>(() => {}));
    } finally {
      clearInterval(alive);
    }
  }
}
