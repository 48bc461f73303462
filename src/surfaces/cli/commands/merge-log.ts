import { entryDetailView, entryPatchView, operationView } from "../../../contract/views/merge.ts";
import { type MergeEntry, verdictOf } from "../../../domain/merge/entry.ts";
import type { MergeOp } from "../../../domain/merge/operation.ts";
import { howWords } from "../../../domain/merge/words.ts";
import { ok } from "../../../domain/result.ts";
import { visibleLine, visibleText } from "../../../domain/text/visible.ts";
import type { MergeDetail } from "../../../usecases/merge/read-merges.ts";
import { counted, duration, iso, shortTime } from "../../shared/format.ts";
import type { App } from "../app.ts";
import type { Handler, Paint } from "../command.ts";
import { integer, word } from "../given.ts";
import { wrap } from "../layout.ts";
import { hintLine } from "../marks.ts";
import { isTerminal } from "../sink.ts";
import { resultLine } from "./gate.ts";
import {
  approvalHints,
  differenceLines,
  failedHints,
  noteOf,
  paintedStatus,
  paintedVerdict,
  verdictWords,
} from "./merge-render.ts";

export const log: Handler = async ({ app, flags, io }) => {
  const found = await app.call("merge.log", { limit: integer(flags.limit) });
  if (!found.ok) return found;
  const { operations, entries, bringBack } = found.value;
  const nothing = `Nothing has landed yet.\n${hintLine(io.paint, "see the queue: ov merge list")}`;
  const lines = operations.map((op) => opLines(io.paint, op, { entries, bringsBack: bringBack.includes(op.id) }));
  return ok({
    json: { operations: operations.map((op) => operationView(op, entries)) },
    text: operations.length === 0 ? nothing : lines.join("\n"),
    rows: {
      columns: ["ID", "WHEN", "KIND", "STATUS", "REF", "COMMIT", "BRANCHES", "UNDONE BY"],
      cells: operations.map((op) => [
        op.id,
        iso(op.createdAt),
        op.kind,
        op.status,
        op.ref,
        op.afterCommit ?? "",
        membersOf(op, entries).join(", "),
        op.undoneBy ?? "",
      ]),
      objects: operations.map((op) => operationView(op, entries)),
    },
  });
};

interface About {
  readonly entries: readonly MergeEntry[];
  /** It took back an undo. */
  readonly bringsBack: boolean;
}

/**
 * An operation in columns, and its subject on a line below: branches have long names, and a terminal has 80 columns.
 */
function opLines(paint: Paint, op: MergeOp, { entries, bringsBack }: About): string {
  const what = {
    land: paint.green("landed  "),
    undo: paint.magenta(bringsBack ? "redid   " : "undid   "),
    promote: paint.cyan("promoted"),
    begin: paint.dim("began   "),
    accept: paint.cyan("accepted"),
    restore: paint.cyan(op.request.dropped === undefined ? "put back" : "replayed"),
  }[op.kind];
  const state = { intended: ` ${paint.yellow("(goes on)")}`, done: "", dropped: ` ${paint.red("(did not happen)")}` };
  const commit = op.afterCommit === null ? "" : `  ${paint.muted(op.afterCommit.slice(0, 10))}`;
  const when = paint.dim(shortTime(op.createdAt, Date.now()).padEnd(timeWidth));
  const ref = visibleLine(op.ref.replace(/^refs\/heads\//, ""));
  return [
    `  ${paint.accent(op.id)}  ${when}  ${what}${commit}${state[op.status]}`,
    `    on ${ref}`,
    ...membersOf(op, entries).map((member) => `    ${visibleLine(member)}`),
    ...(op.undoneBy === null ? [] : [paint.dim(`    taken back by ${op.undoneBy}`)]),
    ...(op.problem === null || op.status === "done"
      ? []
      : [`    ${wrap(visibleLine(op.problem), { width: 80, first: 4, indent: 4 })}`]),
  ].join("\n");
}

/** The width of `Nov 14 14:03`: most operations are of this year. */
const timeWidth = 12;

/** The branches of a landing, each with its verdict at that moment. */
const membersOf = (op: MergeOp, entries: readonly MergeEntry[]): readonly string[] =>
  entries
    .filter(({ id }) => op.queueIds.includes(id))
    .map((entry) => `${entry.branch} (${verdictWords(op.request.verdict ?? verdictOf(entry))})`);

export const show: Handler = async ({ app, args, io }) => {
  const found = await app.call("merge.show", { of: word(args.merge) });
  if (!found.ok) return found;
  const { entry } = found.value;
  const hints = (await waitsForMending(app, entry)) ? failedHints(io.paint, entry) : [];
  return ok({ json: entryDetailView(found.value), text: [page(io.paint, found.value), ...hints].join("\n") });
};

/** It did not land, and no later entry of its branch says more. */
async function waitsForMending(app: App, { id, branch, status }: MergeEntry): Promise<boolean> {
  if (status !== "failed" && status !== "conflict") return false;
  const all = await app.call("merge.list", { branch, all: true });
  return all.ok && all.value.entries.every(({ entry }) => entry.id <= id);
}

export const diff: Handler = async ({ app, args }) => {
  const found = await app.call("merge.readEntry", { of: word(args.merge) });
  if (!found.ok) return found;
  const { entry } = found.value;
  const { branch, headCommit, targetBranch, resultCommit } = entry;
  const patch = await app.call("merge.showPatch", { branch, headCommit, targetBranch, resultCommit });
  if (!patch.ok) return patch;
  const whole = headCommit === "" ? patch.value.patch : `commit ${headCommit}\n\n${patch.value.patch}`;
  // Other programs get the bytes of the patch, so that git can apply it.
  return ok({
    json: entryPatchView(entry, patch.value.patch),
    text: isTerminal(1) ? visibleText(whole) : whole,
    exact: true,
  });
};

function page(paint: Paint, detail: MergeDetail): string {
  const { entry, waitsFor, attempts, gates, receipts, operations, bringBack } = detail;
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
          `  ${shortTime(startedAt, Date.now())}  ${outcome ?? "goes on"}${finishedAt === null ? "" : ` after ${duration(finishedAt - startedAt)}`}${queueIds.length > 1 ? `, in a train with ${counted(queueIds.length - 1, "other branch", "other branches")}` : ""}`,
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
      operations.map((op) => opLines(paint, op, { entries: [], bringsBack: bringBack.includes(op.id) })),
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
