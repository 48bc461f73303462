import { type PointerEvent, useMemo, useRef, useState } from "react";
import { useSize } from "../../ui/use-size.ts";
import css from "./gantt.module.css";
import { activityOf, type GanttRow, type Period } from "./gantt-scale.ts";

const height = 36;
const barWidth = 4;

/** How many agents were in a turn over the whole run. Dragging over it chooses the part that is shown below. */
export function OverviewStrip({
  rows,
  whole,
  range,
  onRange,
}: {
  rows: readonly GanttRow[];
  whole: Period;
  range: Period;
  onRange: (range: Period | undefined) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box);
  const [drag, setDrag] = useState<readonly [number, number]>();
  const parts = Math.max(1, Math.floor(width / barWidth));
  const counts = useMemo(() => activityOf(rows, whole, parts), [rows, whole, parts]);
  const most = Math.max(1, ...counts);
  const length = Math.max(1, whole.to - whole.from);
  const x = (at: number): number => ((at - whole.from) / length) * width;
  const momentAt = (event: PointerEvent<HTMLDivElement>): number =>
    whole.from + ((event.clientX - event.currentTarget.getBoundingClientRect().left) / Math.max(1, width)) * length;
  const [from, to] = drag === undefined ? [range.from, range.to] : drag.toSorted((a, b) => a - b);
  const isWhole = range.from <= whole.from && range.to >= whole.to && drag === undefined;
  return (
    <div
      ref={box}
      className={css.strip}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        const at = momentAt(event);
        setDrag([at, at]);
      }}
      onPointerMove={(event) => setDrag((before) => before && [before[0], momentAt(event)])}
      onPointerUp={() => {
        setDrag(undefined);
        if (from === undefined || to === undefined) return;
        const low = Math.max(whole.from, from);
        const high = Math.min(whole.to, to);
        onRange(high - low < length / 200 ? undefined : { from: low, to: high });
      }}
    >
      <svg width={width} height={height} role="img" aria-label={`At most ${most} agents were in a turn at once`}>
        {counts.map((each, at) => (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a part of the run has no name but its place
            key={at}
            x={at * barWidth}
            y={height - (each / most) * (height - 4)}
            width={barWidth - 1}
            height={(each / most) * (height - 4)}
            className={css.activity}
          />
        ))}
        {isWhole ? null : (
          <rect
            x={x(from ?? 0)}
            y="0"
            width={Math.max(2, x(to ?? 0) - x(from ?? 0))}
            height={height}
            className={css.brush}
          />
        )}
      </svg>
    </div>
  );
}
