import { type KeyboardEvent, type PointerEvent, useId, useRef } from "react";
import type { CostSeries } from "../../api/types.ts";
import { clockTime, money } from "../../state/words.ts";
import { useSize } from "../../ui/use-size.ts";
import { areasOf, scaleOf, ticksOf } from "./cost-scale.ts";
import css from "./costs-page.module.css";

/** The colours of series are those of the tokens; from the fifth on they are hatched too. */
export const colourOf = (place: number): string => `var(--series-${(place % 8) + 1})`;
const isHatched = (place: number): boolean => place >= 4;

/** What was spent until when, stacked, with the limit and where it leads. Left and Right move the cursor. */
export function CostChart({
  data,
  cursor,
  chosen,
  onCursor,
  onChoose,
}: {
  data: CostSeries;
  cursor: number | undefined;
  chosen: string | null | undefined;
  onCursor: (at: number | undefined) => void;
  onChoose: (step: 1 | -1) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const size = useSize(box);
  const scale = scaleOf(data, size);
  const last = data.times.length - 1;
  const at = cursor ?? last;
  const total = (place: number): number => data.series.reduce((sum, { usd }) => sum + (usd[place] ?? 0), 0);
  const move = (event: KeyboardEvent): void => {
    const moves: Readonly<Record<string, number>> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last };
    const to = moves[event.key];
    if (to !== undefined) onCursor(Math.max(0, Math.min(last, to)));
    else if (event.key === "ArrowUp" || event.key === "ArrowDown") onChoose(event.key === "ArrowDown" ? 1 : -1);
    else if (event.key === "Escape") onCursor(undefined);
    else return;
    event.preventDefault();
  };
  const point = (event: PointerEvent<HTMLDivElement>): void => {
    const { left } = event.currentTarget.getBoundingClientRect();
    onCursor(scale.nearest(event.clientX - left));
  };
  const moment = data.times[at] ?? data.to;
  return (
    <div
      ref={box}
      className={css.chart}
      role="slider"
      tabIndex={0}
      aria-label="Moment in the costs"
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={at}
      aria-valuetext={`${clockTime(moment)}, ${money(total(at))}`}
      onKeyDown={move}
      onPointerMove={point}
      onPointerDown={point}
      onPointerLeave={(event) => {
        if (document.activeElement !== event.currentTarget) onCursor(undefined);
      }}
      onBlur={() => onCursor(undefined)}
    >
      <svg width={size.width} height={size.height} aria-hidden>
        <defs>
          {data.series.map((each, place) =>
            isHatched(place) ? (
              <pattern
                key={each.key ?? ""}
                id={`${id}-${place}`}
                width="6"
                height="6"
                patternUnits="userSpaceOnUse"
                patternTransform="rotate(45)"
              >
                <rect width="6" height="6" fill={colourOf(place)} opacity="0.35" />
                <rect width="3" height="6" fill={colourOf(place)} />
              </pattern>
            ) : null,
          )}
        </defs>
        {ticksOf(scale.most).map((usd) => (
          <g key={usd} className={css.tick}>
            <line x1={scale.left} x2={scale.right} y1={scale.y(usd)} y2={scale.y(usd)} />
            <text x={scale.left - 6} y={scale.y(usd)} dy="0.32em" textAnchor="end">
              {scale.most < 0.1 && usd > 0 ? `$${usd.toFixed(3)}` : money(usd)}
            </text>
          </g>
        ))}
        {scale.hours.map((hour, place) => (
          <text
            key={hour}
            className={css.hour}
            x={scale.x(hour)}
            y={size.height - 4}
            textAnchor={place === 0 ? "start" : "middle"}
          >
            {clockTime(hour)}
          </text>
        ))}
        {areasOf(data, scale).map((path, place) => {
          const { key = null } = data.series[place] ?? {};
          const isDim = chosen !== undefined && chosen !== key;
          return (
            <path
              key={key ?? ""}
              d={path}
              className={css.area}
              data-dim={isDim || undefined}
              fill={isHatched(place) ? `url(#${id}-${place})` : colourOf(place)}
            />
          );
        })}
        <Outlook data={data} scale={scale} total={total(last)} />
        {cursor === undefined ? null : (
          <line className={css.cursor} x1={scale.x(moment)} x2={scale.x(moment)} y1={scale.top} y2={scale.bottom} />
        )}
      </svg>
      {cursor === undefined ? null : (
        <p className={css.reading} data-side={scale.x(moment) > size.width / 2 ? "left" : "right"}>
          {clockTime(moment)} <strong>{money(total(at))}</strong>
        </p>
      )}
    </div>
  );
}

/** The limit, and where spending leads if it goes on as in the last hour. */
function Outlook({ data, scale, total }: { data: CostSeries; scale: ReturnType<typeof scaleOf>; total: number }) {
  const { limit, rate, to } = data;
  const goesOn = rate !== null && rate.usdPerHour > 0 && scale.end > Date.parse(to);
  const until = total + ((rate?.usdPerHour ?? 0) * (scale.end - Date.parse(to))) / 3_600_000;
  const isSeen = limit !== null && limit.limitUsd <= scale.most;
  return (
    <>
      {goesOn ? (
        <g className={css.projected}>
          <line x1={scale.x(to)} y1={scale.y(total)} x2={scale.x(scale.end)} y2={scale.y(until)} />
          <text x={scale.right} y={scale.y(until)} dy="-0.5em" textAnchor="end">
            projected
          </text>
        </g>
      ) : null}
      {limit === null ? null : (
        <g className={css.limit}>
          {isSeen ? (
            <line x1={scale.left} x2={scale.right} y1={scale.y(limit.limitUsd)} y2={scale.y(limit.limitUsd)} />
          ) : null}
          <text x={scale.left + 6} y={isSeen ? scale.y(limit.limitUsd) : scale.top} dy={isSeen ? "-0.4em" : "0.8em"}>
            limit of the {limit.scope} {money(limit.limitUsd)}
            {isSeen ? "" : ", above this scale"}
          </text>
        </g>
      )}
    </>
  );
}
