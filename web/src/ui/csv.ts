type Cell = string | number | boolean | null | undefined;

/** A table as CSV. A cell that a spreadsheet would take for a formula gets an apostrophe: names come from agents. */
export const csvOf = (rows: readonly (readonly Cell[])[]): string =>
  `${rows.map((row) => row.map(cellOf).join(",")).join("\r\n")}\r\n`;

function cellOf(cell: Cell): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell !== "string") return String(cell);
  const safe = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
