import { type Fields, number } from "./json-fields.ts";

/**
 * For a program without a word for the end of its turn: the end of its process is the end. A shell around it prints its exit
 * code as the last line. So the output alone tells how a turn ended, also to a supervisor that took the turn over and is no
 * parent of the process.
 */
export const withExitLine = (argv: readonly string[]): readonly string[] => ["sh", "-c", script, "sh", ...argv];

const type = "overstory.exit";

const script = `"$@"; ov_code=$?\nprintf '\\n{"type":"${type}","code":%d}\\n' "$ov_code"\nexit "$ov_code"`;

/** The exit code in such a line; undefined for any other line. */
export const exitCodeIn = (event: Fields): number | undefined =>
  event.type === type ? (number(event.code) ?? 1) : undefined;
