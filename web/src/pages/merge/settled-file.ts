import type { Conflicts } from "../../api/types.ts";

export type ConflictFile = Conflicts["files"][number];
export type Hunk = ConflictFile["hunks"][number];
export type Take = "target" | "branch" | "both";

/** What a person said about one place: the lines that stay, and where they come from. */
export interface Said {
  readonly text: string;
  readonly from: Take | "you";
}

/** What stays when a side is taken, or both: of a file without hunks the server knows the text. */
export function taken(hunk: Hunk | undefined, from: Take): Said {
  if (hunk === undefined) return { text: "", from };
  const lines = [...(from === "branch" ? [] : hunk.target.lines), ...(from === "target" ? [] : hunk.branch.lines)];
  return { text: textOf(lines), from };
}

/** No line at all is the empty text, and the end of the last line counts for nothing: an empty one is written with its end. */
const textOf = (lines: readonly string[]): string => lines.join("\n") + (lines.at(-1) === "" ? "\n" : "");
const linesIn = (text: string): readonly string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

/** A file as the server takes it. Lines that a person wrote end as those of the file do. */
export function settledFile(file: ConflictFile, said: (file: ConflictFile, hunk?: Hunk) => Said | undefined) {
  const { path, hunks, parts, endsWithLine } = file;
  if (hunks.length === 0) return { path, take: said(file)?.from };
  const endsInReturn = parts.some((part) => "lines" in part && part.lines.some((line) => line.endsWith("\r")));
  const lines = parts.flatMap((part) => {
    if ("lines" in part) return part.lines;
    const hunk = hunks[part.hunk];
    const own = linesIn((hunk === undefined ? undefined : said(file, hunk))?.text ?? "");
    return endsInReturn ? own.map((line) => (line.endsWith("\r") ? line : `${line}\r`)) : own;
  });
  return { path, content: lines.join("\n") + (endsWithLine && lines.length > 0 ? "\n" : "") };
}
