import { quoted } from "../../../../domain/mail/quoted.ts";
import { shellWord } from "../../../../domain/text/shell-word.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { OpenDecision } from "../../../../usecases/operator/decisions.ts";
import type { Paint } from "../../command.ts";
import { ago } from "../../format.ts";
import { hintLine, warningLine } from "../../marks.ts";

export const decisionJson = (decision: OpenDecision) => ({
  ...decision,
  createdAt: new Date(decision.createdAt).toISOString(),
});

/** One decision with everything needed to make it. Other people's text stands behind a bar. */
export function decisionBlock(paint: Paint, decision: OpenDecision, now: number): string {
  const { id, from, subject, context, options, deadline, createdAt } = decision;
  return [
    `${paint.bold(paint.yellow("?"))} ${paint.accent(id)} ${visibleLine(from)} ${paint.dim(`asks since ${ago(createdAt, now)}`)}`,
    `  ${visibleLine(subject)}`,
    ...quoted(context).map((line) => `  ${line}`),
    ...(options.length === 0 ? [] : [`  Options: ${options.map((option) => visibleLine(option)).join(" | ")}`]),
    ...(deadline === null ? [] : [`  Answer before: ${visibleLine(deadline)}`]),
    hintLine(paint, `ov decide ${shellWord(id)} ${example(options)}`),
  ].join("\n");
}

/** The first option as it can be typed. It is somebody else's text, and this line invites to be copied into a shell. */
function example([first]: readonly string[]): string {
  if (first === undefined) return "<answer>";
  return visibleLine(first) === first ? shellWord(first) : "<option>";
}

/** For the answers of other commands: who waits for a person, in a line each. */
export const decisionLines = (paint: Paint, decisions: readonly OpenDecision[]): readonly string[] =>
  decisions.map(({ id, from, subject }) =>
    warningLine(
      paint,
      `${visibleLine(from)} needs a decision: ${visibleLine(subject)}`,
      `ov inbox, then: ov decide ${id} <option>`,
    ),
  );
