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
  const base = sides.base.map(key);
  return alignMatched(sides, matches(base, sides.ours.map(key)), matches(base, sides.theirs.map(key)));
}

/** The same, for a caller that knows where each element of the base is in the two others. */
export function alignMatched<T>(
  { base, ours, theirs }: { readonly base: readonly T[]; readonly ours: readonly T[]; readonly theirs: readonly T[] },
  toOurs: readonly (number | undefined)[],
  toTheirs: readonly (number | undefined)[],
): readonly Chunk<T>[] {
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
  const numbers = new Map<string, number>();
  const [left, right] = [numbered(from.slice(start, fromEnd), numbers), numbered(to.slice(start, toEnd), numbers)];
  for (const [x, y] of walk(left, right, mostDifferences) ?? betweenAnchors(left, right)) found[start + x] = start + y;
  return found;
}

/** Equal elements have equal numbers, which are faster to compare. */
function numbered(items: readonly string[], numbers: Map<string, number>): Int32Array {
  return Int32Array.from(items, (item) => {
    const known = numbers.get(item) ?? numbers.size;
    if (known === numbers.size) numbers.set(item, known);
    return known;
  });
}

type Pairs = readonly (readonly [number, number])[];

/** Beyond this many differences lines that each side has once divide the middle: coarser, never wrong. */
const mostDifferences = 1000;
/** The same between two such lines. A long file may have thousands of such stretches. */
const mostBetween = 50;

/** The greedy shortest-edit-script search, remembering each round so the path can be read back. Undefined: it is too long. */
function walk(from: Int32Array, to: Int32Array, most: number): Pairs | undefined {
  if (from.length === 0 || to.length === 0) return [];
  const limit = Math.min(from.length + to.length, most);
  // Diagonals may be negative, so they are counted from the middle. A round changes every second one of them.
  const zero = limit + 1;
  const reach = new Int32Array(2 * zero + 1).fill(-1);
  reach[zero + 1] = 0;
  const rounds: Int32Array[] = [];
  for (let edits = 0; edits <= limit; edits++) {
    rounds.push(reach.slice(zero - edits - 1, zero + edits + 2));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const left = at(reach, zero + diagonal - 1);
      const right = at(reach, zero + diagonal + 1);
      const down = diagonal === -edits || (diagonal !== edits && left < right);
      let x = down ? right : left + 1;
      while (x < from.length && x - diagonal < to.length && from[x] === to[x - diagonal]) x++;
      reach[zero + diagonal] = x;
      if (x >= from.length && x - diagonal >= to.length) return readBack(rounds, from.length, to.length);
    }
  }
  return undefined;
}

function readBack(rounds: readonly Int32Array[], fromLength: number, toLength: number): Pairs {
  const pairs: [number, number][] = [];
  let x = fromLength;
  let y = toLength;
  for (let edits = rounds.length - 1; edits >= 0; edits--) {
    const reach = rounds[edits] ?? new Int32Array();
    const diagonal = x - y;
    const [left, right] = [at(reach, edits + diagonal), at(reach, edits + diagonal + 2)];
    const down = diagonal === -edits || (diagonal !== edits && left < right);
    const previous = down ? diagonal + 1 : diagonal - 1;
    const previousX = edits === 0 ? 0 : down ? right : left;
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

const at = (reach: Int32Array, index: number): number => reach[index] ?? -1;

/** Aligns lines that both sides have once, in an order that both have, and then the lines between. */
function betweenAnchors(from: Int32Array, to: Int32Array): Pairs {
  const [inFrom, inTo] = [singles(from), singles(to)];
  const shared = [...inFrom].flatMap(([line, x]): (readonly [number, number])[] => {
    const y = inTo.get(line);
    return y === undefined ? [] : [[x, y]];
  });
  const pairs: (readonly [number, number])[] = [];
  let [fromX, fromY] = [0, 0];
  for (const [x, y] of [...longestRising(shared), [from.length, to.length] as const]) {
    const between = walk(from.subarray(fromX, x), to.subarray(fromY, y), mostBetween) ?? [];
    for (const [dx, dy] of between) pairs.push([fromX + dx, fromY + dy]);
    if (x < from.length) pairs.push([x, y]);
    [fromX, fromY] = [x + 1, y + 1];
  }
  return pairs;
}

/** Lines that occur once, with their places, in order. */
function singles(lines: Int32Array): ReadonlyMap<number, number> {
  const places = new Map<number, number>();
  for (const [place, line] of lines.entries()) places.set(line, places.has(line) ? -1 : place);
  return new Map([...places].filter(([, place]) => place >= 0));
}

/** As many of the pairs as possible whose second numbers rise. Their first numbers rise already. */
function longestRising(pairs: Pairs): Pairs {
  /** The last pair of the best row of each length, and what comes before each pair in its row. */
  const ends: number[] = [];
  const before = new Int32Array(pairs.length).fill(-1);
  const secondOf = (place: number | undefined): number => (place === undefined ? -1 : (pairs[place]?.[1] ?? -1));
  for (const [place, [, second]] of pairs.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (secondOf(ends[middle]) < second) low = middle + 1;
      else high = middle;
    }
    before[place] = ends[low - 1] ?? -1;
    ends[low] = place;
  }
  const row: (readonly [number, number])[] = [];
  for (let place = ends.at(-1) ?? -1; place >= 0; place = before[place] ?? -1) row.push(pairs[place] ?? [0, 0]);
  return row.reverse();
}

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
