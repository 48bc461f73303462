import type { StoredCheck } from "../../../../domain/completion/check.ts";
import type { Missing, MissingKind } from "../../../../domain/completion/missing.ts";
import { visibleLine, visibleText } from "../../../../domain/text/visible.ts";
import type { CheckReply } from "../../../../usecases/completions/check-status.ts";
import { type Exit, exits } from "../../../shared/exits.ts";
import type { Outcome, Paint } from "../../command.ts";
import { iso } from "../../format.ts";
import { errorLine, hintLine, successLine } from "../../marks.ts";
import { resultJson } from "../gate/render.ts";

export interface AnswerWords {
  /** Said when the answer is yes. */
  readonly yes: string;
  readonly attached: boolean;
}

/** The answer to a stored check: what was proved, or everything that is missing. */
export function answerOutcome(paint: Paint, reply: CheckReply, { yes, attached }: AnswerWords): Outcome {
  const { check, receipt, results } = reply;
  const isYes = check.status === "done";
  const json = {
    ...(isYes ? {} : { success: false }),
    check: checkJson(check),
    attached,
    verdict: check.verdict,
    receiptId: check.receiptId,
    gaps: receipt?.gaps ?? [],
    gates: results.map(resultJson),
    missing: check.problem,
  };
  if (!isYes)
    return { json, text: check.problem.map((one) => problemText(paint, one)).join("\n"), exit: exitOf(check) };
  const facts = [
    ...(check.verdict === null ? [] : [`verdict: ${check.verdict.replaceAll("_", " ")}`]),
    ...(check.commitId === null ? [] : [`commit: ${check.commitId}`]),
    ...(check.receiptId === null ? [] : [`receipt: ${check.receiptId} (ov gate show ${check.receiptId})`]),
    ...(receipt?.gaps ?? []).map((gap) => `gap: ${gap}`),
  ];
  const lines = facts.map((fact) => hintLine(paint, visibleLine(fact)));
  return { json, text: [successLine(paint, yes), ...lines].join("\n"), quietText: check.receiptId ?? "" };
}

function problemText(paint: Paint, { message, fix, logTail, logPath }: Missing): string {
  return [
    errorLine(paint, visibleLine(message)),
    ...(logTail === undefined || logTail === "" ? [] : [indented(visibleText(logTail))]),
    ...(logPath === undefined ? [] : [hintLine(paint, `whole output: ${visibleLine(logPath)}`)]),
    hintLine(paint, visibleLine(fix)),
  ].join("\n");
}

const indented = (text: string): string =>
  text
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n");

const checkJson = ({ seq: _, request: __, problem: ___, createdAt, updatedAt, ...check }: StoredCheck) => ({
  ...check,
  createdAt: iso(createdAt),
  updatedAt: iso(updatedAt),
});

/** A flag that was left out, a merge that was left out, or work that is not good enough. */
const exitOfKind: Partial<Record<MissingKind, Exit>> = {
  verdict: exits.usage,
  findings: exits.usage,
  branch: exits.usage,
  code: exits.usage,
  "not-merged": exits.merge,
  conflict: exits.merge,
  ref: exits.notFound,
  engine: exits.unexpected,
};

function exitOf({ problem }: StoredCheck): Exit {
  const found = new Set(problem.map(({ kind }) => exitOfKind[kind] ?? exits.check));
  const [first = exits.check] = found;
  return found.size === 1 ? first : exits.check;
}
