import type { ExternalTracker } from "./backend.ts";
import type { TrackerRefusal } from "./refusal.ts";

/** What is known of the tasks in an external tracker at one moment. `native`: the project has none beside our own. */
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
