import { howWords } from "../../../../domain/merge/words.ts";
import { ok } from "../../../../domain/result.ts";
import { visibleLine, visibleText } from "../../../../domain/text/visible.ts";
import type { MergeDetail } from "../../../../usecases/merge/read-merges.ts";
import type { Handler, Paint } from "../../command.ts";
import { duration, iso, shortTime } from "../../format.ts";
import { word } from "../../given.ts";
import { resultJson as gateJson } from "../done.ts";
import { receiptJson, resultLine } from "../gate.ts";
import { opJson, opLines } from "./log.ts";
import { approvalHints, noteOf, paintedStatus, paintedVerdict, verdictOf, viewJson } from "./render.ts";
import { differenceLines } from "./result.ts";

export const show: Handler = async ({ app, args, io }) => {
  const found = await app.call("merge.show", { of: word(args.merge) });
  if (!found.ok) return found;
  const { attempts, gates, receipts, operations, ...view } = found.value;
  return ok({
    json: {
      entry: viewJson(view),
      attempts: attempts.map(({ startedAt, finishedAt, ...attempt }) => ({
        ...attempt,
        startedAt: iso(startedAt),
        finishedAt: iso(finishedAt),
      })),
      gates: gates.map(gateJson),
      receipts: receipts.map(receiptJson),
      operations: operations.map((op) => opJson(op, [])),
    },
    text: page(io.paint, found.value),
  });
};

export const diff: Handler = async ({ app, args }) => {
  const found = await app.call("merge.show", { of: word(args.merge) });
  if (!found.ok) return found;
  const { entry } = found.value;
  const { branch, headCommit, targetBranch, resultCommit } = entry;
  const patch = await app.call("merge.showPatch", { branch, headCommit, targetBranch, resultCommit });
  if (!patch.ok) return patch;
  return ok({
    json: { id: entry.id, branchName: entry.branch, targetBranch: entry.targetBranch, diff: patch.value.patch },
    text: visibleText(patch.value.patch),
  });
};

function page(paint: Paint, detail: MergeDetail): string {
  const { entry, waitsFor, attempts, gates, receipts, operations } = detail;
  const facts: readonly (readonly [string, string | null])[] = [
    ["status", `${paintedStatus(paint, entry.status)}  ${paintedVerdict(paint, verdictOf(entry))}`],
    ["note", visibleLine(noteOf(detail)) || null],
    ["into", visibleLine(entry.targetBranch)],
    ["commit", visibleLine(entry.headCommit) || null],
    ["landed as", entry.resultCommit],
    ["how", entry.tier === null ? null : howWords(entry)],
    ["approval", entry.approval],
    ["waits for", waitsFor.length === 0 ? null : waitsFor.map((id) => `#${id}`).join(", ")],
    ["task", entry.taskId === null ? null : visibleLine(entry.taskId)],
    ["agent", entry.agentName],
    ["run", entry.runId],
    ["priority", String(entry.priority)],
    ["files", entry.filesModified.length === 0 ? null : entry.filesModified.map(visibleLine).join(", ")],
    ["queued", `${shortTime(entry.enqueuedAt, Date.now())} by ${visibleLine(entry.enqueuedBy)}`],
    ["attempts", entry.attempts === 0 ? null : String(entry.attempts)],
  ];
  const lines = facts.flatMap(([name, value]) => (value === null ? [] : [`  ${paint.dim(name.padEnd(9))}  ${value}`]));
  const section = (title: string, items: readonly string[]) =>
    items.length === 0 ? [] : ["", paint.bold(title), ...items];
  return [
    `${paint.dim(`#${entry.id}`)} ${paint.accent(visibleLine(entry.branch))}`,
    ...lines,
    ...causeLines(detail),
    ...section(
      "Attempts",
      attempts.map(
        ({ startedAt, finishedAt, outcome, queueIds }) =>
          `  ${shortTime(startedAt, Date.now())}  ${outcome ?? "goes on"}${finishedAt === null ? "" : ` after ${duration(finishedAt - startedAt)}`}${queueIds.length > 1 ? `, with ${queueIds.length - 1} more` : ""}`,
      ),
    ),
    ...section(
      "Gates",
      gates.map((result) => `${resultLine(paint, result)}${subjectWords(detail, result)}`),
    ),
    ...section(
      "Evidence",
      receipts.map(({ id, verdict }) => `  ${paint.accent(id)}  ${paintedVerdict(paint, verdict)}`),
    ),
    ...section(
      "Operations",
      operations.map((op) => opLines(paint, op, [])),
    ),
    ...approvalHints(paint, [entry]),
  ].join("\n");
}

/** Only a gate that looked at a tree with this entry says anything about the entry. */
function subjectWords({ entry }: MergeDetail, { on }: MergeDetail["gates"][number]): string {
  if (on === "base") return `  (on ${visibleLine(entry.targetBranch)}, without this branch)`;
  return on === "others" ? "  (on other branches, without this one)" : "";
}

function causeLines({ entry }: MergeDetail): readonly string[] {
  const { files = [], with: others = [], gate, logPath, logTail, difference } = entry.causeDetail ?? {};
  const label = difference === undefined ? "in the way" : "asked about";
  return [
    ...(files.length === 0 ? [] : [`  ${label}: ${files.map(visibleLine).join(", ")}`]),
    ...(difference === undefined ? [] : differenceLines(entry)),
    ...(others.length === 0 ? [] : [`  of: ${others.map(visibleLine).join(", ")}`]),
    ...(gate === undefined ? [] : [`  gate: ${visibleLine(gate)}`]),
    ...(logPath === undefined ? [] : [`  output: ${visibleLine(logPath)}`]),
    ...(logTail === undefined || logTail.trim() === "" ? [] : ["", visibleText(logTail.trimEnd())]),
  ];
}
