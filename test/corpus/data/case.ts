/** One triple and what a careful person would make of it. */
export interface Case {
  readonly name: string;
  readonly path: string;
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
  /** What the result says, written by hand; `refuse` where only a person may decide. */
  readonly expect: "refuse" | unknown;
  readonly union?: boolean;
}

/** A list of headings with the text below each, as a Markdown case expects it. */
export type Sections = readonly (readonly [heading: string, body: string])[];

export const refuse = "refuse" as const;

/** The text with each pair replaced; a pair that does not occur is a mistake in the case. */
export function edit(text: string, ...pairs: readonly (readonly [string, string])[]): string {
  return pairs.reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`the case edits what is not there: ${from}`);
    return changed.replace(from, () => to);
  }, text);
}
