import { memo } from "react";
import { hasHidden, withHidden } from "../ui/safe-text.ts";
import type { ColorRange } from "./colors.ts";
import css from "./diff.module.css";
import type { Cell, DiffRow, Range } from "./diff-rows.ts";

type Colors = readonly ColorRange[] | undefined;

interface TextProps {
  readonly cell: Cell;
  readonly find: string;
  readonly colors: Colors;
}

function Text({ cell: { text, words }, find, colors }: TextProps) {
  if (hasHidden(text)) return <>{withHidden(text)}</>;
  const found = find === "" ? undefined : placesOf(text, find);
  if (words === undefined && found === undefined && colors === undefined) return <>{text}</>;
  return (
    <>
      {piecesOf(text, words ?? [], found ?? [], colors ?? []).map(({ from, to, isWord, isFound, kind }) => {
        const part = text.slice(from, to);
        const Tag = isFound ? "mark" : isWord ? "b" : "span";
        if (Tag === "span" && kind === undefined) return part;
        return (
          <Tag key={from} data-kind={kind}>
            {part}
          </Tag>
        );
      })}
    </>
  );
}

function placesOf(text: string, find: string): readonly Range[] | undefined {
  const places: Range[] = [];
  const low = text.toLowerCase();
  for (let at = low.indexOf(find); at >= 0; at = low.indexOf(find, at + find.length))
    places.push([at, at + find.length]);
  return places.length === 0 ? undefined : places;
}

/** The text cut where a mark or a colour begins or ends. */
function piecesOf(text: string, words: readonly Range[], found: readonly Range[], colors: readonly ColorRange[]) {
  const ends = new Set([0, text.length]);
  for (const [from, to] of [...words, ...found, ...colors]) ends.add(from).add(to);
  const cuts = [...ends].filter((at) => at <= text.length).toSorted((a, b) => a - b);
  const isIn = (ranges: readonly Range[], at: number): boolean => ranges.some(([from, to]) => at >= from && at < to);
  return cuts.slice(0, -1).map((from, at) => ({
    from,
    to: cuts[at + 1] ?? text.length,
    isWord: isIn(words, from),
    isFound: isIn(found, from),
    kind: colors.find(([start, end]) => from >= start && from < end)?.[2],
  }));
}

const signWords = { "+": "added", "-": "removed", " ": "" } as const;

const Gutter = ({ cell, number }: { cell: Cell; number: number | null }) => (
  <span className={css.no} data-sign={cell.sign}>
    {number}
  </span>
);

const Sign = ({ cell }: { cell: Cell }) => (
  <span className={css.sign} data-sign={cell.sign}>
    <span aria-hidden>{cell.sign}</span>
    <span className="visually-hidden">{signWords[cell.sign]}</span>
  </span>
);

export interface LineRowProps {
  readonly row: Extract<DiffRow, { kind: "line" | "pair" }>;
  readonly find: string;
  readonly isCurrent: boolean;
  /** Of the left side and of the right one, or of the only one. */
  readonly left: Colors;
  readonly right: Colors;
}

/** One line of a diff in one column or in two. */
export const LineRow = memo(function LineRow({ row, find, isCurrent, left, right }: LineRowProps) {
  if (row.kind === "line") {
    const { cell, old, now } = row;
    return (
      <div className={css.line} data-current={isCurrent || undefined}>
        <Gutter cell={cell} number={old} />
        <Gutter cell={cell} number={now} />
        <Sign cell={cell} />
        <code className={css.code} data-sign={cell.sign}>
          <Text cell={cell} find={find} colors={cell.sign === "-" ? left : right} />
        </code>
      </div>
    );
  }
  return (
    <div className={css.pair} data-current={isCurrent || undefined}>
      <Half cell={row.left} find={find} colors={left} />
      <Half cell={row.right} find={find} colors={right} />
    </div>
  );
});

function Half({ cell, find, colors }: { cell: Cell | undefined; find: string; colors: Colors }) {
  if (cell === undefined) return <span className={css.none} />;
  return (
    <>
      <Gutter cell={cell} number={cell.no} />
      <Sign cell={cell} />
      <code className={css.code} data-sign={cell.sign}>
        <Text cell={cell} find={find} colors={colors} />
      </code>
    </>
  );
}
