/** One replacement: the first text must occur exactly once in the base. An empty first text appends to the file. */
export type Edit = readonly [find: string, put: string];

/** What a careful person does with a triple: both, or nothing, or either as long as a merge is right. */
export type Verdict = "merge" | "refuse" | "either";

/** A triple as a stranger would write it, decided before the merger has seen it. */
export interface Triple {
  /** A sentence about the situation. */
  readonly name: string;
  readonly path: string;
  readonly base: string;
  readonly ours: readonly Edit[] | string;
  readonly theirs: readonly Edit[] | string;
  readonly verdict: Verdict;
  /** Expressions over the exports `m` of the merged file (in Python: over its globals) that must be true. */
  readonly holds?: readonly string[];
  /** What the merged JSON or YAML must say. */
  readonly says?: unknown;
  /** Texts that occur in the merged file exactly once. */
  readonly once?: readonly string[];
  /** Texts that occur in the merged file in this order. */
  readonly order?: readonly string[];
  /** Texts that do not occur in the merged file. */
  readonly never?: readonly string[];
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
