/** A parsed source that remembers where everything stood. Keys are kept in pairs: `__proto__` is then only a text. */
export type Tree = Leaf | List | Section;

interface Spot {
  readonly line: number;
  readonly column: number;
  /** Offsets of the value in the source text. */
  readonly start: number;
  readonly end: number;
}

export interface Leaf extends Spot {
  readonly kind: "leaf";
  readonly value: string | number | boolean | null;
}

export interface List extends Spot {
  readonly kind: "list";
  readonly items: readonly Tree[];
}

export interface Section extends Spot {
  readonly kind: "section";
  /** Written in lines rather than in braces. */
  readonly block: boolean;
  readonly entries: readonly Entry[];
}

export interface Entry {
  readonly key: string;
  readonly line: number;
  readonly column: number;
  readonly value: Tree;
}

const nowhere: Spot = { line: 0, column: 0, start: 0, end: 0 };

export const entryOf = (tree: Tree | undefined, key: string): Entry | undefined =>
  tree?.kind === "section" ? tree.entries.find((entry) => entry.key === key) : undefined;

/** The tree at a path, or undefined where the source says nothing. */
export function treeAt(tree: Tree, path: readonly string[]): Tree | undefined {
  let here: Tree | undefined = tree;
  for (const part of path) here = entryOf(here, part)?.value;
  return here;
}

/** The bare data of a tree, its places forgotten. */
export function dataOf(tree: Tree): unknown {
  if (tree.kind === "list") return tree.items.map(dataOf);
  if (tree.kind === "leaf") return tree.value;
  return Object.fromEntries(tree.entries.map((entry) => [entry.key, dataOf(entry.value)]));
}

/** A tree for data that has no source text, such as a value from the environment. */
export function treeOf(data: unknown): Tree {
  if (Array.isArray(data)) return { kind: "list", items: data.map(treeOf), ...nowhere };
  if (typeof data === "object" && data !== null) {
    const entries = Object.entries(data).map(([key, value]) => ({ key, line: 0, column: 0, value: treeOf(value) }));
    return { kind: "section", block: false, entries, ...nowhere };
  }
  if (typeof data === "string" || typeof data === "number" || typeof data === "boolean") {
    return { kind: "leaf", value: data, ...nowhere };
  }
  return { kind: "leaf", value: null, ...nowhere };
}
