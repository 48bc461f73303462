import { useMemo, useRef } from "react";
import type { RunFigures, RunSpans } from "../../api/types.ts";
import { count, exactTime, span } from "../../state/words.ts";
import { useSize } from "../../ui/use-size.ts";
import ganttCss from "./gantt.module.css";
import { activityOf, ganttRows } from "./gantt-scale.ts";
import css from "./runs-page.module.css";

const height = 72;
const barWidth = 4;

/** How many agents of a run were in a turn, and when branches landed, on the scale of the longer of two runs. */
export function CompareLane({ run, data, longest }: { run: RunFigures; data: RunSpans; longest: number }) {
  const box = useRef<HTMLDivElement>(null);
  const { width } = useSize(box);
  const [from, to] = [Date.parse(data.from), Date.parse(data.to)];
  const own = width * Math.min(1, (to - from) / longest);
  const parts = Math.max(1, Math.floor(own / barWidth));
  const counts = useMemo(() => activityOf(ganttRows(data, to), { from, to }, parts), [data, from, to, parts]);
  const most = Math.max(1, ...counts);
  const landings = data.marks.filter(({ kind }) => kind === "landed");
  const name = run.objective ?? run.id;
  return (
    <section className={css.compareLane}>
      <h2>
        {name} <span className="faint">began {exactTime(run.startedAt)}</span>
      </h2>
      <div ref={box}>
        <svg
          width={width}
          height={height}
          role="img"
          aria-label={`${name}: ${span(run.durationMs)}, at most ${count(most, "agent")} in a turn at once, ${count(landings.length, "landing")}`}
        >
          {counts.map((each, at) => (
            <rect
              // biome-ignore lint/suspicious/noArrayIndexKey: a part of the run has no name but its place
              key={at}
              x={at * barWidth}
              y={height - 16 - (each / most) * (height - 24)}
              width={barWidth - 1}
              height={(each / most) * (height - 24)}
              className={ganttCss.activity}
            />
          ))}
          {landings.map(({ at, queueId, branch }) => (
            <g key={`${queueId}${at}`} className={ganttCss.mark} data-tone="good">
              <title>{`${branch} landed after ${span(Date.parse(at) - from)}`}</title>
              <path
                d="M-4,0 a4,4 0 1 0 8,0 a4,4 0 1 0 -8,0Z"
                transform={`translate(${((Date.parse(at) - from) / longest) * width},${height - 7})`}
              />
            </g>
          ))}
        </svg>
      </div>
      <p className="faint">
        {span(run.durationMs)}, at most {count(most, "agent")} in a turn at once, {count(landings.length, "landing")}
      </p>
    </section>
  );
}
