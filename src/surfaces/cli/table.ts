import { visibleJson, visibleLine, visibleText } from "../../domain/text/visible.ts";
import { cut } from "../shared/format.ts";
import type { Paint, Rows } from "./command.ts";
import type { Format } from "./globals.ts";
import { fileSink } from "./sink.ts";

/** A list in one of the formats a person or script asked for, each row on one line. */
export function renderRows(rows: Rows, format: Exclude<Format, "json">, paint: Paint): string {
  switch (format) {
    case "jsonl":
      return jsonLines(rows);
    case "table":
      return table(rows, paint);
    case "tsv":
      return tsv(rows);
  }
}

export type CellStyle = (cell: string, column: string) => string;

/**
 * Columns padded to their widest cell, two spaces between them, no spaces at the end of a line. `style` colours cells
 * that are already safe to show. On a terminal the last column is cut where a line would be broken.
 */
export function table(all: Rows, paint: Paint, style: CellStyle = (cell) => cell): string {
  const room = fileSink(1).columns();
  const rows = withRoom(all, room);
  const { columns } = rows;
  const cells = fitting(rows, room);
  const widths = columns.map(width);
  const shown = cells.map((row) =>
    columns.map((column, i) => {
      const cell = visibleLine(row[i] ?? "");
      widths[i] = Math.max(widths[i] ?? 0, width(cell));
      return style(cell, column);
    }),
  );
  const line = (row: readonly string[]): string =>
    row.map((cell, i) => (i === columns.length - 1 ? cell : padded(cell, widths[i] ?? 0))).join("  ");
  return [paint.bold(line(columns)), ...shown.map((row) => line(row).trimEnd())].join("\n");
}

/** Leaves out optional columns until a line has room on the terminal without cutting a cell. */
export function withRoom(rows: Rows, room: number | undefined): Rows {
  const [first, ...optional] = rows.optional ?? [];
  if (first === undefined || room === undefined || room === 0) return rows;
  const widest = (column: string, at: number): number =>
    Math.max(width(column), ...rows.cells.map((row) => width(visibleLine(row[at] ?? ""))));
  const needed = rows.columns.map(widest).reduce((sum, each) => sum + each + 2, -2);
  if (needed <= room) return rows;
  const at = rows.columns.indexOf(first);
  const columns = rows.columns.filter((column) => column !== first);
  return withRoom({ columns, cells: rows.cells.map((row) => row.toSpliced(at, at < 0 ? 0 : 1)), optional }, room);
}

/** Fewer columns than this would show nothing useful of a cell. */
const leastShown = 12;

/**
 * Cells cut so that a line has room on the terminal: the last column first, which holds text, then the widest ones. The first
 * column is never cut: it holds the name by which a row is typed.
 */
export function fitting({ columns, cells }: Rows, room: number | undefined): Rows["cells"] {
  if (room === undefined || room === 0) return cells;
  const widths = columns.map((column, at) =>
    Math.max(width(column), ...cells.map((row) => width(visibleLine(row[at] ?? "")))),
  );
  let over = widths.reduce((sum, each) => sum + each + 2, -2) - room;
  const shrink = (at: number, to: number): void => {
    const from = widths[at] ?? 0;
    widths[at] = Math.min(from, Math.max(to, leastShown, width(columns[at] ?? "")));
    over -= from - (widths[at] ?? 0);
  };
  const last = columns.length - 1;
  if (over > 0 && last > 0) shrink(last, (widths[last] ?? 0) - over);
  for (let isShorter = true; over > 0 && isShorter; ) {
    const before = over;
    const widest = Math.max(...widths.slice(1, last));
    for (let at = 1; at < last && over > 0; at++) if (widths[at] === widest) shrink(at, widest - 1);
    isShorter = over < before;
  }
  return cells.map((row) => row.map((cell, at) => (at === 0 ? cell : cut(visibleLine(cell), widths[at] ?? 0))));
}

/** A header line, then one line per row. A backslash in a cell is doubled, so the escapes for tab and newline are certain. */
function tsv({ columns, cells }: Rows): string {
  const line = (row: readonly string[]): string => columns.map((_, i) => tsvCell(row[i] ?? "")).join("\t");
  return [columns.join("\t"), ...cells.map(line)].join("\n");
}

function jsonLines({ columns, cells, objects }: Rows): string {
  const items = objects ?? cells.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i] ?? ""])));
  return items.map((item) => visibleJson(JSON.stringify(item))).join("\n");
}

const width = (text: string): number => Bun.stringWidth(text);
const padded = (text: string, to: number): string => text + " ".repeat(Math.max(0, to - width(text)));

/** Line breaks and tabs by their usual letters, as programs that read this format expect. */
const tsvCell = (text: string): string =>
  visibleText(text.replaceAll("\\", "\\\\")).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
