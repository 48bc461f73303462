import { visibleJson, visibleLine, visibleText } from "../../domain/text/visible.ts";
import type { Paint, Rows } from "./command.ts";
import type { Format } from "./globals.ts";

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
 * that are already safe to show.
 */
export function table({ columns, cells }: Rows, paint: Paint, style: CellStyle = (cell) => cell): string {
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
