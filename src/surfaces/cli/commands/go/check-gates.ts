import type { Missing } from "../../../../domain/completion/missing.ts";
import { setupGate } from "../../../../domain/gate/gate.ts";
import type { Refusal } from "../../../../domain/refusal.ts";
import { ok, type Result } from "../../../../domain/result.ts";
import { shellWord } from "../../../../domain/text/shell-word.ts";
import { visibleJson, visibleLine, visibleText } from "../../../../domain/text/visible.ts";
import type { Call, Paint } from "../../command.ts";
import { hintLine, successLine, warningLine } from "../../marks.ts";
import { untilAnswered } from "../done/until-answered.ts";
import { resultJson } from "../gate/render.ts";
import type { GoPlan } from "./plan-lines.ts";

/** The results of the gates on the target, before any agent has changed it. */
export interface GateCheck {
  readonly json: Readonly<Record<string, unknown>>;
  readonly failing: readonly Missing[];
  /**
   * A team may start without a question: every gate passes, or landed work stays on a branch of ours until the operator
   * promotes it. Otherwise work would reach the target unproved, or could never land.
   */
  readonly isSafe: boolean;
}

/** Runs every gate on the tip of the target, also gates that were only typed, and names those that fail there. */
export async function checkGates({ app, io }: Call, plan: GoPlan): Promise<Result<GateCheck, Refusal>> {
  const { gates, added } = plan.terms;
  if (gates.length === 0) return ok({ json: { checked: false }, failing: [], isSafe: true });
  const branch = plan.target ?? "HEAD";
  io.say(`Checking the gates on ${visibleLine(branch)} ... (--no-check-gates starts without this)`);
  const ref = plan.target === undefined ? undefined : `refs/heads/${plan.target}`;
  const environment = app.environmentForGates();
  const ticket = await app.call("gate.run", { ref, trial: added, environment });
  if (!ticket.ok) return ticket;
  const answer = await untilAnswered(app, io, ticket.value.id);
  if (!answer.ok) return answer;
  const { check, results } = answer.value;
  const failing = check.problem;
  const json = { checked: true, branch, passed: failing.length === 0, gates: results.map(resultJson), failing };
  if (failing.length === 0) {
    io.say(successLine(io.paint, "The gates pass on", visibleLine(branch)));
    return ok({ json, failing, isSafe: true });
  }
  const fate = fateOf(plan, failing);
  for (const line of failureLines(io.paint, plan, { branch, failing, fate })) io.say(line);
  return ok({ json, failing, isSafe: fate === "gathers" });
}

/**
 * gathers  it lands with the gap named, on a branch of ours that the operator takes over
 * reaches  it lands with the gap named, on the target itself
 * waits    nothing lands until the target passes
 */
type Fate = "gathers" | "reaches" | "waits";

function fateOf({ terms, targetIsYours }: GoPlan, failing: readonly Missing[]): Fate {
  if (terms.baselineFailing === "block" || failing.some(({ gate }) => gate === setupGate)) return "waits";
  return targetIsYours && terms.promote !== "auto" ? "gathers" : "reaches";
}

interface Failed {
  readonly branch: string;
  readonly failing: readonly Missing[];
  readonly fate: Fate;
}

/** Enough lines of the output to see the problem; the log has all of them. */
const shownLines = 8;

function failureLines(paint: Paint, { terms }: GoPlan, { branch, failing, fate }: Failed): readonly string[] {
  const on = visibleLine(branch);
  const names = new Set(failing.map(({ gate }) => gate));
  const left = terms.gates.filter(({ name }) => !names.has(name));
  const removed = `ov config set project.qualityGates ${shellWord(visibleJson(JSON.stringify(left)))} --local`;
  const fates = {
    gathers: `work lands unproved by it on overstory/integration/<run>, and ov merge promote warns before ${on} gets it`,
    reaches: `work would land on ${on} itself, unproved by it`,
    waits: `nothing lands until ${on} passes`,
  } as const satisfies Record<Fate, string>;
  return [
    ...failing.flatMap(({ message, logTail, logPath }) => [
      warningLine(paint, `${visibleLine(message)} on ${on} itself, before any agent has changed anything`),
      ...tailOf(logTail).map((line) => `    ${line}`),
      ...(logPath === undefined ? [] : [hintLine(paint, `whole output: ${visibleLine(logPath)}`)]),
    ]),
    hintLine(paint, `what that means: ${fates[fate]}`),
    hintLine(paint, `mend ${on}, commit, and type the same again`),
    hintLine(paint, `or use another gate: --gate "<command>", and without the failing one: ${visibleLine(removed)}`),
    hintLine(paint, "or go on all the same: --no-check-gates"),
  ];
}

const tailOf = (tail: string | undefined): readonly string[] =>
  tail === undefined || tail.trim() === "" ? [] : visibleText(tail).trimEnd().split("\n").slice(-shownLines);
