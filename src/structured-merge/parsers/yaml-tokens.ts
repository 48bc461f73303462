import { unsure } from "../outcome.ts";

/** The few fields of the parser's own tokens that positions are read from. */
export interface Token {
  readonly type: string;
  readonly offset: number;
  readonly source: string;
}

export interface ItemToken {
  readonly start?: readonly Token[];
  readonly key?: Token | null;
  readonly sep?: readonly Token[];
  readonly value?: (Token & { readonly end?: readonly Token[] }) | null;
  readonly explicitKey?: boolean;
}

/** The source tokens of a collection's items, in order. */
export function tokensOf(node: { readonly srcToken?: unknown }): readonly ItemToken[] {
  const { srcToken } = node;
  if (typeof srcToken !== "object" || srcToken === null || !("items" in srcToken)) return unsure("YAML without source");
  const items = srcToken.items as readonly ItemToken[];
  // Trailing comments and blank lines are kept by the parser as items without content.
  return items.filter(
    (item) => item.key !== undefined || item.value !== undefined || item.sep !== undefined || hasDash(item),
  );
}

const hasDash = ({ start }: ItemToken): boolean => start?.some(({ type }) => type === "seq-item-ind") === true;

/** Every comment of the file, wherever the parser keeps it. */
export function commentsIn(tokens: unknown): string[] {
  if (Array.isArray(tokens)) return tokens.flatMap(commentsIn);
  if (typeof tokens !== "object" || tokens === null) return [];
  if ("type" in tokens && tokens.type === "comment" && "source" in tokens) return [String(tokens.source).trim()];
  return Object.values(tokens).flatMap(commentsIn);
}

export interface FlowSpan {
  /** Where the text before the item begins: after the bracket or the previous comma. */
  readonly from: number;
  readonly start: number;
  /** The comma that ends it. */
  readonly comma?: number;
}

/** Where the items of a flow collection stand between their commas. */
export function flowSpans(node: {
  readonly srcToken?: unknown;
  readonly range: readonly [number, number, number];
}): readonly FlowSpan[] {
  const { srcToken, range } = node;
  if (typeof srcToken !== "object" || srcToken === null || !("items" in srcToken)) return unsure("YAML without source");
  const items = srcToken.items as readonly ItemToken[];
  const spans: { from: number; start: number; comma?: number }[] = [];
  let from = range[0] + 1;
  let pending: { from: number; start: number; comma?: number } | undefined;
  for (const item of items) {
    const comma = item.start?.find(({ type }) => type === "comma");
    if (comma !== undefined) {
      if (pending === undefined) return unsure("a flow collection begins with a comma");
      pending.comma = comma.offset;
      from = comma.offset + 1;
      pending = undefined;
    }
    const first = item.key ?? item.value;
    if (first === undefined || first === null) continue;
    const properties = item.start?.find(
      ({ type }) => type === "anchor" || type === "tag" || type === "explicit-key-ind",
    );
    pending = { from, start: properties?.offset ?? first.offset };
    spans.push(pending);
  }
  return spans;
}
