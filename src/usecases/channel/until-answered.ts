/** What waiting needs of the world. */
export interface Waiting {
  /** See `CommandChannel.changeCounter`. */
  changeCounter(): Promise<number | undefined>;
  now(): number;
  sleep(ms: number): Promise<void>;
}

/**
 * Asks until there is an answer, and asks again when something was written that could change it. The pauses between the
 * looks grow with the time that was waited: what takes a tenth of a second is noticed within milliseconds, and who waits
 * for minutes looks ten times a second. Some answers depend on the time, the disk or a dead engine, so it is also asked
 * now and then when nothing was written.
 */
export async function untilAnswered<T>(
  { changeCounter, now, sleep }: Waiting,
  ask: () => Promise<T | undefined>,
  signal?: AbortSignal,
): Promise<T> {
  const began = now();
  for (;;) {
    const asked = now();
    const before = await changeCounter();
    const answer = await ask();
    if (answer !== undefined) return answer;
    // While others write all the time, no more than half of the time goes into asking.
    const leastMs = Math.max(shortestPauseMs, now() - asked);
    // Without a change counter each look is a whole call.
    const longestMs = before === undefined ? longestBlindPauseMs : longestPauseMs;
    do {
      await sleep(Math.min(longestMs, Math.max(leastMs, (now() - began) * pauseShare)));
    } while (
      now() - asked < askAnywayMs &&
      before !== undefined &&
      signal?.aborted !== true &&
      (await changeCounter()) === before
    );
  }
}

const shortestPauseMs = 2;
const longestPauseMs = 100;
const longestBlindPauseMs = 2_000;
const pauseShare = 1 / 60;
const askAnywayMs = 500;
