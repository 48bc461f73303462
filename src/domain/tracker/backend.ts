/** Task trackers of others, each asked through its own program. */
export const externalTrackers = ["beads", "seeds"] as const;
export type ExternalTracker = (typeof externalTrackers)[number];

/** What `taskTracker.backend` takes. */
export const trackerBackends = ["auto", "native", "seeds", "beads"] as const;
export type TrackerBackend = (typeof trackerBackends)[number];

/** What of a tracker is there. */
export interface TrackerPresence {
  /** The project has its directory. */
  readonly files: boolean;
  /** Its program is on the PATH. */
  readonly program: boolean;
}

export type TrackerFacts = Readonly<Record<ExternalTracker, TrackerPresence>>;

/**
 * Which tracker a project uses. One that was named is taken as named, so that a missing program is reported rather than
 * worked around. `auto` takes an external one only when it could be asked; files without their program leave it at our
 * own tasks, because reading such files ourselves is not built yet: `ov task import` brings them over by hand.
 */
export function resolveTracker(backend: TrackerBackend, facts: TrackerFacts): ExternalTracker | "native" {
  if (backend !== "auto") return backend;
  return externalTrackers.find((name) => facts[name].files && facts[name].program) ?? "native";
}
