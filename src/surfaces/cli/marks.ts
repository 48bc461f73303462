import { type StatusTone, statusOf } from "../../domain/agent/status.ts";
import type { EventKind } from "../../domain/event/event-kinds.ts";
import type { Paint } from "./command.ts";

type Hue = Exclude<keyof Paint, "bold">;

/** One sign and colour per tone of a status, the same in every list. */
const tones: Readonly<Record<StatusTone, readonly [icon: string, hue: Hue]>> = {
  active: [">", "green"],
  waiting: ["~", "cyan"],
  good: ["✓", "cyan"],
  ended: ["-", "dim"],
  trouble: ["!", "red"],
};

/** The sign of how an agent stands, in its colour. */
export function statusIcon(paint: Paint, agent: Parameters<typeof statusOf>[0]): string {
  const [icon, hue] = tones[statusOf(agent).tone];
  return paint[hue](icon);
}

/** How an agent stands, in words and in their colour. */
export function statusWords(paint: Paint, agent: Parameters<typeof statusOf>[0]): string {
  const { words, tone } = statusOf(agent);
  return paint[tones[tone][1]](words);
}

/** Five columns that tell events apart at a glance. */
const labels: Readonly<Partial<Record<EventKind, readonly [label: string, hue: Hue]>>> = {
  tool_start: ["TOOL+", "blue"],
  tool_end: ["TOOL-", "blue"],
  session_start: ["SESS+", "green"],
  session_end: ["SESS-", "yellow"],
  mail_sent: ["MAIL>", "cyan"],
  spawn: ["SPAWN", "magenta"],
  custom: ["CUSTM", "muted"],
  turn_start: ["TURN+", "green"],
  turn_end: ["TURN-", "yellow"],
  progress: ["PROG ", "cyan"],
  result: ["RSULT", "green"],
};

/** The label of a kind of event in its colour. A kind without a label, or of a newer version, has its first five letters. */
export function eventLabel(paint: Paint, type: string): string {
  const known = Object.hasOwn(labels, type) ? labels[type as EventKind] : undefined;
  return known === undefined ? type.toUpperCase().slice(0, 5).padEnd(5) : paint[known[1]](known[0]);
}

/** Gives every name a colour of its own, in order of first appearance, out of a cycle of five. */
export function nameColours(paint: Paint): (name: string) => string {
  const cycle = [paint.blue, paint.green, paint.yellow, paint.cyan, paint.magenta];
  const known = new Map<string, (text: string) => string>();
  return (name) => {
    const colour = known.get(name) ?? cycle[known.size % cycle.length] ?? paint.blue;
    known.set(name, colour);
    return colour(name);
  };
}

/** A line that confirms: what was done, and the id it concerns. */
export function successLine(paint: Paint, text: string, id?: string): string {
  const line = `${paint.bold(paint.brand("✓"))} ${paint.brand(text)}`;
  return id === undefined ? line : `${line} ${paint.accent(id)}`;
}

/** A line that warns, with what to do about it behind a dash. */
export const warningLine = (paint: Paint, text: string, hint?: string): string =>
  withHint(paint, `${paint.bold(paint.yellow("!"))} ${text}`, hint);

/** A line that says what went wrong inside an answer that is otherwise data. */
export const errorLine = (paint: Paint, text: string, hint?: string): string =>
  withHint(paint, `${paint.bold(paint.red("✗"))} ${text}`, hint);

/** A line that points further. */
export const hintLine = (paint: Paint, text: string): string => paint.dim(`  ${text}`);

const withHint = (paint: Paint, line: string, hint: string | undefined): string =>
  hint === undefined ? line : `${line} ${paint.dim(`— ${hint}`)}`;
