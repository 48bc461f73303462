/** Task trackers of others, each asked through its own program. */
export const externalTrackers = ["beads", "seeds"] as const;
export type ExternalTracker = (typeof externalTrackers)[number];

/** What `taskTracker.backend` takes. */
export const trackerBackends = ["auto", "native", "seeds", "beads"] as const;
export type TrackerBackend = (typeof trackerBackends)[number];

/** The parts of a tracker that were found. */
export interface TrackerPresence {
  /** The project has its directory. */
  readonly files: boolean;
  /** Its program is on the PATH. */
  readonly program: boolean;
}

export type TrackerFacts = Readonly<Record<ExternalTracker, TrackerPresence>>;

/**
 * The tracker of a project. A named tracker is taken as named, so that a missing program is reported rather than worked
 * around. `auto` takes an external one only when its program could be asked. Files without their program leave it at
 * our own tasks, because we cannot read such files yet: `ov task import` brings them over by hand.
 */
export function resolveTracker(backend: TrackerBackend, facts: TrackerFacts): ExternalTracker | "native" {
  if (backend !== "auto") return backend;
  return externalTrackers.find((name) => facts[name].files && facts[name].program) ?? "native";
}

/** The tasks of an external tracker at one moment. `native`: the project has only our own tasks. */
export type TrackerReading =
  | { readonly kind: "native" }
  | { readonly kind: "ready"; readonly tracker: ExternalTracker; readonly ids: readonly string[] }
  /** Its answer would change nothing, so its program was not started. */
  | { readonly kind: "not-asked"; readonly tracker: ExternalTracker }
  | { readonly kind: "refused"; readonly refusal: TrackerRefusal };

/** One task as an external tracker tells it. */
export interface TrackerTask {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly priority: number | null;
  /** `unknown` when the tracker does not say. */
  readonly type: string;
}

/** Why an external tracker gave no answer. They differ in what a person does next. */
export type TrackerRefusal =
  | { readonly kind: "program-missing"; readonly tracker: ExternalTracker; readonly program: string }
  /** It ran, and said no or did not come to an end. `problem` completes the sentence "`<command>` ...". */
  | { readonly kind: "program-failed"; readonly command: string; readonly problem: string }
  /** The command succeeded, and its output cannot be understood. */
  | { readonly kind: "malformed-output"; readonly command: string; readonly problem: string };

/** What happened, and what to type. */
export function trackerProblem(refusal: TrackerRefusal): string {
  switch (refusal.kind) {
    case "program-missing":
      return `${refusal.tracker} cannot be asked, because ${refusal.program} is not on the PATH: install it, or type: ov config set taskTracker.backend native`;
    case "program-failed":
      return `\`${refusal.command}\` ${refusal.problem}; to see why, type: ${refusal.command}`;
    case "malformed-output":
      return `\`${refusal.command}\` gave no list of tasks (${refusal.problem}); to see what it says, type: ${refusal.command}`;
  }
}
