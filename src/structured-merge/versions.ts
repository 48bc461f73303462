import type { Texts } from "./outcome.ts";

/** One file as three versions; the base is null where both sides added the file. */
export interface Versions {
  readonly path: string;
  readonly base: string | null;
  readonly ours: string;
  readonly theirs: string;
  /** The path has the git attribute `merge=union`. */
  readonly union?: boolean;
}

/** What a rule says: the whole file, or that a person has to decide. `skipped`: the rule is not for such files. */
export type Answer =
  | { readonly kind: "resolved"; readonly content: string; readonly strategy: string }
  | { readonly kind: "escalate"; readonly reason: string; readonly skipped?: true };

/** One way of merging a file. It must be sure: a rule that merely believes escalates. */
export interface MergeRule {
  readonly name: string;
  attempt(versions: Versions): Promise<Answer>;
}

export const resolved = (strategy: string, content: string): Answer => ({ kind: "resolved", content, strategy });

export const escalate = (reason: string): Answer => ({ kind: "escalate", reason });

/** The rule has nothing to say about files like this one. */
export const skip: Answer = { kind: "escalate", reason: "not for this kind of file", skipped: true };

/** Three texts with LF and a final newline everywhere, and the way back to how ours is written. */
interface Plain extends Texts {
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
