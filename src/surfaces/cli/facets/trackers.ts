import type { TrackerReading } from "../../../domain/tracker/reading.ts";

/** Task trackers of others. */
export interface TrackerFacet {
  /** What the project's tracker says now, as far as the end of a run depends on it. May start its program. */
  reading(): Promise<TrackerReading>;
}
