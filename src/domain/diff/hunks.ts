import { type Marks, wordMarks } from "./word-marks.ts";

/** A part of a file that changed, with some lines around it. Lines are counted from 1. */
export interface Hunk {
  readonly oldStart: number;
  readonly newStart: number;
  /** The line of the file that git names beside the numbers: mostly the function around it. */
  readonly heading: string;
  /** Each line behind its sign: `+` came, `-` went, a blank stayed, `\` says that the last line has no end. */
  readonly lines: readonly string[];
  /** Parts of lines that differ from the line they took the place of: the line's place here, and from where to where. */
  readonly words: readonly (readonly [line: number, from: number, to: number])[];
}

/** A longer line is made by a program, and no person reads its end. */
export const longestLine = 2_000;

/** The hunks in the part of a patch that is about one file. */
export function hunksIn(text: string): readonly Hunk[] {
  const found: Hunk[] = [];
  let lines: string[] = [];
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const [, oldStart, newStart, heading = ""] = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/.exec(line) ?? [];
    if (oldStart !== undefined) {
      lines = [];
      found.push({ oldStart: Number(oldStart), newStart: Number(newStart), heading, lines, words: [] });
      // Git can be told to leave out the blank before an empty line.
    } else if (found.length > 0) lines.push(line === "" ? " " : cut(line));
  }
  return found.map((hunk) => ({ ...hunk, words: markedWords(hunk.lines) }));
}

const cut = (line: string): string =>
  line.length <= longestLine ? line : `${line.slice(0, longestLine)}… (${line.length - longestLine} more characters)`;

/** Lines that went and the lines that came in their place are compared one by one, in their order. */
function markedWords(lines: readonly string[]): Hunk["words"] {
  const marked: [number, number, number][] = [];
  const mark = (line: number, marks: Marks): void => {
    // The sign before the line counts as its first character.
    for (const [from, to] of marks) marked.push([line, from + 1, to + 1]);
  };
  for (let at = 0; at < lines.length; ) {
    const went = runOf(lines, at, "-");
    const came = runOf(lines, at + went, "+");
    const pairs = Math.min(went, came);
    for (let pair = 0; pair < pairs; pair++) {
      const before = at + pair;
      const after = at + went + pair;
      const found = wordMarks((lines[before] ?? "").slice(1), (lines[after] ?? "").slice(1));
      if (found === undefined) continue;
      mark(before, found.before);
      mark(after, found.after);
    }
    at += Math.max(1, went + came);
  }
  return marked;
}

function runOf(lines: readonly string[], from: number, sign: string): number {
  let length = 0;
  while (lines[from + length]?.startsWith(sign) === true) length++;
  return length;
}
