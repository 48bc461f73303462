import { statusOf } from "../../domain/agent/status.ts";
import { toneLooks } from "../shared/status-looks.ts";
import type { Paint } from "./command.ts";

/** The sign of how an agent stands, in its colour. */
export function statusIcon(paint: Paint, agent: Parameters<typeof statusOf>[0]): string {
  const [icon, hue] = toneLooks[statusOf(agent).tone];
  return paint[hue](icon);
}

/** How an agent stands, in words and in their colour. */
export function statusWords(paint: Paint, agent: Parameters<typeof statusOf>[0]): string {
  const { words, tone } = statusOf(agent);
  return paint[toneLooks[tone][1]](words);
}

/** A line that confirms an act, with the id it concerns. */
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
