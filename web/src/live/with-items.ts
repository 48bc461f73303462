interface Item {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly seq?: unknown;
  readonly gone?: boolean;
}

/** Puts changed items into a list by their id or name, new ones at the end. A document takes the changed keys. */
export function withItems(before: unknown, changed: readonly unknown[]): unknown {
  if (before === undefined || before === null) return before;
  const list = (before as { readonly items?: readonly Item[] }).items;
  if (list === undefined) return Object.assign({}, before, ...changed);
  const places = new Map(list.map((item, at) => [keyOf(item), at]));
  const items: (Item | undefined)[] = [...list];
  for (const item of changed as readonly Item[]) {
    const place = places.get(keyOf(item));
    if (item.gone === true) {
      if (place !== undefined) items[place] = undefined;
    } else if (place === undefined) places.set(keyOf(item), items.push(item) - 1);
    else items[place] = { ...items[place], ...item };
  }
  return { ...(before as object), items: items.filter((item) => item !== undefined) };
}

/** As the server names them: an agent of a later generation has the same name, and is another item. */
const keyOf = ({ id, name, seq }: Item): string => String(id ?? name ?? seq);
