import { resolveTracker, type TrackerBackend, type TrackerReading } from "../../domain/tracker/tracker.ts";
import type { Trackers } from "../../ports/tracker.ts";

export interface TrackerTerms {
  readonly backend: TrackerBackend;
  /** Somebody will decide by the answer. Programs of others are not started for nothing. */
  readonly counts: boolean;
}

/**
 * What the project's tracker says now, for `coordinator.check`. Whoever asks for that check gathers this before it, in
 * its own process: the program of a tracker never runs inside a transaction, and the engine never starts one, so a run
 * that waits costs nothing.
 */
export async function readTracker(trackers: Trackers, { backend, counts }: TrackerTerms): Promise<TrackerReading> {
  const tracker = resolveTracker(backend, trackers.facts());
  if (tracker === "native") return { kind: "native" };
  if (!counts) return { kind: "not-asked", tracker };
  const ready = await trackers.open(tracker).ready();
  if (!ready.ok) return { kind: "refused", refusal: ready.refusal };
  return { kind: "ready", tracker, ids: ready.value.map(({ id }) => id) };
}
