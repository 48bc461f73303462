/** What a merger of one format answers. A refusal means "unsure"; no weaker method may guess then. */
export type MergeOutcome =
  | { readonly kind: "merged"; readonly content: string }
  | { readonly kind: "refused"; readonly reason: string };

/** Three texts of one file, with line ends already made LF. */
export interface Texts {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

export const merged = (content: string): MergeOutcome => ({ kind: "merged", content });

export const refused = (reason: string): MergeOutcome => ({ kind: "refused", reason });

/**
 * Thrown by the inner steps of a merger to give up from any depth, and turned into a refusal at its edge. It never
 * leaves this folder.
 */
export class Unsure extends Error {}

/** Gives up: the caller of the merger gets this as the reason of its refusal. */
export function unsure(reason: string): never {
  throw new Unsure(reason);
}

/** Runs one merger; giving up becomes a refusal. */
export function attempt(merge: () => MergeOutcome): MergeOutcome {
  try {
    return merge();
  } catch (thrown) {
    if (thrown instanceof Unsure) return refused(thrown.message);
    throw thrown;
  }
}
