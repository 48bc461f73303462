import { plainOf, type Versions } from "../versions.ts";

/** A stretch of three sequences: the same everywhere, or changed by at least one side. */
export interface Chunk<T> {
  readonly stable: boolean;
  readonly base: readonly T[];
  readonly ours: readonly T[];
  readonly theirs: readonly T[];
}

/**
 * Lines three sequences up at the elements all of them share. Stable and changed chunks alternate, so two changed
 * chunks always have an unchanged element between them. `same` tells equal elements by their keys.
 */
export function alignThree<T>(
  sides: { readonly base: readonly T[]; readonly ours: readonly T[]; readonly theirs: readonly T[] },
  key: (item: T) => string,
): readonly Chunk<T>[] {
  const { base, ours, theirs } = sides;
  const toOurs = matches(base.map(key), ours.map(key));
  const toTheirs = matches(base.map(key), theirs.map(key));
  const chunks: Chunk<T>[] = [];
  let b = 0;
  let o = 0;
  let t = 0;
  const changed = (nextB: number, nextO: number, nextT: number): void => {
    if (nextB > b || nextO > o || nextT > t) {
      chunks.push({
        stable: false,
        base: base.slice(b, nextB),
        ours: ours.slice(o, nextO),
        theirs: theirs.slice(t, nextT),
      });
    }
    b = nextB;
    o = nextO;
    t = nextT;
  };
  for (let at = 0; at < base.length; at++) {
    const inOurs = toOurs[at];
    const inTheirs = toTheirs[at];
    if (inOurs === undefined || inTheirs === undefined) continue;
    changed(at, inOurs, inTheirs);
    let length = 0;
    while (at + length < base.length && toOurs[at + length] === o + length && toTheirs[at + length] === t + length)
      length++;
    chunks.push({
      stable: true,
      base: base.slice(at, at + length),
      ours: ours.slice(o, o + length),
      theirs: theirs.slice(t, t + length),
    });
    b = at + length;
    o += length;
    t += length;
    at = b - 1;
  }
  changed(base.length, ours.length, theirs.length);
  return chunks;
}

/** For each element of `from`, its place in `to` along one longest common subsequence; undefined when it has none. */
export function matches(from: readonly string[], to: readonly string[]): readonly (number | undefined)[] {
  const found: (number | undefined)[] = new Array(from.length).fill(undefined);
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) {
    found[start] = start;
    start++;
  }
  let fromEnd = from.length;
  let toEnd = to.length;
  while (fromEnd > start && toEnd > start && from[fromEnd - 1] === to[toEnd - 1]) {
    fromEnd--;
    toEnd--;
    found[fromEnd] = toEnd;
  }
  for (const [x, y] of walk(from.slice(start, fromEnd), to.slice(start, toEnd))) found[start + x] = start + y;
  return found;
}

/** Beyond this many differences the middle counts as replaced: coarser, never wrong. */
const mostDifferences = 1000;

/** The greedy shortest-edit-script search, remembering each round so the path can be read back. */
function walk(from: readonly string[], to: readonly string[]): readonly (readonly [number, number])[] {
  if (from.length === 0 || to.length === 0) return [];
  const limit = Math.min(from.length + to.length, mostDifferences);
  const rounds: Map<number, number>[] = [];
  let reach = new Map<number, number>([[1, 0]]);
  for (let edits = 0; edits <= limit; edits++) {
    const next = new Map(reach);
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const down = diagonal === -edits || (diagonal !== edits && at(reach, diagonal - 1) < at(reach, diagonal + 1));
      let x = down ? at(reach, diagonal + 1) : at(reach, diagonal - 1) + 1;
      while (x < from.length && x - diagonal < to.length && from[x] === to[x - diagonal]) x++;
      next.set(diagonal, x);
      if (x >= from.length && x - diagonal >= to.length) return readBack([...rounds, reach], from.length, to.length);
    }
    rounds.push(reach);
    reach = next;
  }
  return [];
}

function readBack(rounds: readonly Map<number, number>[], fromLength: number, toLength: number) {
  const pairs: [number, number][] = [];
  let x = fromLength;
  let y = toLength;
  for (let edits = rounds.length - 1; edits >= 0; edits--) {
    const reach = rounds[edits] ?? new Map<number, number>();
    const diagonal = x - y;
    const down = diagonal === -edits || (diagonal !== edits && at(reach, diagonal - 1) < at(reach, diagonal + 1));
    const previous = down ? diagonal + 1 : diagonal - 1;
    const previousX = edits === 0 ? 0 : at(reach, previous);
    const startX = edits === 0 ? 0 : down ? previousX : previousX + 1;
    while (x > startX && x > 0 && y > 0) {
      x--;
      y--;
      pairs.push([x, y]);
    }
    x = previousX;
    y = edits === 0 ? 0 : previousX - previous;
  }
  return pairs.reverse();
}

const at = (reach: ReadonlyMap<number, number>, diagonal: number): number => reach.get(diagonal) ?? -1;

/** A run of lines of a file: settled, or in conflict. */
export type Piece =
  | { readonly kind: "settled"; readonly lines: readonly string[] }
  | {
      readonly kind: "conflict";
      readonly base: readonly string[];
      readonly ours: readonly string[];
      readonly theirs: readonly string[];
    };

/** Takes the three versions apart by lines. Undefined where the file has no clear line ends. */
export function piecesOf(versions: Pick<Versions, "base" | "ours" | "theirs">): readonly Piece[] | undefined {
  const plain = plainOf(versions);
  if (plain === undefined) return undefined;
  const sides = { base: lines(plain.base), ours: lines(plain.ours), theirs: lines(plain.theirs) };
  const pieces: Piece[] = [];
  for (const { stable, base, ours, theirs } of alignThree(sides, (line) => line)) {
    const known = stable || same(ours, theirs) || same(base, theirs) ? ours : same(base, ours) ? theirs : undefined;
    const last = pieces.at(-1);
    if (known === undefined) pieces.push({ kind: "conflict", base, ours, theirs });
    else if (last?.kind === "settled")
      pieces[pieces.length - 1] = { kind: "settled", lines: [...last.lines, ...known] };
    else pieces.push({ kind: "settled", lines: known });
  }
  return pieces;
}

const lines = (text: string): readonly string[] => (text === "" ? [] : text.slice(0, -1).split("\n"));

const same = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((line, at) => line === b[at]);
