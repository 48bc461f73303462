export interface DiffLine {
  readonly mark: " " | "-" | "+";
  readonly text: string;
}

/** What changed from one text to the other, line by line. For short texts: it takes the product of their lengths. */
export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const old = linesOf(before);
  const young = linesOf(after);
  const common = commonLengths(old, young);
  const diff: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < young.length) {
    const [a, b] = [old[i], young[j]];
    if (a !== undefined && a === b) {
      diff.push({ mark: " ", text: a });
      i++;
      j++;
    } else if (a !== undefined && (b === undefined || at(common, i + 1, j) >= at(common, i, j + 1))) {
      diff.push({ mark: "-", text: a });
      i++;
    } else {
      diff.push({ mark: "+", text: b ?? "" });
      j++;
    }
  }
  return diff;
}

/** Changed lines with some around them; what is left out between two places becomes undefined. */
export function changesOnly(diff: readonly DiffLine[], around = 2): readonly (DiffLine | undefined)[] {
  const near = diff.map((_, i) => diff.slice(Math.max(0, i - around), i + around + 1).some(({ mark }) => mark !== " "));
  return diff.flatMap((line, i) => {
    if (near[i] === true) return [line];
    return near[i - 1] === true && near.includes(true, i) ? [undefined] : [];
  });
}

const linesOf = (text: string): readonly string[] => text.replace(/\n$/, "").split("\n");

/** Length of the longest common part of what follows each pair of places. */
function commonLengths(a: readonly string[], b: readonly string[]): readonly (readonly number[])[] {
  const table: number[][] = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i--) {
    const row = table[i] ?? [];
    for (let j = b.length - 1; j >= 0; j--) {
      row[j] = a[i] === b[j] ? at(table, i + 1, j + 1) + 1 : Math.max(at(table, i + 1, j), at(table, i, j + 1));
    }
  }
  return table;
}

const at = (table: readonly (readonly number[])[], i: number, j: number): number => table[i]?.[j] ?? 0;
