import type { ExternalTracker } from "./backend.ts";

/** Why an external tracker gave no answer. They differ in what a person does next. */
export type TrackerRefusal =
  | { readonly kind: "program-missing"; readonly tracker: ExternalTracker; readonly program: string }
  /** It ran, and said no or did not come to an end. `problem` completes the sentence "`<command>` ...". */
  | { readonly kind: "program-failed"; readonly command: string; readonly problem: string }
  /** It ended well, and what it said cannot be understood. */
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
