import { finishTool } from "../../../contract/tools/finish.ts";
import { checkAnswerView, evidenceView, openCheckView } from "../../../contract/views/gate.ts";
import { sentView } from "../../../contract/views/mail.ts";
import type { Missing, StoredCheck } from "../../../domain/completion/check.ts";
import type { GateResult, Receipt } from "../../../domain/gate/gate.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import { ok, type Result } from "../../../domain/result.ts";
import type { RoleSpec } from "../../../domain/role/role-spec.ts";
import { quoted, visibleLine } from "../../../domain/text/visible.ts";
import type { CheckReply, CheckTicket } from "../../../usecases/completions/checks.ts";
import type { SendReply } from "../../../usecases/mail/submit.ts";
import { asToolAdvice } from "../tool-advice.ts";
import type { McpApp, ToolAnswer, ToolContext, ToolHandler } from "../tool-call.ts";

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
    reason: given.optionalText("reason"),
  });
  return asked.ok ? finishAnswer(context, asked.value) : asked;
};

/** Waits for the answer to a finish. `mail` is the message by which it was asked for, if it was not `finish`. */
export async function finishAnswer(
  context: ToolContext,
  ticket: CheckTicket,
  mail?: SendReply,
): Promise<Result<ToolAnswer, Refusal>> {
  const answered = await waitForCheck(context, ticket.id);
  if (!answered.ok) return answered;
  if (answered.value === undefined) return ok(unanswered(ticket.id));
  const answer = said(answered.value, ticket, context.role);
  const sent = mail === undefined ? {} : sentView({ ...mail, id: answered.value.messageId });
  return ok({ ...answer, data: { ...sent, ...answer.data }, ...confirmation(context.app, answered.value) });
}

/** Mail that a refusal shows counts as read once the answer was sent. What cannot be confirmed is shown again. */
function confirmation(app: McpApp, { check }: CheckReply): Pick<ToolAnswer, "afterSent"> {
  const mail = check.problem.find((one) => one.mail !== undefined)?.mail;
  if (mail === undefined) return {};
  const { by, messages } = mail;
  return { afterSent: async () => void (await app.call("mail.delivered", { by, messages })) };
}

const unanswered = (check: string): ToolAnswer => ({
  text: "Still being checked. Call finish again with the same words to wait for the answer.",
  data: openCheckView(check),
});

function said(reply: CheckReply, { attached }: { readonly attached: boolean }, role: RoleSpec): ToolAnswer {
  const { status, problem } = reply.check;
  const data = checkAnswerView(reply, { attached });
  if (status === "failed") {
    const tool = { name: "finish", ...finishTool(role) } as const;
    const inItsWords = (one: Missing): Missing => ({
      ...one,
      message: asToolAdvice(one.message, tool),
      fix: asToolAdvice(one.fix, tool),
    });
    const lines = ["Not finished. What is missing:", ...problem.map(inItsWords).flatMap(missingLines)];
    return { text: lines.join("\n"), data, failed: true };
  }
  const gaps = reply.receipt?.gaps ?? [];
  const lines = [
    "Finished; your parent has been told. End your turn now.",
    ...gateLines(reply.results),
    ...gaps.map((gap) => `Your parent knows: ${visibleLine(gap)}`),
  ];
  return { text: lines.join("\n"), data };
}

/** What a gate printed is a program's output: it stands behind the bar like any foreign text. */
const missingLines = ({ message, fix, logPath, logTail, mail }: Missing): readonly string[] => [
  `- ${visibleLine(message)}`,
  `  ${visibleLine(fix)}`,
  ...(logTail === undefined || logTail.trim() === "" ? [] : quoted(logTail.trimEnd()).map((line) => `  ${line}`)),
  ...(logPath === undefined ? [] : [`  whole output: ${visibleLine(logPath)}`]),
  ...(mail === undefined ? [] : ["", mail.text]),
];

/** What the gates said about a branch, from the record or, on request, anew. */
export const gates: ToolHandler = async (given, context) => {
  const { app, role } = context;
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
    const lines = [
      words(branch, answered.value),
      ...data.problems.map((problem) => `- ${visibleLine(problem)}`),
      ...(await failedOutput(app, answered.value.results)),
    ];
    return ok({ text: lines.join("\n"), data: { branch, ...data }, failed: !data.passed });
  }
  const evidence = (await newestReceipt(branch, app)) ?? { receipt: null, results: [] };
  const isKnown = evidence.receipt !== null || !role.access.gates;
  const lines = [
    words(branch, evidence),
    ...(isKnown ? [] : ["Call gates with run: true to run them now."]),
    ...(await failedOutput(app, evidence.results)),
  ];
  return ok({ text: lines.join("\n"), data: { branch, ...evidenceView(evidence) } });
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

/** What gates that did not pass printed last: without it a reader knows that something is red, and not what. */
async function failedOutput(app: McpApp, results: readonly GateResult[]): Promise<readonly string[]> {
  const shown: string[] = [];
  for (const { id, gate, status } of results) {
    const log = status === "passed" ? undefined : await app.call("gate.readLog", { id });
    if (log?.ok !== true || log.value.parts.length === 0) continue;
    const printed = log.value.parts.map(({ text }) => text).join("");
    const last = printed.trimEnd().split("\n").slice(-outputLines).join("\n");
    shown.push(`the last lines of ${visibleLine(gate)}:`, ...quoted(last).map((line) => `  ${line}`));
  }
  return shown;
}

const outputLines = 30;

const gateLines = (results: readonly GateResult[]): readonly string[] =>
  results.map(
    ({ gate, status, durationMs, flaky }) =>
      `gate ${visibleLine(gate)}: ${status}${flaky ? " (flaky)" : ""} in ${(durationMs / 1000).toFixed(1)} s`,
  );

/** Clients that end silent calls do so after half a minute or more. */
const signOfLifeMs = 10_000;

/** Waits for the answer to a stored check, with signs of life for the client. Undefined: the client waits no longer. */
async function waitForCheck(
  { app, signal, progress }: ToolContext,
  id: string,
): Promise<Result<CheckReply | undefined, Refusal>> {
  let told = "";
  let toldAt = Number.NEGATIVE_INFINITY;
  const onItem = (check: StoredCheck): void => {
    const doing = check.progress ?? (check.status === "queued" ? "waiting for the engine" : "being checked");
    if (doing === told && performance.now() - toldAt <= signOfLifeMs) return;
    progress(doing);
    told = doing;
    toldAt = performance.now();
  };
  return app.follow("done.follow", { id }, { onItem, signal });
}

export const checkpoint: ToolHandler = async (given, { app }) => {
  const noted = await app.call("agent.checkpoint", {
    progress: given.text("progress"),
    pending: given.optionalText("pending"),
  });
  return noted.ok ? ok({ text: "Noted.", data: { agentName: noted.value.agentName } }) : noted;
};
