import { plainOf } from "../plain-text.ts";
import type { Versions } from "../versions.ts";
import { alignThree } from "./align.ts";

/** A file as what is settled and what is not, in order. */
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
