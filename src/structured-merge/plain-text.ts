import type { Texts } from "./outcome.ts";
import type { Versions } from "./versions.ts";

/** Three texts with LF and a final newline everywhere, and the way back to how ours is written. */
export interface Plain extends Texts {
  /** Line ends, final newline and byte order mark as in ours. */
  restore(content: string): string;
}

/** Undefined when the line ends of ours are mixed: then no rule says how the result should be written. */
export function plainOf({ base, ours, theirs }: Pick<Versions, "base" | "ours" | "theirs">): Plain | undefined {
  const windows = ours.split("\r\n").length - 1;
  const all = ours.split("\n").length - 1;
  if (windows > 0 && windows < all) return undefined;
  const mark = ours.startsWith(byteOrderMark) ? byteOrderMark : "";
  const ends = ours === "" || ours.endsWith("\n");
  return {
    base: plain(base ?? ""),
    ours: plain(ours),
    theirs: plain(theirs),
    restore: (content) => {
      const ended = ends ? content : content.replace(/\n$/, "");
      return `${mark}${windows > 0 ? ended.replaceAll("\n", "\r\n") : ended}`;
    },
  };
}

const byteOrderMark = "\uFEFF";

function plain(text: string): string {
  const lines = text.replace(byteOrderMark, "").replaceAll("\r\n", "\n");
  return lines === "" || lines.endsWith("\n") ? lines : `${lines}\n`;
}

/** One side took everything out of the file and the other went on with it: that is a deletion beside a change. */
export const isEmptied = ({ base, ours, theirs }: Pick<Versions, "base" | "ours" | "theirs">): boolean =>
  base !== null && base.trim() !== "" && (ours.trim() === "" || theirs.trim() === "");
