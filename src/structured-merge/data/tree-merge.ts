import type { Branch, Node, Part, Special } from "./document-tree.ts";
import type { Path } from "./merge-values.ts";

/** Three versions of one thing; the base is absent where both sides added it. */
export interface Three<T> {
  readonly base: T | undefined;
  readonly ours: T;
  readonly theirs: T;
}

export interface Branches {
  readonly base: Branch;
  readonly ours: Branch;
  readonly theirs: Branch;
}

/** What differs between formats. */
export interface Habits {
  /** How a text of theirs is made to fit ours when the indentation differs; undefined when it cannot be. */
  readonly reindent: (text: string, from: string, to: string) => string | undefined;
  /** Ways of being tied to other places that keep a part from being moved. */
  readonly ties: readonly Special[];
  /** Maps in which the order of keys has a meaning. */
  readonly ordered: (path: Path) => boolean;
}

/** What merging the parts of a map or a list asks of merging the tree they are in. */
export interface Merging extends Habits {
  readonly nodes: (three: Three<Node>, path: Path) => Node;
  readonly part: (three: { base: Part; ours: Part; theirs: Part }, path: Path) => Part;
}
