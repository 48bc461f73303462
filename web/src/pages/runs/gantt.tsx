import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import type { RunSpans } from "../../api/types.ts";
import { useGo, useUrl } from "../../state/url.ts";
import { clockTime, span as inWords, money } from "../../state/words.ts";
import { useSize } from "../../ui/use-size.ts";
import { momentsOf } from "../costs/cost-scale.ts";
import css from "./gantt.module.css";
import { GanttBars, GateLane, Hatch, MergeLane, rowHeight } from "./gantt-bars.tsx";
import { type GanttRow, type GanttScale, ganttScale, type Period, type Span, spanWords } from "./gantt-scale.ts";
import { OverviewStrip } from "./overview-strip.tsx";

const nothing: readonly Period[] = [];

interface Place {
  readonly row: number;
  readonly span: number;
}

/** The shortest part of a run that the picture zooms to: the whole of a small run lasts less than a second. */
const shortestMs = 50;

/** Agents over time. Arrows move between bars, + and - zoom, Shift with an arrow moves the picture, 0 shows all. */
export function Gantt({
  data,
  rows,
  whole,
  range,
  hidden,
  at,
  showsPath,
  onRange,
}: {
  data: RunSpans;
  rows: readonly GanttRow[];
  whole: Period;
  range: Period;
  hidden: ReadonlySet<string>;
  /** The moment that is replayed. */
  at: number | undefined;
  /** The chain of work that the end depended on is marked. */
  showsPath: boolean;
  onRange: (range: Period | undefined) => void;
}) {
  const paths = useMemo(() => {
    const steps = data.path.map(({ agent, from, to }) => ({ agent, from: Date.parse(from), to: Date.parse(to) }));
    return Map.groupBy(steps, ({ agent }) => agent);
  }, [data.path]);
  const go = useGo();
  const { replace } = useUrl();
  const axis = useRef<HTMLDivElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const { width } = useSize(axis);
  const [place, setPlace] = useState<Place>();
  const idle = useMemo(() => data.idle.map(({ from, to }) => ({ from: Date.parse(from), to: Date.parse(to) })), [data]);
  const scale = useMemo(() => ganttScale(range, idle, width), [range, idle, width]);
  const virtual = useVirtualizer({
    count: hidden.has("agents") ? 0 : rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8,
  });
  const chosen = place === undefined ? undefined : rows[place.row]?.spans[place.span];
  useEffect(() => {
    if (place !== undefined) virtual.scrollToIndex(place.row);
  }, [place, virtual]);

  const zoom = (factor: number): void => {
    const middle = chosen === undefined ? (range.from + range.to) / 2 : (chosen.from + chosen.to) / 2;
    const half = Math.max(shortestMs / 2, ((range.to - range.from) * factor) / 2);
    onRange(within({ from: middle - half, to: middle + half }, whole));
  };
  const pan = (part: number): void => {
    const by = (range.to - range.from) * part;
    onRange(within({ from: range.from + by, to: range.to + by }, whole));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const acts: Readonly<Record<string, () => void>> = {
      ArrowRight: () => (event.shiftKey ? pan(0.25) : setPlace(beside(rows, place, 1))),
      ArrowLeft: () => (event.shiftKey ? pan(-0.25) : setPlace(beside(rows, place, -1))),
      ArrowDown: () => setPlace(above(rows, place, 1)),
      ArrowUp: () => setPlace(above(rows, place, -1)),
      "+": () => zoom(0.5),
      "=": () => zoom(0.5),
      "-": () => zoom(2),
      "0": () => onRange(undefined),
      Enter: () => place !== undefined && go(`/agents/${encodeURIComponent(rows[place.row]?.name ?? "")}`),
      t: () => chosen !== undefined && replace({ t: String(chosen.from) }),
    };
    const act = acts[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  };
  return (
    <div className={css.gantt}>
      <Hatch />
      <Lane label="overview">
        <OverviewStrip rows={rows} whole={whole} range={range} onRange={onRange} />
      </Lane>
      <Lane label="">
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the slider of the replay does the same by keys */}
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the same */}
        <div
          ref={axis}
          className={css.axis}
          title="Replay from here"
          onClick={(event) => {
            const x = event.clientX - event.currentTarget.getBoundingClientRect().left;
            replace({ t: String(Math.round(scale.at(x))) });
          }}
        >
          <Axis scale={scale} />
        </div>
      </Lane>
      <div
        ref={scroller}
        className={css.rows}
        role="group"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: arrows move between the bars in it
        tabIndex={0}
        aria-label="Agents over time. Arrows move between bars, plus and minus zoom, 0 shows all. The table holds the same facts."
        onKeyDown={onKeyDown}
      >
        <div className={css.body} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index];
            return row === undefined ? null : (
              <div
                key={row.name}
                className={css.row}
                style={{ transform: `translateY(${start}px)`, height: rowHeight }}
              >
                <span className={css.label} style={{ paddingLeft: `${row.depth * 1.25}em` }} title={row.name}>
                  {row.name}
                </span>
                <GanttBars
                  row={row}
                  scale={scale}
                  chosen={place?.row === index ? place.span : undefined}
                  at={at}
                  path={showsPath ? (paths.get(row.name) ?? nothing) : undefined}
                  onChoose={(span) => setPlace({ row: index, span })}
                />
              </div>
            );
          })}
        </div>
      </div>
      {hidden.has("gates") ? null : (
        <Lane label="gates">
          <GateLane gates={data.gates} scale={scale} />
        </Lane>
      )}
      {hidden.has("merges") ? null : (
        <Lane label="merges">
          <MergeLane merges={data.merges} marks={data.marks} scale={scale} end={whole.to} />
        </Lane>
      )}
      <p className={css.reading} role="status">
        {chosen === undefined || place === undefined ? <Legend /> : wordsOf(rows[place.row]?.name ?? "", chosen)}
      </p>
    </div>
  );
}

const Lane = ({ label, children }: { label: string; children: ReactNode }) => (
  <div className={css.lane}>
    <span className={css.label}>{label}</span>
    {children}
  </div>
);

const Legend = () => (
  <span className={css.legend}>
    {(["queued", "starting", "turn", "waiting", "parked"] as const).map((kind) => (
      <span key={kind}>
        <svg width="22" height="12" aria-hidden>
          {kind === "waiting" || kind === "parked" ? (
            <line x1="1" x2="21" y1="6" y2="6" className={css[kind]} />
          ) : (
            <rect x="1" y="1" width="20" height="10" className={css[kind]} />
          )}
        </svg>
        {spanWords[kind]}
      </span>
    ))}
  </span>
);

const wordsOf = (name: string, { kind, from, to, isOpen, words, costUsd }: Span): string =>
  [
    `${name} ${spanWords[kind]}`,
    `${clockTime(from)} to ${isOpen ? "now" : clockTime(to)}`,
    to - from < 1000 ? "under 1 s" : inWords(to - from),
    words,
    kind === "turn" && !isOpen ? money(costUsd) : "",
  ]
    .filter((part) => part !== "")
    .join(", ");

/** Half of what a time of day takes on the axis. */
const halfLabel = 20;

const anchorAt = (x: number, width: number): "start" | "middle" | "end" =>
  x < halfLabel ? "start" : x > width - halfLabel ? "end" : "middle";

function Axis({ scale }: { scale: GanttScale }) {
  const isNearFold = (at: number): boolean =>
    scale.folds.some(({ from, to, x, width }) => {
      const isInside = at > from && at < to;
      return isInside || Math.abs(scale.x(at) - (x + width / 2)) < halfLabel + width / 2;
    });
  const moments = momentsOf(scale.range.from, scale.range.to, Math.max(2, Math.floor(scale.width / 80))).filter(
    (at) => !isNearFold(at),
  );
  return (
    <svg width={scale.width} height="20" aria-hidden>
      {moments.map((at) => (
        <text key={at} x={scale.x(at)} y="14" textAnchor={anchorAt(scale.x(at), scale.width)}>
          {clockTime(at)}
        </text>
      ))}
      {scale.folds.map(({ from, to, x, width }) => (
        <g key={from} className={css.fold}>
          <title>{`${inWords(to - from)} without work`}</title>
          <text x={x + width / 2} y="14" textAnchor="middle">
            {"//"}
          </text>
        </g>
      ))}
    </svg>
  );
}

/** A range of the same length that does not leave the run. */
function within({ from, to }: Period, whole: Period): Period | undefined {
  const length = to - from;
  if (length >= whole.to - whole.from) return undefined;
  const start = Math.max(whole.from, Math.min(from, whole.to - length));
  return { from: start, to: start + length };
}

function beside(rows: readonly GanttRow[], place: Place | undefined, step: 1 | -1): Place {
  if (place === undefined) return { row: 0, span: 0 };
  const last = (rows[place.row]?.spans.length ?? 1) - 1;
  return { ...place, span: Math.max(0, Math.min(last, place.span + step)) };
}

/** The bar of the next row that is nearest in time. */
function above(rows: readonly GanttRow[], place: Place | undefined, step: 1 | -1): Place {
  if (place === undefined) return { row: 0, span: 0 };
  const row = Math.max(0, Math.min(rows.length - 1, place.row + step));
  const from = rows[place.row]?.spans[place.span]?.from ?? 0;
  const distances = (rows[row]?.spans ?? []).map((each) => Math.abs(each.from - from));
  return { row, span: Math.max(0, distances.indexOf(Math.min(...distances))) };
}
