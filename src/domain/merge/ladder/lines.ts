import { unconserved } from "../data/conserve.ts";
import { mergeNearLines } from "../data/near-lines.ts";
import type { Texts } from "../data/outcome.ts";
import { alignThree, matches } from "../data/sequence.ts";
import { languageOf } from "../structured/syntax.ts";
import { plainOf } from "./form.ts";
import { formatOf } from "./format.ts";
import { isEmptied } from "./guard.ts";
import { type Answer, escalate, type Rung, resolved, skip, type Triple } from "./triple.ts";

/**
 * Merges by lines what no merger understands. Never tried on a format with a merger of its own: where that one was
 * unsure, lines would only be bolder.
 */
export const linesRung: Rung = { name: "lines", attempt: async (triple) => byLines(triple) };

function byLines(triple: Triple): Answer {
  if (formatOf(triple.path) !== "other" || languageOf(triple.path) !== undefined) return skip;
  if (isEmptied(triple)) return escalate("one side emptied the file, the other changed it");
  if (triple.base === null) return escalate("both sides added the file with different contents");
  const plain = plainOf(triple);
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
