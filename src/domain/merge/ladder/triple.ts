import type { Answer, Versions } from "../../../structured-merge/index.ts";
import type { ConflictKind } from "../conflict.ts";

/** One conflicted path as three versions, with what git says is wrong with it. */
export interface Triple extends Versions {
  readonly kind: ConflictKind;
}

/** One way of settling a conflict. It must be sure: a rung that merely believes escalates. */
export interface Rung {
  readonly name: string;
  attempt(triple: Triple): Promise<Answer>;
}
