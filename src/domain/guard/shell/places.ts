/** A place where a command may stand; undefined when it cannot be told. */
export type Place = string | undefined;

/** Both lists of places; those that are the same once `..` is followed count once. */
export function together(some: readonly Place[], more: readonly Place[]): readonly Place[] {
  const all = new Map<string, Place>();
  for (const place of [...some, ...more]) {
    const key = place === undefined ? "" : lexical(place);
    if (!all.has(key)) all.set(key, place);
  }
  const places = [...all.values()];
  return places.length > mostPlaces ? [undefined] : places;
}

const mostPlaces = 8;

/** The path with `..` followed, as it is written. */
export function lexical(path: string): string {
  const kept: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") kept.pop();
    else if (part !== "" && part !== ".") kept.push(part);
  }
  return `/${kept.join("/")}`;
}
