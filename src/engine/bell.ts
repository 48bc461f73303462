/** Collapses any number of rings into one waking of whoever waits. A ring while nobody waits is not lost. */
export class Bell {
  #rung = false;
  #waiter: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#waiter?.();
  }

  /** Resolves true when rung, false after `ms` of silence. */
  wait(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const answer = (): void => {
        clearTimeout(timer);
        this.#waiter = undefined;
        const rung = this.#rung;
        this.#rung = false;
        resolve(rung);
      };
      const timer = setTimeout(answer, Math.min(ms, longestTimer));
      this.#waiter = answer;
      if (this.#rung) answer();
    });
  }
}

/** Timers hold 31 bits of milliseconds; a longer wait simply looks again. */
const longestTimer = 2 ** 31 - 1;
