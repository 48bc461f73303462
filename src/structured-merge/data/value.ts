/**
 * What a data file says, without how it is written. A scalar is compared by its meaning as text (`n:1.0`, `s:abc`), so
 * no number is ever rounded. `mark` carries what a format hangs on a node besides its content (anchor, tag).
 */
export type Value =
  | { readonly kind: "scalar"; readonly is: string; readonly mark?: string }
  | { readonly kind: "map"; readonly entries: ReadonlyMap<string, Value>; readonly mark?: string }
  | { readonly kind: "list"; readonly items: readonly Value[]; readonly mark?: string };

/** One text per meaning: equal exactly when two values are; the order of keys does not count, that of items does. */
export function canon(value: Value | undefined): string {
  if (value === undefined) return "";
  const known = remembered.get(value);
  if (known !== undefined) return known;
  const text = `${value.mark === undefined ? "" : JSON.stringify(value.mark)}${body(value)}`;
  remembered.set(value, text);
  return text;
}

const remembered = new WeakMap<Value, string>();

function body(value: Value): string {
  switch (value.kind) {
    case "scalar":
      return JSON.stringify(value.is);
    case "list":
      return `[${value.items.map(canon).join(",")}]`;
    case "map": {
      const keys = [...value.entries.keys()].sort();
      return `{${keys.map((key) => `${JSON.stringify(key)}:${canon(value.entries.get(key))}`).join(",")}}`;
    }
  }
}

export const sameValue = (a: Value | undefined, b: Value | undefined): boolean => canon(a) === canon(b);

/** Names by which an item of a list is known from one version to the next. */
const identities = ["id", "key", "name"] as const;

/** What tells this item from its siblings: its id, key or name when that is a scalar. */
export function identityOf(item: Value): string | undefined {
  if (item.kind !== "map") return undefined;
  for (const name of identities) {
    const value = item.entries.get(name);
    if (value?.kind === "scalar") return `${name}=${value.is}`;
  }
  return resourceOf(item.entries);
}

/** A resource as cluster tools write it: known by its kind, name and namespace. */
function resourceOf(entries: ReadonlyMap<string, Value>): string | undefined {
  const kind = entries.get("kind");
  const metadata = entries.get("metadata");
  if (kind?.kind !== "scalar" || metadata?.kind !== "map") return undefined;
  const name = metadata.entries.get("name");
  return name?.kind === "scalar" ? `${kind.is} ${name.is} ${canon(metadata.entries.get("namespace"))}` : undefined;
}

/** The identities of all items when each has one and no two are the same. */
export function distinctIdentities(items: readonly Value[]): readonly string[] | undefined {
  const found = items.map(identityOf).filter((identity) => identity !== undefined);
  return found.length === items.length && new Set(found).size === found.length ? found : undefined;
}

/** Places of one item in three versions of a list; -1 where a version does not have it. */
export interface Counterpart {
  readonly base: number;
  readonly ours: number;
  readonly theirs: number;
}

/**
 * The items of three lists brought together by their identities, in the order of the result; undefined where items have
 * none, where a side moved any, and where both sides added some, which would need an order among them.
 */
export function counterparts(
  base: readonly Value[],
  ours: readonly Value[],
  theirs: readonly Value[],
): readonly Counterpart[] | undefined {
  const [b, o, t] = [distinctIdentities(base), distinctIdentities(ours), distinctIdentities(theirs)];
  if (base.length === 0 || b === undefined || o === undefined || t === undefined) return undefined;
  const known = (side: readonly string[]): string => side.filter((identity) => b.includes(identity)).join("\n");
  const left = (side: readonly string[]): string => b.filter((identity) => side.includes(identity)).join("\n");
  if (known(o) !== left(o) || known(t) !== left(t)) return undefined;
  const adds = (side: readonly string[]): boolean => side.some((identity) => !b.includes(identity));
  if (adds(o) && adds(t)) return undefined;
  const lead = adds(t) ? t : o;
  const order = [...lead, ...b.filter((identity) => !lead.includes(identity))];
  return order.map((identity) => ({
    base: b.indexOf(identity),
    ours: o.indexOf(identity),
    theirs: t.indexOf(identity),
  }));
}

/** Items that stand for themselves wherever they stand: resources as cluster tools write them, no two the same. */
export const areResources = (items: readonly Value[]): boolean =>
  items.every((item) => item.kind === "map" && resourceOf(item.entries) !== undefined) &&
  distinctIdentities(items) !== undefined;

export const hasRepeats = (items: readonly Value[]): boolean => new Set(items.map(canon)).size !== items.length;
