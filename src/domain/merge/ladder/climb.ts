import { hasConflictMarkers } from "../data/conserve.ts";
import { forbidden } from "./guard.ts";
import type { Rung, Triple } from "./triple.ts";

/** A rung that was tried and did not settle it. */
export interface Tried {
  readonly rung: string;
  readonly reason: string;
}

export type Climb = (
  | { readonly kind: "resolved"; readonly content: string; readonly strategy: string }
  | { readonly kind: "escalate"; readonly reason: string }
) & { readonly tried: readonly Tried[] };

/** Tries each rung in turn until one is sure. Rungs that do not concern such a file are not counted as tried. */
export async function climb(rungs: readonly Rung[], triple: Triple): Promise<Climb> {
  const never = forbidden(triple);
  if (never !== undefined) return { kind: "escalate", reason: never, tried: [] };
  const tried: Tried[] = [];
  for (const rung of rungs) {
    const answer = await rung.attempt(triple);
    if (answer.kind === "resolved") {
      if (!hasConflictMarkers(answer.content)) return { ...answer, tried };
      tried.push({ rung: rung.name, reason: "its result would look like a conflict" });
    } else if (answer.skipped !== true) tried.push({ rung: rung.name, reason: answer.reason });
  }
  return { kind: "escalate", reason: tried.at(-1)?.reason ?? "no rule knows this kind of file", tried };
}
