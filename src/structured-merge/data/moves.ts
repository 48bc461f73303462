import { unsure } from "../outcome.ts";
import { type Path, spelled } from "./merge-values.ts";
import { canon, type Value } from "./value.ts";

/**
 * Gives up when something both sides removed turns up elsewhere on a side: that side moved it, and the other moved it to
 * another place or wanted it gone.
 */
export function checkMoves({ base, ours, theirs }: { base: Value; ours: Value; theirs: Value }): void {
  const removed: Found[] = [];
  difference(base, [ours, theirs], [], (found) => removed.push(found));
  if (removed.length === 0) return;
  const signs = new Map(removed.map((found) => [signOf(found), found.path]));
  for (const [side, other] of [
    [ours, theirs],
    [theirs, ours],
  ] as const) {
    difference(side, [base, other], [], (found) => {
      const from = signs.get(signOf(found));
      if (from !== undefined) unsure(`both sides took ${spelled(from)} away, and one put it at ${spelled(found.path)}`);
    });
  }
}

interface Found {
  readonly path: Path;
  readonly value: Value;
}

/** What is in `here` and in none of `absent`, at the highest place where that is so, and below it. */
function difference(
  here: Value,
  absent: readonly (Value | undefined)[],
  path: Path,
  report: (found: Found) => void,
): void {
  if (here.kind !== "map") return;
  for (const [key, inner] of here.entries) {
    const others = absent.map((other) => (other?.kind === "map" ? other.entries.get(key) : undefined));
    if (others.every((other) => other === undefined)) report({ path: [...path, key], value: inner });
    difference(inner, others, [...path, key], report);
  }
}

/** Small values are everywhere; only with their key do they say that the same thing was meant. */
const signOf = ({ path, value }: Found): string =>
  value.kind === "scalar" ? `${path.at(-1) ?? ""}=${canon(value)}` : canon(value);
