import { checkAnswerView, openCheckView } from "../../../contract/views/gate.ts";
import type { Missing } from "../../../domain/completion/check.ts";
import { ok } from "../../../domain/result.ts";
import { quoted, visibleLine } from "../../../domain/text/visible.ts";
import type { CheckReply } from "../../../usecases/completions/checks.ts";
import type { ToolAnswer, ToolHandler } from "../tool-call.ts";
import { gateLines } from "./gates.ts";
import { waitForCheck } from "./wait-for-check.ts";

/** Asks for the verified completion step and waits for what comes of it. */
export const finish: ToolHandler = async (given, context) => {
  const asked = await context.app.call("done.request", {
    summary: given.text("summary"),
    verdict: given.optionalText("verdict"),
    findings: given.json("findings"),
    learned: given.optionalText("learned"),
    branch: given.optionalText("branch"),
    expansionReason: given.optionalText("expansion_reason"),
    noCode: given.isOn("no_code"),
  });
  if (!asked.ok) return asked;
  const answered = await waitForCheck(context, asked.value.id);
  if (!answered.ok) return answered;
  return ok(answered.value === undefined ? unanswered(asked.value.id) : said(answered.value, asked.value));
};

const unanswered = (check: string): ToolAnswer => ({
  text: "Still being checked. Call finish again with the same words to wait for the answer.",
  data: openCheckView(check),
});

function said(reply: CheckReply, { attached }: { readonly attached: boolean }): ToolAnswer {
  const { status, problem } = reply.check;
  const data = checkAnswerView(reply, { attached });
  if (status === "failed") {
    const lines = ["Not finished. What is missing:", ...problem.flatMap(missingLines)];
    return { text: lines.join("\n"), data, failed: true };
  }
  const lines = ["Finished; your parent has been told. End your turn now.", ...gateLines(reply.results)];
  return { text: lines.join("\n"), data };
}

/** What a gate printed is a program's output: it stands behind the bar like any foreign text. */
const missingLines = ({ message, fix, logPath, logTail }: Missing): readonly string[] => [
  `- ${visibleLine(message)}`,
  `  ${visibleLine(fix)}`,
  ...(logTail === undefined || logTail.trim() === "" ? [] : quoted(logTail.trimEnd()).map((line) => `  ${line}`)),
  ...(logPath === undefined ? [] : [`  whole output: ${visibleLine(logPath)}`]),
];
