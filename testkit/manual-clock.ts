import type { Clock } from "../src/ports/clock.ts";

/** A clock that stands still until it is moved. */
export interface ManualClock extends Clock {
  /** Time passes, awake: both clocks go on. */
  advance(ms: number): void;
  /** The host sleeps, or the wall clock is set: awake time stands still. A negative number sets it back. */
  jump(ms: number): void;
}

export function manualClock(start = Date.UTC(2026, 0, 1, 12)): ManualClock {
  let wall = start;
  let awake = 1000;
  return {
    now: () => wall,
    monotonic: () => awake,
    advance: (ms) => {
      wall += ms;
      awake += ms;
    },
    jump: (ms) => {
      wall += ms;
    },
  };
}
