/** One file as three versions; the base is null where both sides added the file. */
export interface Versions {
  readonly path: string;
  readonly base: string | null;
  readonly ours: string;
  readonly theirs: string;
  /** The path has the git attribute `merge=union`. */
  readonly union?: boolean;
}

/** What a rule says: the whole file, or that a person has to decide. `skipped`: the rule is not for such files. */
export type Answer =
  | { readonly kind: "resolved"; readonly content: string; readonly strategy: string }
  | { readonly kind: "escalate"; readonly reason: string; readonly skipped?: true };

/** One way of merging a file. It must be sure: a rule that merely believes escalates. */
export interface MergeRule {
  readonly name: string;
  attempt(versions: Versions): Promise<Answer>;
}

export const resolved = (strategy: string, content: string): Answer => ({ kind: "resolved", content, strategy });

export const escalate = (reason: string): Answer => ({ kind: "escalate", reason });

/** The rule has nothing to say about files like this one. */
export const skip: Answer = { kind: "escalate", reason: "not for this kind of file", skipped: true };
