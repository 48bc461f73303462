import type { Language } from "../../../src/structured-merge/file-format.ts";

/** One replacement: the first text must occur exactly once in the base. An empty first text appends to the file. */
export type Edit = readonly [find: string, put: string];

/** A triple as data: what both sides did to the base, and what must come of it. */
export interface MergeCase {
  /** A sentence about the situation. */
  readonly name: string;
  readonly base: string;
  readonly ours: readonly Edit[] | string;
  readonly theirs: readonly Edit[] | string;
  readonly language?: Language;
  /**
   * What must hold once the merged file runs: expressions over its exports, called `m` (in Python: over its globals).
   * Absent: the merge must be refused.
   */
  readonly holds?: readonly string[];
  /** Texts that must occur in the merged file exactly once, for what running cannot show. */
  readonly once?: readonly string[];
  /** Files next to it that it imports. */
  readonly files?: Readonly<Record<string, string>>;
}

/** The text of one side. */
export function sideOf(base: string, side: readonly Edit[] | string): string {
  if (typeof side === "string") return side;
  return side.reduce((text, [find, put]) => {
    if (find === "") return text + put;
    const parts = text.split(find);
    if (parts.length !== 2) throw new Error(`"${find}" occurs ${parts.length - 1} times in:\n${text}`);
    return parts.join(put);
  }, base);
}
