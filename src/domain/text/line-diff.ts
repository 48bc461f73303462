import { matchingPlaces } from "../../structured-merge/index.ts";

export interface DiffLine {
  readonly mark: " " | "-" | "+";
  readonly text: string;
}

/** What changed from one text to the other, line by line. Where lines were replaced, the old ones come first. */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const [old, young] = [linesOf(before), linesOf(after)];
  const diff: DiffLine[] = [];
  let next = 0;
  const addUntil = (end: number): void => {
    while (next < end) diff.push({ mark: "+", text: young[next++] ?? "" });
  };
  for (const [at, place] of matchingPlaces(old, young).entries()) {
    const text = old[at] ?? "";
    if (place === undefined) {
      diff.push({ mark: "-", text });
      continue;
    }
    addUntil(place);
    diff.push({ mark: " ", text });
    next = place + 1;
  }
  addUntil(young.length);
  return diff;
}

/** Changed lines with some lines around them; lines left out between two places become one undefined. */
export function changesOnly(diff: readonly DiffLine[], around = 2): readonly (DiffLine | undefined)[] {
  const near = diff.map((_, i) => diff.slice(Math.max(0, i - around), i + around + 1).some(({ mark }) => mark !== " "));
  return diff.flatMap((line, i) => {
    if (near[i] === true) return [line];
    return near[i - 1] === true && near.includes(true, i) ? [undefined] : [];
  });
}

const linesOf = (text: string): readonly string[] => text.replace(/\n$/, "").split("\n");
