import type { OperationName, ReplyOf, RequestOf } from "../../usecases/catalog.ts";

/**
 * What an address of the server does: it calls one operation and shows its reply. Fields of the request come from the
 * path, then from the query (GET) or the body (other methods), under the names that the operation gives them.
 */
export interface Route<N extends OperationName, View> {
  readonly operation: N;
  /** A viewer may ask for it too. */
  readonly isForViewers: boolean;
  /** Fields that the address fixes. */
  readonly fixed?: Partial<RequestOf<N>>;
  /** Values of fields that the caller leaves out. */
  readonly defaults?: Partial<RequestOf<N>>;
  /** Names in the address of fields that have another name in the request. */
  readonly names?: Readonly<Record<string, keyof RequestOf<N> & string>>;
  /** Its answer is 202 with the number of an operation; the reply follows on the topic `op:<number>`. */
  readonly isLong?: boolean;
  /** The reply is a list that is read page by page, with `limit` and `cursor`. */
  readonly isPaged?: boolean;
  readonly view: (reply: ReplyOf<N>) => View;
}

export const read = <N extends OperationName, View>(
  operation: N,
  view: (reply: ReplyOf<N>) => View,
  more: Omit<Route<N, View>, "operation" | "view" | "isForViewers"> = {},
): Route<N, View> => ({ operation, view, isForViewers: true, ...more });

export const change = <N extends OperationName, View>(
  operation: N,
  view: (reply: ReplyOf<N>) => View,
  more: Omit<Route<N, View>, "operation" | "view" | "isForViewers"> = {},
): Route<N, View> => ({ operation, view, isForViewers: false, ...more });

/** A place in a list. Callers hand it back as they got it. */
export interface Place {
  readonly before?: number;
  readonly after?: number;
}

/** One page. `next` goes on in the order of the list, `prev` back towards its beginning. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next?: string;
  readonly prev?: string;
}

export const cursorOf = (place: Place): string => btoa(JSON.stringify(place)).replace(/=+$/, "");

/** Undefined for a text that is no cursor of ours. */
export function placeOf(cursor: string): Place | undefined {
  try {
    const place: unknown = JSON.parse(atob(cursor));
    if (typeof place !== "object" || place === null) return undefined;
    const entries = Object.entries(place);
    const fits = entries.length === 1 && entries.every(([key, at]) => isSide(key) && Number.isSafeInteger(at));
    return fits ? place : undefined;
  } catch {
    // It is not even JSON.
    return undefined;
  }
}

const isSide = (key: string): boolean => key === "before" || key === "after";

export const listOf = <Item>(items: readonly Item[]): Page<Item> => ({ items });

/** How many items a list gives when the request names no limit. */
export const page = { limit: 100 } as const;

/** The cursors of a page of items that were read already. */
export const pageOf = ({ older, newest }: { readonly older: number | null; readonly newest: number | null }) => ({
  ...(older === null ? {} : { next: cursorOf({ before: older }) }),
  ...(newest === null ? {} : { prev: cursorOf({ after: newest }) }),
});

/** Items newest first, in whichever order they were read, with the cursors to both sides. */
export function newestFirst<From extends { readonly seq: number }, Item>(
  found: readonly From[],
  { older }: { readonly older: number | null },
  view: (from: From) => Item,
): Page<Item> {
  const items = found.toSorted((a, b) => b.seq - a.seq);
  const first = items[0];
  return { items: items.map(view), ...pageOf({ older, newest: first?.seq ?? null }) };
}
