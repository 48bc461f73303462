import type { Language } from "../file-format.ts";

/** One node of a syntax tree as plain data; `start` and `end` count UTF-16 units of the parsed text. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly named: boolean;
  readonly field?: string;
  readonly children: readonly SyntaxNode[];
  /** Something in this node or below could not be understood. */
  readonly hasError: boolean;
}

/** A node together with the text it was parsed from. */
export interface Code {
  readonly src: string;
  readonly node: SyntaxNode;
  readonly language: Language;
}

/** What the node spells. */
export const textOf = ({ src, node }: Code): string => src.slice(node.start, node.end);

/** The children with a name in the grammar, comments left out. */
export const partsOf = (code: Code): Code[] =>
  code.node.children.filter(({ named, type }) => named && type !== "comment").map((node) => ({ ...code, node }));

/** The first child that fills a field of the grammar. */
export function fieldOf(code: Code, field: string): Code | undefined {
  const node = code.node.children.find((child) => child.field === field);
  return node === undefined ? undefined : { ...code, node };
}

/** The first child of a type. */
export function childOf(code: Code, ...types: string[]): Code | undefined {
  const node = code.node.children.find(({ type }) => types.includes(type));
  return node === undefined ? undefined : { ...code, node };
}

/** Every node below and including this one, parents first; `into` says whose children are looked at. */
export function* nodesOf(code: Code, into: (node: SyntaxNode) => boolean = () => true): Generator<Code> {
  yield code;
  if (!into(code.node)) return;
  for (const node of code.node.children) yield* nodesOf({ ...code, node }, into);
}

/** Does the node have a child token of such a type, such as `async` or `static`? */
export const hasToken = ({ node }: Code, ...types: string[]): boolean =>
  node.children.some(({ type }) => types.includes(type));

/** A three-way set of the same thing. */
export interface Triple<T> {
  readonly base: T;
  readonly ours: T;
  readonly theirs: T;
}

/** Applies a function to each version. */
export const eachOf = <T, U>({ base, ours, theirs }: Triple<T>, of: (one: T) => U): Triple<U> => ({
  base: of(base),
  ours: of(ours),
  theirs: of(theirs),
});

/** The version that one side alone, or both sides alike, made of it; undefined where they differ. */
export function pick({ base, ours, theirs }: Triple<string>): string | undefined {
  if (ours === theirs || theirs === base) return ours;
  return ours === base ? theirs : undefined;
}

/** What a step of the merge answers: a value, or a sentence why there is none. This folder imports nothing of ours. */
export type Result<T, R> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: R };

export const ok = <T>(value: T): { readonly ok: true; readonly value: T } => ({ ok: true, value });

export const no = <R>(refusal: R): { readonly ok: false; readonly refusal: R } => ({ ok: false, refusal });
