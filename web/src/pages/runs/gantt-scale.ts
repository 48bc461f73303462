import type { RunSpans } from "../../api/types.ts";

export interface Period {
  readonly from: number;
  readonly to: number;
}

/** The width of a time in which nothing was done, however long it was. */
const foldedWidth = 28;

export interface GanttScale {
  readonly range: Period;
  readonly width: number;
  x(at: number): number;
  /** The moment at a distance from the left. */
  at(x: number): number;
  /** The idle times that are folded, with their places. */
  readonly folds: readonly (Period & { readonly x: number; readonly width: number })[];
}

/** Where moments lie in a drawing of this width. Idle times inside of the range take little room. */
export function ganttScale(range: Period, idle: readonly Period[], width: number): GanttScale {
  const inside = idle
    .map(({ from, to }) => ({ from: Math.max(from, range.from), to: Math.min(to, range.to) }))
    .filter(({ from, to }) => to - from > (range.to - range.from) * 0.05);
  const folded = inside.reduce((sum, { from, to }) => sum + to - from, 0);
  const shown = Math.max(1, range.to - range.from - folded);
  const perMs = Math.max(1, width - inside.length * foldedWidth) / shown;
  const parts: { readonly from: number; readonly to: number; readonly x: number; readonly width: number }[] = [];
  const folds: (Period & { x: number; width: number })[] = [];
  let [at, x] = [range.from, 0];
  const add = (to: number, size: number): void => {
    parts.push({ from: at, to, x, width: size });
    [at, x] = [to, x + size];
  };
  for (const fold of inside) {
    add(fold.from, (fold.from - at) * perMs);
    folds.push({ ...fold, x, width: foldedWidth });
    add(fold.to, foldedWidth);
  }
  add(range.to, (range.to - at) * perMs);
  const share = (value: number, low: number, high: number): number => (high <= low ? 0 : (value - low) / (high - low));
  return {
    range,
    width,
    folds,
    x: (moment) => {
      const part = parts.find(({ to }) => moment <= to) ?? parts.at(-1);
      return part === undefined ? 0 : part.x + share(moment, part.from, part.to) * part.width;
    },
    at: (place) => {
      const part = parts.find((each) => place <= each.x + each.width) ?? parts.at(-1);
      return part === undefined
        ? range.from
        : part.from + share(place, part.x, part.x + part.width) * (part.to - part.from);
    },
  };
}

export type Span = Omit<RunSpans["rows"][number]["spans"][number], "from" | "to"> &
  Period & { readonly isOpen: boolean };

/** An agent with the parts of its time, those of its earlier incarnations included. */
export interface GanttRow {
  readonly name: string;
  readonly parent: string;
  readonly depth: number;
  readonly capability: string;
  readonly state: RunSpans["rows"][number]["state"];
  readonly outcome: RunSpans["rows"][number]["outcome"];
  readonly spans: readonly Span[];
}

/** The agents of a run as a tree, each name once, in the order in which they began. */
export function ganttRows({ rows }: RunSpans, now: number): readonly GanttRow[] {
  const byName = new Map<string, GanttRow>();
  for (const row of rows.toSorted((a, b) => a.generation - b.generation)) {
    const spans = row.spans.map((span) => ({
      ...span,
      from: Date.parse(span.from),
      to: span.to === null ? now : Date.parse(span.to),
      isOpen: span.to === null,
    }));
    const { name, parent, capability, state, outcome } = row;
    const before = byName.get(name)?.spans ?? [];
    byName.set(name, { name, parent, capability, state, outcome, depth: 0, spans: [...before, ...spans] });
  }
  const all = [...byName.values()].toSorted((a, b) => startOf(a) - startOf(b) || (a.name < b.name ? -1 : 1));
  const placed: GanttRow[] = [];
  const place = (row: GanttRow, depth: number): void => {
    placed.push({ ...row, depth });
    for (const child of all) if (child.parent === row.name && child.name !== row.name) place(child, depth + 1);
  };
  for (const row of all) if (!byName.has(row.parent) || row.parent === row.name) place(row, 0);
  return placed;
}

const startOf = ({ spans }: GanttRow): number => spans[0]?.from ?? 0;

/** How many agents were in a turn in each of so many equal parts of a range. */
export function activityOf(rows: readonly GanttRow[], range: Period, parts: number): readonly number[] {
  const size = Math.max(1, (range.to - range.from) / parts);
  const counts = Array.from({ length: parts }, () => 0);
  for (const { spans } of rows) {
    for (const { kind, from, to } of spans) {
      if (kind !== "turn") continue;
      const first = Math.max(0, Math.floor((from - range.from) / size));
      const last = Math.min(parts - 1, Math.floor((to - range.from) / size));
      for (let at = first; at <= last; at++) counts[at] = (counts[at] ?? 0) + 1;
    }
  }
  return counts;
}

export const spanWords: Readonly<Record<Span["kind"], string>> = {
  queued: "queued",
  starting: "starting",
  turn: "in turn",
  waiting: "waits",
  parked: "parked",
};
