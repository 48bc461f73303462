import type { Result } from "../domain/result.ts";
import type { ExternalTracker, TrackerFacts, TrackerRefusal, TrackerTask } from "../domain/tracker/tracker.ts";

/**
 * An external task tracker. Every call starts its program, so none belongs in a transaction: gather first, then decide.
 * No call rejects for what the program does, and none takes longer than a bounded time.
 */
export interface Tracker {
  /** Tasks that could be started now, by the tracker's own rules and in its own order. */
  ready(): Promise<Result<readonly TrackerTask[], TrackerRefusal>>;
}

/** The external trackers of one project. */
export interface Trackers {
  /** Which trackers are installed. Looks at files only and starts no process. */
  facts(): TrackerFacts;
  open(name: ExternalTracker): Tracker;
}
