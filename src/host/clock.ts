import type { Clock } from "../ports/clock.ts";

/** The real clocks. `offsetMs` moves the wall clock only, for tests of suspended and stepped hosts. */
export const systemClock = (offsetMs = 0): Clock => ({
  now: () => Date.now() + offsetMs,
  monotonic: () => performance.now(),
});
