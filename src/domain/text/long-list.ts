import { utf8Length } from "./sizes.ts";

/** The most that a message names of a list: a mass change has thousands of files, and its readers can ask git for them. */
const most = {
  /** In a sentence for people and agents. */
  words: { items: 30, bytes: 4 * 1024 },
  /** In the JSON beside a message, which has a limit of its own. */
  payload: { items: 200, bytes: 16 * 1024 },
} as const;

export interface Beginning<Item> {
  readonly shown: readonly Item[];
  /** How many were left out. */
  readonly left: number;
}

/** The beginning of a list, as much of it as a payload has room for. */
export const forPayload = <Item>(items: readonly Item[]): Beginning<Item> =>
  beginning(items, most.payload, (item) => utf8Length(JSON.stringify(item)));

/** A list in words. A long list names its first items and counts the rest. */
export function namedIn(names: readonly string[]): string {
  const { shown, left } = beginning(names, most.words, utf8Length);
  return left === 0 ? shown.join(", ") : [...shown, `and ${left} more`].join(", ");
}

function beginning<Item>(
  items: readonly Item[],
  { items: mostItems, bytes: mostBytes }: (typeof most)["words" | "payload"],
  bytesOf: (item: Item) => number,
): Beginning<Item> {
  let bytes = 0;
  const end = items.slice(0, mostItems).findIndex((item) => {
    bytes += bytesOf(item);
    return bytes > mostBytes;
  });
  const shown = items.slice(0, end === -1 ? mostItems : end);
  return { shown, left: items.length - shown.length };
}
