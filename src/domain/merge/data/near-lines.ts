import { type LineMerge, mergeLines, splitLines } from "../structured/line-merge.ts";

/** Lines kept around the changes, so that an edit among repeated lines is still seen with all its possible places. */
const context = 200;

/** The merge by lines, looking only at the stretch of a long file in which anything changed. */
export function mergeNearLines(base: string, ours: string, theirs: string): LineMerge {
  const [b, o, t] = [splitLines(base), splitLines(ours), splitLines(theirs)];
  const shortest = Math.min(b.length, o.length, t.length);
  let head = 0;
  while (head < shortest && b[head] === o[head] && b[head] === t[head]) head++;
  let tail = 0;
  while (tail < shortest - head && b.at(-1 - tail) === o.at(-1 - tail) && b.at(-1 - tail) === t.at(-1 - tail)) tail++;
  const from = Math.max(0, head - context);
  const cut = Math.max(0, tail - context);
  const middle = (lines: readonly string[]): string => lines.slice(from, lines.length - cut).join("");
  const merge = mergeLines(middle(b), middle(o), middle(t));
  if (merge.kind === "conflict") return merge;
  return { kind: "merged", text: [...b.slice(0, from), merge.text, ...b.slice(b.length - cut)].join("") };
}
