import { eventView, turnDuration } from "../../../contract/views/event.ts";
import type { Event } from "../../../domain/event/event.ts";
import { elapsed, eventWords } from "../../../domain/event/event-words.ts";
import type { TurnStep } from "../../../domain/event/turn-story.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { TracedTurn } from "../../../usecases/events/trace.ts";
import { cut, day, iso, timeOfDay } from "../../shared/format.ts";
import type { Paint } from "../../shared/paint.ts";
import type { Rows } from "../command.ts";

/** How a list of events is drawn. */
export interface EventLook {
  readonly paint: Paint;
  /** Lines are cut here; undefined for a pipe or file, which get them whole. */
  readonly width: number | undefined;
  readonly now: number;
}

/** One line for each event, with a line before each new day. What agents wrote is made visible and never sent as it is. */
export function eventLines(events: readonly Event[], look: EventLook): readonly string[] {
  const names = Math.min(16, Math.max(0, ...events.map(({ agentName }) => (agentName ?? "").length)));
  const numbers = Math.max(0, ...events.map(({ seq }) => `#${seq}`.length));
  let today = day(look.now);
  return events.flatMap((event) => {
    const line = eventLine(event, look, names, numbers);
    const itsDay = day(event.createdAt);
    if (itsDay === today) return [line];
    today = itsDay;
    return [look.paint.muted(`--- ${itsDay} ---`), line];
  });
}

/** `14:03:59 #812 TOOL+  b1  Bash: ls` */
export function eventLine(event: Event, { paint, width }: EventLook, names: number, numbers = 0): string {
  const { label, text } = eventWords(event);
  const [time, number] = [timeOfDay(event.createdAt), `#${event.seq}`.padStart(numbers)];
  // A hook that proves no agent may name any.
  const name = cut(visibleLine(event.agentName ?? "-"), Math.max(names, 1)).padEnd(names);
  const taken = time.length + number.length + 6 + name.length + 4;
  const shown = visibleLine(text);
  const said = width === undefined || width === 0 ? shown : cutWide(shown, Math.max(10, width - taken));
  const colour = levelPaint(paint, event);
  return `${paint.muted(time)} ${paint.muted(number)} ${colour(label.padEnd(6))} ${paint.accent(name)} ${said}`.trimEnd();
}

/** At most so many columns: wide characters take two. */
export function cutWide(text: string, columns: number): string {
  if (Bun.stringWidth(text) <= columns) return text;
  let taken = "";
  let room = columns - 1;
  for (const character of text) {
    room -= Bun.stringWidth(character);
    if (room < 0) break;
    taken += character;
  }
  return `${taken}…`;
}

function levelPaint(paint: Paint, { level, type }: Event): (text: string) => string {
  if (level === "error") return paint.red;
  if (level === "warn") return paint.yellow;
  if (/^tool_/.test(type)) return paint.blue;
  return /^mail_/.test(type) ? paint.cyan : /^turn_/.test(type) ? paint.green : paint.dim;
}

export const eventRows = (events: readonly Event[]): Rows => ({
  columns: ["time", "event", "level", "type", "agent", "text"],
  cells: events.map((event) => [
    iso(event.createdAt),
    String(event.seq),
    event.level,
    event.type,
    event.agentName ?? "",
    eventWords(event).text,
  ]),
  objects: events.map(eventView),
});

/** A turn as a tree: its head, its steps, its end. */
export function turnTree(traced: TracedTurn, look: EventLook): readonly string[] {
  const { turn, story, tokens } = traced;
  const { paint } = look;
  const counted = tokens.input + tokens.output + tokens.cacheWrite;
  const facts = [
    turn.trigger,
    ...(turn.attempt === 1 ? [] : [`attempt ${turn.attempt}`]),
    `${story.messages} mail in`,
    durationWords(turnDuration(turn)),
    ...(counted === 0 ? [] : [`${counted} tokens`]),
    ...(turn.costMicros === null ? [] : [`$${(turn.costMicros / 1_000_000).toFixed(2)}`]),
  ];
  const time = turn.startedAt === null ? "" : `${dayIfOther(turn.startedAt, look.now)}${timeOfDay(turn.startedAt)}`;
  const { width } = look;
  const head = `${paint.muted(time)} ${paint.accent(turn.agentName)} ${paint.bold(`turn ${turn.id}`)}`;
  const whole = `${head}  ${facts.join(", ")}`;
  const isTooWide = width !== undefined && width > 0 && Bun.stringWidth(whole) > width;
  const lines = [
    ...(isTooWide ? [head, `│  ${facts.join(", ")}`] : [whole]),
    ...story.steps.map((step) => `├─ ${stepLine(step, paint)}`),
    ...(traced.isCut ? ["├─ (more steps than are shown)"] : []),
    `└─ ${outcomeLine(traced, paint)}`,
  ];
  return lines.map((line) => (width === undefined || width === 0 ? line : cutPainted(line, width)));
}

const dayIfOther = (at: number, now: number): string => (day(at) === day(now) ? "" : `${day(at)} `);

const durationWords = (ms: number | null): string => (ms === null ? "still running" : elapsed(ms));

function stepLine(step: TurnStep, paint: Paint): string {
  if (step.kind === "mail")
    return `${paint.cyan("mail")} to ${visibleLine(`${step.to} (${step.type}): ${step.subject}`)}`;
  const what = visibleLine(step.summary === "" ? step.tool : `${step.tool}: ${step.summary}`);
  const time = step.durationMs !== null ? elapsed(step.durationMs) : step.ended ? "time unknown" : "no end seen";
  const bad = step.denied !== null ? paint.yellow(` denied (${visibleLine(step.denied)})`) : "";
  const mark = step.failed && step.denied === null ? paint.red(" failed") : bad;
  return `${paint.muted(time.padStart(6))}${mark} ${what}`;
}

function outcomeLine({ story: { outcome }, turn }: TracedTurn, paint: Paint): string {
  if (outcome === null) return turn.endedAt === null ? paint.dim("still running") : `ended: ${turn.status}`;
  const { end, reason, agentState, agentOutcome } = outcome;
  const why = reason === null ? "" : `: ${visibleLine(reason)}`;
  const colour = end === "clean" ? paint.green : paint.red;
  return `${colour(end)}${why}; agent: ${visibleLine(agentOutcome ?? agentState)}`;
}

/** Cuts a coloured line: where it is too wide, its colours go first. */
export function cutPainted(line: string, width: number): string {
  return Bun.stringWidth(line) <= width ? line : cutWide(Bun.stripANSI(line), width);
}
