import { formatOf } from "../file-format.ts";
import { alignThree } from "../lines/align.ts";
import { type Answer, plainOf, resolved, skip, type Versions } from "../versions.ts";

/** One side is as it was: the other side's version is the merge. */
export function mergeTrivial({ base, ours, theirs }: Versions): Answer {
  if (base === null) return skip;
  if (ours === base) return resolved("trivial", theirs);
  return theirs === base ? resolved("trivial", ours) : skip;
}

/** Both sides made the same change, or one of them changed nothing but whitespace at the ends of lines. */
export function mergeIdentical(versions: Versions): Answer {
  if (versions.ours === versions.theirs) return resolved("identical", versions.ours);
  const plain = plainOf(versions);
  if (plain === undefined) return skip;
  const { ours, theirs, base, restore } = plain;
  if (ours === theirs) return resolved("identical", restore(ours));
  if (versions.base === null) return skip;
  if (base === theirs) return resolved("identical", versions.ours);
  if (base === ours) return resolved("identical", restore(theirs));
  // Two spaces at the end of a line break it there.
  if (formatOf(versions.path) === "markdown" || formatOf(versions.path) === "changelog") return skip;
  const [b, o, t] = [bare(base), bare(ours), bare(theirs)];
  if (o !== b && t !== b && o !== t) return skip;
  return resolved("identical", restore(keepSpaces({ base, ours, theirs })));
}

const bareLine = (line: string): string => line.replace(/[ \t]+$/, "");

const bare = (text: string): string => text.split("\n").map(bareLine).join("\n");

/**
 * All real changes come from one side, or are the same on both. A line without a real change has the spaces of the side
 * that changed them; lines with a real change are as the side that made it wrote them.
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
