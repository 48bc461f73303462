import { hasConflictMarkers } from "../../../structured-merge/index.ts";
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

/** Larger files are not text that people merge. */
const mostCharacters = 5 * 1024 * 1024;

/** Why nothing may be decided by rule here, whatever the contents are; undefined when the ladder may be climbed. */
function forbidden({ kind, base, ours, theirs }: Triple): string | undefined {
  if (kind !== "content" && kind !== "add-add") return `a conflict of the kind ${kind} is never settled by rule`;
  const texts = [base ?? "", ours, theirs];
  if (texts.some((text) => text.length > mostCharacters)) return "the file is larger than 5 MB";
  // The replacement character is what bytes that are no UTF-8 were read as.
  if (texts.some((text) => text.includes("\0") || text.includes("\uFFFD"))) return "the file is not text";
  if (texts.some(hasConflictMarkers)) return "a version of the file has conflict markers in it";
  return undefined;
}
