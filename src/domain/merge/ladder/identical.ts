import { alignThree } from "../data/sequence.ts";
import { plainOf } from "./form.ts";
import { formatOf } from "./format.ts";
import { type Answer, type Rung, resolved, skip, type Triple } from "./triple.ts";

/** One side is as it was: the other side's version is the merge. */
export const trivialRung: Rung = {
  name: "trivial",
  attempt: async ({ base, ours, theirs }) => {
    if (base === null) return skip;
    if (ours === base) return resolved("trivial", theirs);
    return theirs === base ? resolved("trivial", ours) : skip;
  },
};

/** Both sides made the same change, or one of them changed nothing but whitespace at the ends of lines. */
export const identicalRung: Rung = { name: "identical", attempt: async (triple) => identical(triple) };

function identical(triple: Triple): Answer {
  if (triple.ours === triple.theirs) return resolved("identical", triple.ours);
  const plain = plainOf(triple);
  if (plain === undefined) return skip;
  const { ours, theirs, base, restore } = plain;
  if (ours === theirs) return resolved("identical", restore(ours));
  if (triple.base === null) return skip;
  if (base === theirs) return resolved("identical", triple.ours);
  if (base === ours) return resolved("identical", restore(theirs));
  // Two spaces at the end of a line break it there.
  if (formatOf(triple.path) === "markdown" || formatOf(triple.path) === "changelog") return skip;
  const [b, o, t] = [bare(base), bare(ours), bare(theirs)];
  if (o !== b && t !== b && o !== t) return skip;
  return resolved("identical", restore(keepSpaces({ base, ours, theirs })));
}

const bareLine = (line: string): string => line.replace(/[ \t]+$/, "");

const bare = (text: string): string => text.split("\n").map(bareLine).join("\n");

/**
 * All real changes come from one side, or are the same on both. Each line nobody really changed has the spaces of whoever
 * changed them; lines with a real change are as the side that made it wrote them.
 */
function keepSpaces({ base, ours, theirs }: { base: string; ours: string; theirs: string }): string {
  const sides = { base: base.split("\n"), ours: ours.split("\n"), theirs: theirs.split("\n") };
  const oursIsReal = bare(ours) !== bare(base);
  const lines = alignThree(sides, bareLine).flatMap((chunk) => {
    if (!chunk.stable) return oursIsReal ? chunk.ours : chunk.theirs;
    return chunk.base.map((line, at) => {
      const [mine = line, other = line] = [chunk.ours[at], chunk.theirs[at]];
      return mine === line ? other : mine;
    });
  });
  return lines.join("\n");
}
