import { wrapLines } from "./layout.ts";
import { isTerminal } from "./sink.ts";

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** How large the terminal on standard output is now; undefined where output goes elsewhere. */
export function screenSize(): ScreenSize | undefined {
  if (!isTerminal(1)) return undefined;
  const [columns, rows] = process.stdout.getWindowSize();
  return columns > 0 && rows > 0 ? { columns, rows } : undefined;
}

/**
 * As much of a text as a terminal shows at once, from its beginning, which says what matters most. Then a line says how
 * to see `whole`. A longer text would scroll, and only its end would be seen.
 */
export function screenful(text: string, { columns, rows }: ScreenSize, whole: string): string {
  const lines = wrapLines(text.trimEnd(), columns).split("\n");
  const heights = lines.map((line) => Math.max(1, Math.ceil(Bun.stringWidth(line) / columns)));
  // The cursor stands in the last row.
  const room = rows - 1;
  if (heights.reduce((sum, height) => sum + height, 0) <= room) return lines.join("\n");
  let shown = 0;
  for (let left = room - 1; left >= (heights[shown] ?? 1); shown++) left -= heights[shown] ?? 1;
  return [...lines.slice(0, shown), `... ${lines.length - shown} more lines: ${whole}`.slice(0, columns)].join("\n");
}
