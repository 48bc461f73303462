import type { DiffFile } from "../api/types.ts";

/** `L`: the file as it was; `R`: as it is. */
export type Side = "L" | "R";

/** A line of a changed file, as a comment names it. */
export interface Place {
  readonly path: string;
  readonly side: Side;
  readonly line: number;
}

/** From where to where a part of a line is marked. */
export type Range = readonly [from: number, to: number];

/** One line on one side. */
export interface Cell {
  readonly no: number;
  readonly sign: "+" | "-" | " ";
  readonly text: string;
  readonly words: readonly Range[] | undefined;
}

interface InFile {
  readonly id: string;
  /** The place of its file in the diff. */
  readonly file: number;
}

export type DiffRow =
  | (InFile & { readonly kind: "file" })
  | (InFile & { readonly kind: "closed" })
  /** Lines that stayed and are not shown; null where their number is not known. */
  | (InFile & { readonly kind: "gap"; readonly count: number | null; readonly heading: string })
  /** One column: `old` and `now` are its numbers on both sides. */
  | (InFile & { readonly kind: "line"; readonly cell: Cell; readonly old: number | null; readonly now: number | null })
  /** Two columns; an empty side has no cell. */
  | (InFile & { readonly kind: "pair"; readonly left: Cell | undefined; readonly right: Cell | undefined })
  | (InFile & { readonly kind: "plain"; readonly text: string })
  /** Something that was put below a line by its name, as a comment. */
  | (InFile & { readonly kind: "below"; readonly key: string });

export interface RowTerms {
  readonly mode: "split" | "unified";
  readonly isFolded: (file: DiffFile) => boolean;
  /** Names of what stands below a line. */
  readonly below: ReadonlyMap<string, readonly string[]>;
}

export const placeKey = ({ path, side, line }: Place): string => `${path}:${side}${line}`;

/** All rows of a diff from top to bottom. */
export function diffRows(files: readonly DiffFile[], { mode, isFolded, below }: RowTerms): readonly DiffRow[] {
  const rows: DiffRow[] = [];
  for (const [at, file] of files.entries()) {
    const { path } = file;
    rows.push({ kind: "file", id: `${path}:file`, file: at });
    if (isFolded(file)) continue;
    if (file.closed !== null) {
      rows.push({ kind: "closed", id: `${path}:closed`, file: at });
      continue;
    }
    const add = (place: Place, row: DiffRow): void => {
      rows.push(row);
      for (const key of below.get(placeKey(place)) ?? []) rows.push({ kind: "below", id: key, file: at, key });
    };
    let shownTo = 0;
    for (const hunk of file.hunks) {
      const count = hunk.newStart === 0 ? 0 : hunk.newStart - shownTo - 1;
      if (count > 0 || hunk.heading !== "") {
        rows.push({ kind: "gap", id: `${path}:gap${hunk.newStart}`, file: at, count, heading: hunk.heading });
      }
      const lines = mode === "split" ? pairsOf(file, at, hunk) : linesOf(file, at, hunk);
      for (const { place, row } of lines) add(place, row);
      shownTo = hunk.newStart + hunk.lines.filter((line) => line[0] === " " || line[0] === "+").length - 1;
    }
    const isWhole = file.status === "added" || file.status === "deleted";
    if (file.hunks.length === 0) rows.push({ kind: "plain", id: `${path}:none`, file: at, text: whyEmpty(file) });
    else if (!isWhole) rows.push({ kind: "gap", id: `${path}:gapEnd`, file: at, count: null, heading: "" });
  }
  return rows;
}

function whyEmpty({ status, oldPath }: DiffFile): string {
  if (status === "renamed") return `Renamed from ${oldPath ?? "another name"}; its lines are the same.`;
  return status === "added" || status === "deleted" ? "The file is empty." : "Only its mode or its blanks changed.";
}

type Hunk = DiffFile["hunks"][number];
interface Placed {
  readonly place: Place;
  readonly row: DiffRow;
}

/** Goes through the lines of a hunk with their numbers and marks. */
function* cellsOf({ oldStart, newStart, lines, words }: Hunk) {
  const marks = new Map<number, Range[]>();
  for (const [line = 0, from = 0, to = 0] of words) {
    const known = marks.get(line);
    if (known === undefined) marks.set(line, [[from - 1, to - 1]]);
    else known.push([from - 1, to - 1]);
  }
  let [old, now] = [oldStart, newStart];
  for (const [index, line] of lines.entries()) {
    const sign = line[0];
    if (sign !== "+" && sign !== "-" && sign !== " ") continue;
    const text = line.slice(1);
    const cell: Cell = { no: sign === "-" ? old : now, sign, text, words: marks.get(index) };
    yield { cell, old: sign === "+" ? null : old, now: sign === "-" ? null : now };
    if (sign !== "+") old++;
    if (sign !== "-") now++;
  }
}

function* linesOf({ path }: DiffFile, file: number, hunk: Hunk): Generator<Placed> {
  for (const { cell, old, now } of cellsOf(hunk)) {
    const side = cell.sign === "-" ? "L" : "R";
    const place: Place = { path, side, line: cell.no };
    yield { place, row: { kind: "line", id: placeKey(place), file, cell, old, now } };
  }
}

/** Lines that went stand beside those that came in their place. */
function* pairsOf({ path }: DiffFile, file: number, hunk: Hunk): Generator<Placed> {
  let went: Cell[] = [];
  let came: Cell[] = [];
  const pair = (left: Cell | undefined, right: Cell | undefined): Placed => {
    const place: Place = { path, side: right === undefined ? "L" : "R", line: (right ?? left)?.no ?? 0 };
    return { place, row: { kind: "pair", id: placeKey(place), file, left, right } };
  };
  function* flush(): Generator<Placed> {
    for (let at = 0; at < Math.max(went.length, came.length); at++) yield pair(went[at], came[at]);
    went = [];
    came = [];
  }
  for (const { cell, old } of cellsOf(hunk)) {
    if (cell.sign === "-") {
      if (came.length > 0) yield* flush();
      went.push(cell);
    } else if (cell.sign === "+") came.push(cell);
    else {
      yield* flush();
      yield pair({ ...cell, no: old ?? 0 }, cell);
    }
  }
  yield* flush();
}

/** The line that a comment on this row is about; undefined for rows that are no lines. */
export function placeOf(row: DiffRow | undefined, files: readonly DiffFile[]): Place | undefined {
  if (row === undefined || (row.kind !== "line" && row.kind !== "pair")) return undefined;
  const path = files[row.file]?.path ?? "";
  if (row.kind === "line") return { path, side: row.cell.sign === "-" ? "L" : "R", line: row.cell.no };
  const cell = row.right ?? row.left;
  return cell === undefined ? undefined : { path, side: row.right === undefined ? "L" : "R", line: cell.no };
}

/** Does the row show a line that came or went? */
export const isChange = (row: DiffRow | undefined): boolean =>
  row?.kind === "line"
    ? row.cell.sign !== " "
    : row?.kind === "pair"
      ? row.left?.sign === "-" || row.right?.sign === "+"
      : false;

export const rowText = (row: DiffRow): string => {
  if (row.kind === "line") return row.cell.text;
  if (row.kind === "pair") return `${row.left?.sign === "-" ? row.left.text : ""}\n${row.right?.text ?? ""}`;
  return "";
};
