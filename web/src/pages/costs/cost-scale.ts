import type { CostSeries } from "../../api/types.ts";

export interface Size {
  readonly width: number;
  readonly height: number;
}

const margin = { left: 64, right: 12, top: 12, bottom: 24 };
/** The part of the width that is kept for what lies ahead. */
const ahead = 0.2;

/** Where moments and dollars lie in a drawing of this size. */
export function scaleOf(data: CostSeries, { width, height }: Size) {
  const [from, to] = [Date.parse(data.from), Date.parse(data.to)];
  const end = data.rate === null || data.rate.usdPerHour === 0 ? to : to + (to - from) * ahead;
  const [left, right] = [margin.left, Math.max(margin.left + 1, width - margin.right)];
  const [top, bottom] = [margin.top, Math.max(margin.top + 1, height - margin.bottom)];
  const most = mostOf(data, end - to);
  const x = (at: string | number): number =>
    left + (((typeof at === "number" ? at : Date.parse(at)) - from) / Math.max(1, end - from)) * (right - left);
  return {
    left,
    right,
    top,
    bottom,
    most,
    end,
    x,
    y: (usd: number): number => bottom - (usd / most) * (bottom - top),
    /** The place in `times` that is nearest to a distance from the left. */
    nearest: (distance: number): number => {
      const distances = data.times.map((at) => Math.abs(x(at) - distance));
      return distances.indexOf(Math.min(...distances));
    },
    hours: momentsOf(from, end, Math.max(2, Math.floor((right - left) / 90))),
  };
}

/** A limit is in the picture unless it would press what was spent to the floor. */
function mostOf({ series, limit, rate }: CostSeries, aheadMs: number): number {
  const spent = series.reduce((sum, { usd }) => sum + (usd.at(-1) ?? 0), 0);
  const later = spent + ((rate?.usdPerHour ?? 0) * aheadMs) / 3_600_000;
  const high = limit !== null && limit.limitUsd < later * 4 ? Math.max(limit.limitUsd, later) : later;
  return high <= 0 ? 1 : high * 1.08;
}

/** About four round amounts up to the largest. */
export function ticksOf(most: number): readonly number[] {
  const rough = most / 4;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * size).find((each) => each >= rough) ?? rough;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, at) => at * step);
}

const minute = 60_000;
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440].map((each) => each * minute);

/** Round moments of a time, no more than `most` of them. */
export function momentsOf(from: number, to: number, most: number): readonly number[] {
  const step = steps.find((each) => (to - from) / each <= most) ?? Math.ceil((to - from) / most);
  const zone = new Date(from).getTimezoneOffset() * minute;
  const first = Math.ceil((from - zone) / step) * step + zone;
  return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_, at) => first + at * step);
}

/** The outline of each series above those before it. Money is spent when a turn ends, so lines are steps. */
export function areasOf({ series, times, from }: CostSeries, scale: ReturnType<typeof scaleOf>): readonly string[] {
  const below = times.map(() => 0);
  return series.map(({ usd }) => {
    const low = below.map((value) => scale.y(value));
    for (const [at, value] of usd.entries()) below[at] = (below[at] ?? 0) + value;
    const high = below.map((value) => scale.y(value));
    const places = times.map((at) => scale.x(at));
    const start = scale.x(from);
    const line = (heights: readonly number[]): readonly string[] =>
      heights.map((height, at) => `${at === 0 ? start : (places[at - 1] ?? 0)},${height} ${places[at]},${height}`);
    return `M${line(high).join(" ")} ${line(low).toReversed().map(turned).join(" ")}Z`;
  });
}

const turned = (pair: string): string => pair.split(" ").toReversed().join(" ");
