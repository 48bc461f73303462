export interface FlightTerms {
  /** Puts the error of a failed run on record. */
  readonly report: (error: unknown) => void;
  /** Called after a run that changed something others may act on, and when a failed run may be tried again. */
  readonly wake: () => void;
}

const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

/**
 * Runs some work in the background, one run at a time. Work that is asked for while it runs is run once more
 * afterwards, however often it was asked for. After a failed run `wake` is called once a pause is over, and the pause
 * doubles with each failure in a row: the cause of a failure may go away without a change that would ask for a run.
 */
export class SingleFlight {
  readonly #work: () => Promise<boolean>;
  readonly #terms: FlightTerms;
  #flight: Promise<void> | undefined;
  #asked = false;
  #isEnding = false;
  #failures = 0;
  #failedInRun = false;

  /** `work` resolves to true when it changed something others may act on. */
  constructor(work: () => Promise<boolean>, terms: FlightTerms) {
    this.#work = work;
    this.#terms = terms;
  }

  ask(): void {
    this.#asked = true;
    this.#flight ??= this.#fly().finally(() => {
      this.#flight = undefined;
    });
  }

  get isFlying(): boolean {
    return this.#flight !== undefined;
  }

  /** Resolves when no run is going on. A request that came during the last run is dropped and must be made again. */
  async settled(): Promise<void> {
    this.#isEnding = true;
    while (this.#flight !== undefined) await this.#flight;
    this.#isEnding = false;
  }

  async #fly(): Promise<void> {
    do {
      this.#asked = false;
      await this.#run();
    } while (this.#asked && !this.#isEnding);
  }

  /** For work that reported the failure of a part itself: the run that is going on counts as failed. */
  tryLater(): void {
    if (this.#failedInRun) return;
    this.#failedInRun = true;
    setTimeout(this.#terms.wake, Math.min(firstPauseMs * 2 ** this.#failures, longestPauseMs)).unref();
    this.#failures++;
  }

  async #run(): Promise<void> {
    this.#failedInRun = false;
    try {
      const changed = await this.#work();
      if (!this.#failedInRun) this.#failures = 0;
      if (changed) this.#terms.wake();
    } catch (error) {
      this.#terms.report(error);
      this.tryLater();
    }
  }
}

/** Joins any number of wakes into one for the loop that waits. A wake that comes while the loop works is not lost. */
export class WakeSignal {
  #woken = false;
  #waiter: (() => void) | undefined;

  wake(): void {
    this.#woken = true;
    this.#waiter?.();
  }

  /** Resolves true when woken, false after `ms` without a wake. */
  wait(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const answer = (): void => {
        clearTimeout(timer);
        this.#waiter = undefined;
        const woken = this.#woken;
        this.#woken = false;
        resolve(woken);
      };
      const timer = setTimeout(answer, Math.min(ms, longestTimer));
      this.#waiter = answer;
      if (this.#woken) answer();
    });
  }
}

/** Timers hold 31 bits of milliseconds; a longer wait simply looks again. */
const longestTimer = 2 ** 31 - 1;
