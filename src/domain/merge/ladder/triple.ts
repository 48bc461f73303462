import type { ConflictKind } from "../conflict.ts";

/** One conflicted path as three versions; the base is null where both sides added the file. */
export interface Triple {
  readonly path: string;
  readonly base: string | null;
  readonly ours: string;
  readonly theirs: string;
  readonly kind: ConflictKind;
  /** The path has the git attribute `merge=union`. */
  readonly union?: boolean;
}

/** What a rung says: the whole file, or that somebody else has to decide. `skipped`: the rung is not for such files. */
export type Answer =
  | { readonly kind: "resolved"; readonly content: string; readonly strategy: string }
  | { readonly kind: "escalate"; readonly reason: string; readonly skipped?: true };

/** One way of settling a conflict. It must be sure: a rung that merely believes escalates. */
export interface Rung {
  readonly name: string;
  attempt(triple: Triple): Promise<Answer>;
}

export const resolved = (strategy: string, content: string): Answer => ({ kind: "resolved", content, strategy });

export const escalate = (reason: string): Answer => ({ kind: "escalate", reason });

/** The rung has nothing to say about files like this one. */
export const skip: Answer = { kind: "escalate", reason: "not for this kind of file", skipped: true };
