import { memo } from "react";
import type { RunSpans } from "../../api/types.ts";
import { clockTime, span as inWords } from "../../state/words.ts";
import css from "./gantt.module.css";
import type { GanttRow, GanttScale, Period, Span } from "./gantt-scale.ts";
import { spanWords } from "./gantt-scale.ts";
import { entriesWords } from "./span-table.tsx";

export const rowHeight = 24;
const [top, tall] = [5, 14];
const middle = top + tall / 2;
/** Narrower bars are dots, and dots closer than this are one. */
const [leastBar, leastGap, leastLabel] = [6, 3, 30];

/** The pattern of what waits for a place. Once for all rows. */
export const Hatch = () => (
  <svg className={css.defs} aria-hidden>
    <defs>
      <pattern id="gantt-hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect width="1.5" height="5" className={css.hatch} />
      </pattern>
    </defs>
  </svg>
);

/** The parts of one agent's time. */
export const GanttBars = memo(function GanttBars({
  row,
  scale,
  chosen,
  at,
  path,
  onChoose,
}: {
  row: GanttRow;
  scale: GanttScale;
  chosen: number | undefined;
  at: number | undefined;
  /** Its parts of the critical path; undefined while that is not shown. */
  path: readonly Period[] | undefined;
  onChoose: (span: number) => void;
}) {
  const { from, to } = scale.range;
  let lastDot = Number.NEGATIVE_INFINITY;
  return (
    <svg width={scale.width} height={rowHeight} aria-hidden className={css.bars}>
      {path
        ?.filter((step) => step.to >= from && step.from <= to)
        .map((step) => {
          const [left, right] = [scale.x(Math.max(from, step.from)), scale.x(Math.min(to, step.to))];
          return (
            <rect
              key={step.from}
              data-path
              x={left}
              y={rowHeight - 3}
              width={Math.max(2, right - left)}
              height="3"
              className={css.path}
            />
          );
        })}
      {row.spans.map((span, place) => {
        if (span.to < from || span.from > to) return null;
        const [left, right] = [scale.x(Math.max(from, span.from)), scale.x(Math.min(to, span.to))];
        const isDot = right - left < leastBar;
        if (isDot && span.kind !== "turn")
          return right - left < 1 ? null : (
            <Part key={`${span.kind}${span.from}`} span={span} left={left} right={right} />
          );
        if (isDot && left - lastDot < leastGap && chosen !== place) return null;
        if (isDot) lastDot = left;
        return (
          // biome-ignore lint/a11y/noStaticElementInteractions: the keys of the group choose bars too
          <g
            key={`${span.kind}${span.from}`}
            onClick={() => onChoose(place)}
            data-chosen={chosen === place || undefined}
          >
            <title>{titleOf(span)}</title>
            {isDot ? (
              <circle cx={left + 2} cy={middle} r="3" className={css.turn} data-failed={span.failed || undefined} />
            ) : (
              <Part span={span} left={left} right={right} />
            )}
          </g>
        );
      })}
      {at === undefined || at < from || at > to ? null : (
        <line x1={scale.x(at)} x2={scale.x(at)} y1="0" y2={rowHeight} className={css.replayed} />
      )}
    </svg>
  );
});

function Part({ span, left, right }: { span: Span; left: number; right: number }) {
  if (span.kind === "waiting" || span.kind === "parked") {
    return (
      <>
        <line x1={left} x2={right} y1={middle} y2={middle} className={css[span.kind]} />
        <rect x={left} width={right - left} y={top} height={tall} className={css.touch} />
      </>
    );
  }
  return (
    <>
      <rect
        x={left}
        y={top}
        width={Math.max(1, right - left - 1)}
        height={tall}
        className={css[span.kind]}
        data-failed={span.failed || undefined}
      />
      {span.failed ? <path d={`M${right - 8},${top + 4} l6,6 m0,-6 l-6,6`} className={css.cross} /> : null}
    </>
  );
}

const titleOf = ({ kind, from, to, isOpen, words }: Span): string =>
  `${spanWords[kind]} ${clockTime(from)} to ${isOpen ? "now" : clockTime(to)} (${to - from < 1000 ? "under 1 s" : inWords(to - from)})${words === "" ? "" : `: ${words}`}`;

/** Each run of a gate, with its name where there is room. */
export const GateLane = ({ gates, scale }: { gates: RunSpans["gates"]; scale: GanttScale }) => (
  <svg width={scale.width} height={rowHeight} className={css.bars} role="img" aria-label={`${gates.length} gates`}>
    {gates.map(({ id, gate, status, flaky, from, to }) => {
      const [left, right] = clipped(scale, Date.parse(from), Date.parse(to));
      if (right < left) return null;
      const width = Math.max(leastGap, right - left);
      return (
        <g key={id}>
          <title>{`${gate} ${status.replaceAll("_", " ")}${flaky ? ", flaky" : ""}, ${clockTime(from)}`}</title>
          <rect
            x={left}
            y={top}
            width={width}
            height={tall}
            className={css.gate}
            data-tone={status === "passed" ? (flaky ? "attn" : "good") : "bad"}
          />
          {width < leastLabel ? null : (
            <text x={left + 4} y={top + 11} className={css.gateName}>
              {`${gate}${status === "passed" ? "" : " x"}`.slice(0, Math.floor(width / 8))}
            </text>
          )}
        </g>
      );
    })}
  </svg>
);

/** Attempts of the merge worker as bars, and what became of branches as marks. */
export const MergeLane = ({
  merges,
  marks,
  scale,
  end,
}: {
  merges: RunSpans["merges"];
  marks: RunSpans["marks"];
  scale: GanttScale;
  end: number;
}) => (
  <svg
    width={scale.width}
    height={rowHeight}
    className={css.bars}
    role="img"
    aria-label={`${marks.filter(({ kind }) => kind === "landed").length} landings`}
  >
    {merges.map(({ id, from, to, outcome, entries }) => {
      const [left, right] = clipped(scale, Date.parse(from), to === null ? end : Date.parse(to));
      if (right < left) return null;
      return (
        <g key={id}>
          <title>{`${outcome ?? "goes on"}: ${entriesWords(entries)}`}</title>
          <rect x={left} y={top + 3} width={Math.max(2, right - left)} height={tall - 6} className={css.attempt} />
        </g>
      );
    })}
    {marks.map(({ at, kind, queueId, branch }) => {
      const moment = Date.parse(at);
      if (moment < scale.range.from || moment > scale.range.to) return null;
      const x = scale.x(moment);
      return (
        <g key={`${kind}${queueId}${at}`} data-tone={markTones[kind]} className={css.mark}>
          <title>{`${branch} ${kind}, ${clockTime(at)}`}</title>
          <path d={markPaths[kind]} transform={`translate(${x},${middle})`} />
        </g>
      );
    })}
  </svg>
);

const markTones = { landed: "good", failed: "bad", undone: "park", blocked: "attn" } as const;
/** Around 0,0. Each has its own outline: a disc, a cross, a turn back, a bar. */
const markPaths = {
  landed: "M-4,0 a4,4 0 1 0 8,0 a4,4 0 1 0 -8,0Z",
  failed: "M-4,-4 L4,4 M4,-4 L-4,4",
  undone: "M-3,-5 L-6,-2 L-3,1 M-6,-2 H1 a3.5,3.5 0 0 1 0,7 H-2",
  blocked: "M-5,-2 H5 V2 H-5Z",
} as const;

/** A time as far as it is in the range; its right end is left of its left one when it is not. */
function clipped({ range, x }: GanttScale, from: number, to: number): readonly [number, number] {
  if (to < range.from || from > range.to) return [0, -1];
  return [x(Math.max(range.from, from)), x(Math.min(range.to, to))];
}
