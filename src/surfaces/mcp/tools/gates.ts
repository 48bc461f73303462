import type { GateResult, Receipt } from "../../../domain/gate/gate.ts";
import { ok } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { ToolAnswer, ToolHandler } from "../tool-call.ts";
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
    if (answered.value === undefined) return ok({ text: "Still running.", data: { check: asked.value.id } });
    const { check, receipt, results } = answered.value;
    const problems = check.problem.map(({ message }) => message);
    const passed = check.status === "done";
    const answer = shown(branch, receipt, results);
    const lines = [answer.text, ...problems.map((problem) => `- ${visibleLine(problem)}`)];
    return ok({ text: lines.join("\n"), data: { ...answer.data, passed, problems }, failed: !passed });
  }
  const found = await newestReceipt(branch, app);
  return ok(shown(branch, found?.receipt ?? null, found?.results ?? []));
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

function shown(branch: string, receipt: Receipt | null, results: readonly GateResult[]): ToolAnswer {
  if (receipt === null) return { text: `No gate has run on ${visibleLine(branch)}.`, data: { branch, receipt: null } };
  const { id, verdict, headCommit, gaps } = receipt;
  const lines = [
    `${visibleLine(branch)} at ${headCommit.slice(0, 12)}: ${verdict}`,
    ...gateLines(results),
    ...gaps.map((gap) => `gap: ${visibleLine(gap)}`),
  ];
  const outcomes = results.map(({ gate, status, exitCode, flaky, logPath }) => ({
    gate,
    status,
    exitCode,
    flaky,
    logPath,
  }));
  return { text: lines.join("\n"), data: { branch, receipt: id, commit: headCommit, verdict, gaps, gates: outcomes } };
}

export const gateLines = (results: readonly GateResult[]): readonly string[] =>
  results.map(
    ({ gate, status, durationMs, flaky }) =>
      `gate ${visibleLine(gate)}: ${status}${flaky ? " (flaky)" : ""} in ${(durationMs / 1000).toFixed(1)} s`,
  );
