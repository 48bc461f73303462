import { formatOf, languageOf } from "../file-format.ts";
import { alignThree, matches } from "../lines/align.ts";
import { unconserved } from "../lines/conserved-lines.ts";
import { mergeNearLines } from "../lines/merge-lines.ts";
import type { Texts } from "../outcome.ts";
import { type Answer, escalate, isEmptied, plainOf, resolved, skip, type Versions } from "../versions.ts";

/** Merges files without a merger of their own by lines. */
export function mergeByLines(versions: Versions): Answer {
  if (formatOf(versions.path) !== "other" || languageOf(versions.path) !== undefined) return skip;
  if (isEmptied(versions)) return escalate("one side emptied the file, the other changed it");
  if (versions.base === null) return escalate("both sides added the file with different contents");
  const plain = plainOf(versions);
  if (plain === undefined) return escalate("the line ends of the file are mixed");
  const { base, ours, theirs } = plain;
  const merge = mergeNearLines(base, ours, theirs);
  if (merge.kind === "conflict") return escalate("both sides changed the same lines");
  const [b = [], o = [], t = [], result = []] = [base, ours, theirs, merge.text].map((text) => text.split("\n"));
  const lost = unconserved({ base: b, ours: o, theirs: t, result });
  if (lost !== undefined) return escalate(`the line "${lost}" would be lost, repeated or brought back`);
  if (isAmbiguous(plain)) return escalate("repeated lines leave it open what each side changed");
  return resolved("lines", plain.restore(merge.text));
}

/**
 * Blank lines and lone brackets match anything, and can lead a merge by lines to a wrong reading of an edit. Looking only at
 * lines that say something, the two sides must not have changed the same ones.
 */
function isAmbiguous({ base, ours, theirs }: Texts): boolean {
  const telling = (text: string): string[] => text.split("\n").filter((line) => /[\p{L}\p{N}]/u.test(line));
  const sides = { base: telling(base), ours: telling(ours), theirs: telling(theirs) };
  return alignThree(sides, (line) => line).some((chunk) => {
    const [b, o, t] = [chunk.base.join("\n"), chunk.ours.join("\n"), chunk.theirs.join("\n")];
    if (chunk.stable || o === t || b === t || b === o) return false;
    const [toOurs, toTheirs] = [matches(chunk.base, chunk.ours), matches(chunk.base, chunk.theirs)];
    return chunk.base.some((_, at) => toOurs[at] === undefined && toTheirs[at] === undefined);
  });
}
