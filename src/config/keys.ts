import { nearest } from "../domain/name/nearest.ts";
import type { KeySpec } from "./schema/key.ts";
import { table } from "./schema.ts";

/** A key of the table with its path taken apart. */
export interface KnownKey {
  /** Dotted path as the table has it; `*` stands for a name. */
  readonly pattern: string;
  readonly parts: readonly string[];
  readonly spec: KeySpec;
}

/** A level of the table: either a key itself, or a section with keys below it. */
export interface Level {
  readonly key?: KnownKey;
  readonly below: ReadonlyMap<string, Level>;
}

export const knownKeys: readonly KnownKey[] = Object.entries(table).map(([pattern, spec]) => ({
  pattern,
  parts: pattern.split("."),
  spec,
}));

export const topLevel: Level = levelOf(knownKeys, 0);

/** Names the user chooses become property names and parts of paths, so they stay plain. */
export const isPlainName = (name: string): boolean => /^[A-Za-z0-9][A-Za-z0-9@._-]{0,63}$/.test(name);

/** The key a dotted path means, with the user's names filled in. Names may hold dots themselves. */
export function findKey(dotted: string): { readonly known: KnownKey; readonly path: readonly string[] } | undefined {
  for (const known of knownKeys) {
    const path = matchParts(dotted.split("."), known.parts);
    if (path?.every((part, i) => known.parts[i] !== "*" || isPlainName(part))) return { known, path };
  }
  return undefined;
}

/** The known key most like a mistyped one: a neighbour in its section first, then the same name anywhere. */
export function nearestKey(dotted: string): string | undefined {
  const cut = dotted.lastIndexOf(".") + 1;
  const section = dotted.slice(0, cut);
  const name = dotted.slice(cut);
  const siblings = [...(sectionAt(section.split(".").filter(Boolean))?.below.keys() ?? [])];
  const sibling = nearest(
    name,
    siblings.filter((key) => key !== "*"),
  );
  // A typed section name is not a key. The first key of that section is suggested.
  const isSection = knownKeys.find(({ pattern }) => pattern.startsWith(`${dotted}.`));
  if (isSection !== undefined) return isSection.pattern;
  if (sibling !== undefined) return section + sibling;
  const sameName = knownKeys.find((key) => key.parts.at(-1) === name) ?? knownKeys.find((key) => key.pattern === name);
  return (
    sameName?.pattern ??
    nearest(
      dotted,
      knownKeys.map((key) => key.pattern),
    )
  );
}

function levelOf(keys: readonly KnownKey[], depth: number): Level {
  const key = keys.find((known) => known.parts.length === depth);
  const below = new Map<string, Level>();
  for (const part of new Set(keys.map((known) => known.parts[depth]))) {
    if (part === undefined) continue;
    below.set(
      part,
      levelOf(
        keys.filter((known) => known.parts[depth] === part),
        depth + 1,
      ),
    );
  }
  return key === undefined ? { below } : { key, below };
}

/** A `*` takes as many parts as are left over, because a name such as `gpt-4.1` has dots of its own. */
function matchParts(parts: readonly string[], pattern: readonly string[]): string[] | undefined {
  const star = pattern.indexOf("*");
  const extra = parts.length - pattern.length;
  if (extra < 0 || (star < 0 && extra > 0)) return undefined;
  const path =
    star < 0
      ? [...parts]
      : [...parts.slice(0, star), parts.slice(star, star + extra + 1).join("."), ...parts.slice(star + extra + 1)];
  return path.every((part, i) => pattern[i] === "*" || pattern[i] === part) ? path : undefined;
}

function sectionAt(parts: readonly string[]): Level | undefined {
  let level: Level | undefined = topLevel;
  for (const part of parts) level = level?.below.get(part) ?? level?.below.get("*");
  return level;
}
