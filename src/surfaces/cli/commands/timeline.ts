import { visibleLine } from "../../../domain/text/visible.ts";
import type { RunAgent, RunDetail } from "../../../usecases/runs/read-runs.ts";
import { duration, generationName, shortTime } from "../../shared/format.ts";
import type { Paint } from "../command.ts";

interface Shown extends Pick<RunDetail, "run" | "durationMs"> {
  readonly agents: readonly RunAgent[];
}

const widestName = 20;
const leastBar = 10;
/** The longest duration is `99h 59m`. */
const durationWidth = 8;

/**
 * Agents as bars over the time of their run, in so many columns:
 *
 *   █  a turn runs in this part of the time
 *   ·  the agent is there and waits
 */
export function timelineLines(paint: Paint, { run, durationMs, agents }: Shown, width: number): readonly string[] {
  if (agents.length === 0) return [];
  const names = agents.map(({ agent }) => shortened(visibleLine(generationName(agent)), widestName));
  const nameWidth = Math.max(...names.map(displayWidth));
  const bar = Math.max(leastBar, width - nameWidth - durationWidth - 6);
  const span = { from: run.startedAt, ms: Math.max(1, durationMs), columns: bar };
  const ends = run.startedAt + durationMs;
  const times = [shortTime(run.startedAt, Date.now()), shortTime(ends, Date.now())] as const;
  const gap = " ".repeat(Math.max(1, bar - times[0].length - times[1].length));
  return [
    `  ${" ".repeat(nameWidth)}  ${paint.muted(`${times[0]}${gap}${times[1]}`)}`,
    ...agents.map((one, at) => {
      const name = names[at] ?? "";
      const padding = " ".repeat(nameWidth - displayWidth(name));
      return `  ${paint.accent(name)}${padding}  ${barOf(one, span)}  ${duration(one.durationMs)}`;
    }),
  ];
}

interface Span {
  readonly from: number;
  readonly ms: number;
  readonly columns: number;
}

/** A column shows the busiest thing in its part of the time, so that no turn is too short to be seen. */
export function barOf({ agent, durationMs, turns }: RunAgent, { from, ms, columns }: Span): string {
  const columnOf = (at: number): number => Math.min(columns - 1, Math.max(0, Math.floor(((at - from) / ms) * columns)));
  const cells = Array.from({ length: columns }, () => " ");
  const fill = (start: number, end: number, mark: string): void => {
    for (let at = columnOf(start); at <= columnOf(end); at++) cells[at] = mark;
  };
  const ended = agent.startedAt + durationMs;
  fill(agent.startedAt, ended, "·");
  for (const { startedAt, endedAt } of turns) if (startedAt !== null) fill(startedAt, endedAt ?? ended, "█");
  return cells.join("");
}

const displayWidth = (text: string): number => Bun.stringWidth(text);

/** By the columns that it takes on a terminal: a wide character takes two. */
function shortened(name: string, most: number): string {
  if (displayWidth(name) <= most) return name;
  let kept = "";
  for (const { segment } of new Intl.Segmenter().segment(name)) {
    if (displayWidth(kept) + displayWidth(segment) > most - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}
