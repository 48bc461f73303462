import { checkAnswerView, evidenceView, openCheckView } from "../../../contract/views/gate.ts";
import type { GateResult, Receipt } from "../../../domain/gate/gate.ts";
import { ok } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { CheckReply } from "../../../usecases/completions/checks.ts";
import type { ToolHandler } from "../tool-call.ts";
import { waitForCheck } from "./wait-for-check.ts";

/** What the gates said about a branch, from the record or, on request, anew. */
export const gates: ToolHandler = async (given, context) => {
  const { app } = context;
  const branch = given.text("branch");
  if (given.isOn("run")) {
    const asked = await app.call("gate.run", { ref: branch });
    if (!asked.ok) return asked;
    const answered = await waitForCheck(context, asked.value.id);
    if (!answered.ok) return answered;
    if (answered.value === undefined) {
      return ok({ text: "Still running.", data: { branch, ...openCheckView(asked.value.id) } });
    }
    const data = checkAnswerView(answered.value, asked.value);
    const lines = [words(branch, answered.value), ...data.problems.map((problem) => `- ${visibleLine(problem)}`)];
    return ok({ text: lines.join("\n"), data: { branch, ...data }, failed: !data.passed });
  }
  const evidence = (await newestReceipt(branch, app)) ?? { receipt: null, results: [] };
  return ok({ text: words(branch, evidence), data: { branch, ...evidenceView(evidence) } });
};

/** A completion is on record under its agent, whose name is in the branch; a landing and a check under the branch. */
async function newestReceipt(branch: string, app: Parameters<ToolHandler>[1]["app"]) {
  const agent = /^overstory\/([^/]+)\/[^/]+$/.exec(branch)?.[1];
  const found: { readonly receipt: Receipt; readonly results: readonly GateResult[] }[] = [];
  for (const of of agent === undefined ? [branch] : [branch, agent]) {
    const seen = await app.call("gate.receipt", { of });
    if (seen.ok) found.push(seen.value);
  }
  return found.toSorted((a, b) => b.receipt.createdAt - a.receipt.createdAt)[0];
}

function words(branch: string, { receipt, results }: Pick<CheckReply, "receipt" | "results">): string {
  if (receipt === null) return `No gate has run on ${visibleLine(branch)}.`;
  const { verdict, headCommit, gaps } = receipt;
  return [
    `${visibleLine(branch)} at ${headCommit.slice(0, 12)}: ${verdict}`,
    ...gateLines(results),
    ...gaps.map((gap) => `gap: ${visibleLine(gap)}`),
  ].join("\n");
}

export const gateLines = (results: readonly GateResult[]): readonly string[] =>
  results.map(
    ({ gate, status, durationMs, flaky }) =>
      `gate ${visibleLine(gate)}: ${status}${flaky ? " (flaky)" : ""} in ${(durationMs / 1000).toFixed(1)} s`,
  );
