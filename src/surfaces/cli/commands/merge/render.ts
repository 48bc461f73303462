import { isOpenMerge, type MergeStatus, type Verdict, verdicts } from "../../../../domain/merge/entry.ts";
import { causeWords } from "../../../../domain/merge/words.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { MergePreview } from "../../../../usecases/merge/add-entry.ts";
import type { MergeView } from "../../../../usecases/merge/read-merges.ts";
import type { Paint, Rows } from "../../command.ts";
import { iso } from "../../format.ts";
import { wrap } from "../../layout.ts";
import { hintLine } from "../../marks.ts";
import type { CellStyle } from "../../table.ts";

/** An entry with the keys scripts know, then ours; times in ISO-8601. */
export function entryJson(entry: MergePreview) {
  return {
    branchName: entry.branch,
    taskId: entry.taskId,
    agentName: entry.agentName,
    filesModified: entry.filesModified,
    enqueuedAt: iso(entry.enqueuedAt),
    status: entry.status,
    resolvedTier: entry.tier,
    id: entry.id,
    headCommit: entry.headCommit,
    targetBranch: entry.targetBranch,
    runId: entry.runId,
    dependsOn: entry.dependsOn,
    priority: entry.priority,
    source: entry.source,
    enqueuedBy: entry.enqueuedBy,
    approval: entry.approval,
    awaitingApproval: awaitsApproval(entry),
    strategy: entry.strategy,
    verdict: verdictOf(entry),
    attempts: entry.attempts,
    notBefore: entry.notBefore === 0 ? null : iso(entry.notBefore),
    resultCommit: entry.resultCommit,
    cause: entry.cause,
    causeDetail: entry.causeDetail,
    updatedAt: iso(entry.updatedAt),
  };
}

/** Before it lands, only what its agent proved about the same commit counts. */
export const verdictOf = ({ verdict }: Pick<MergePreview, "verdict">): Verdict => verdict ?? "unverified";

export const awaitsApproval = (entry: Pick<MergePreview, "status" | "approval">): boolean =>
  isOpenMerge(entry) && entry.approval === "waiting";

const verdictLooks = {
  verified: ["verified", "green"],
  verified_with_gaps: ["verified with gaps", "yellow"],
  unverified: ["unverified", "magenta"],
} as const satisfies Record<Verdict, readonly [words: string, hue: keyof Paint]>;

/** What is known about a branch, in the words that stand beside it everywhere. */
export const verdictWords = (verdict: Verdict): string => verdictLooks[verdict][0];

export const paintedVerdict = (paint: Paint, verdict: Verdict): string =>
  paint[verdictLooks[verdict][1]](verdictLooks[verdict][0]);

const statusHues = {
  pending: "yellow",
  merging: "blue",
  gating: "blue",
  merged: "green",
  conflict: "red",
  failed: "red",
  blocked: "yellow",
  cancelled: "dim",
  superseded: "dim",
  reverted: "magenta",
} as const satisfies Record<MergeStatus, keyof Paint>;

export const paintedStatus = (paint: Paint, status: MergeStatus): string => paint[statusHues[status]](status);

/** The queue as a table. */
export function mergeRows(views: readonly MergeView[]): Rows {
  return {
    columns: ["ID", "STATUS", "VERDICT", "BRANCH", "INTO", "TASK", "NOTE"],
    cells: views.map((view) => [
      String(view.entry.id),
      view.entry.status,
      verdictWords(verdictOf(view.entry)),
      view.entry.branch,
      view.entry.targetBranch,
      view.entry.taskId ?? "-",
      noteOf(view),
    ]),
    objects: views.map(viewJson),
  };
}

export const viewJson = ({ entry, waitsFor, place }: MergeView) => ({ ...entryJson(entry), waitsFor, place });

/** An entry of the queue in lines that fit a terminal: names of branches are long. */
export function viewLines(paint: Paint, view: MergeView): readonly string[] {
  const { entry } = view;
  const id = `#${entry.id}`.padEnd(4);
  const task = entry.taskId === null ? "" : `, task ${visibleLine(entry.taskId)}`;
  const note = visibleLine(noteOf(view));
  return [
    `${paint.dim(id)} ${paint.accent(visibleLine(entry.branch))}  ${paintedStatus(paint, entry.status)}  ${paintedVerdict(paint, verdictOf(entry))}`,
    `     into ${visibleLine(entry.targetBranch)}${task}`,
    ...(note === "" ? [] : [`     ${wrap(note, { width: 80, first: 5, indent: 5 })}`]),
  ];
}

/** Colours for the table of the queue. */
export const mergeCells =
  (paint: Paint): CellStyle =>
  (cell, column) => {
    const status = column === "STATUS" ? statusOf(cell) : undefined;
    if (status !== undefined) return paintedStatus(paint, status);
    const verdict = column === "VERDICT" ? verdictNamed(cell) : undefined;
    if (verdict !== undefined) return paintedVerdict(paint, verdict);
    return column === "BRANCH" ? paint.accent(cell) : cell;
  };

const statusOf = (cell: string): MergeStatus | undefined => (isStatus(cell) ? cell : undefined);
const isStatus = (cell: string): cell is MergeStatus => Object.hasOwn(statusHues, cell);

function verdictNamed(cell: string): Verdict | undefined {
  return verdicts.find((verdict) => verdictWords(verdict) === cell);
}

/** Why it is where it is. */
export function noteOf({ entry, waitsFor, place }: MergeView): string {
  if (awaitsApproval(entry))
    return entry.causeDetail?.difference === undefined
      ? "waits for approval"
      : `waits for approval: ${entry.causeDetail.message}`;
  if (waitsFor.length > 0 && isOpenMerge(entry)) return `waits for ${waitsFor.map((id) => `#${id}`).join(", ")}`;
  if (entry.cause !== null)
    return [causeWords[entry.cause], entry.causeDetail?.message ?? ""].filter((part) => part !== "").join(": ");
  if (place !== null) return place === 1 ? "next" : `number ${place} in line`;
  if (entry.status === "pending" && entry.notBefore === 0)
    return `waits until you say when: ov merge approve ${entry.id}`;
  return "";
}

/** What to type for each branch that waits for a person's word. */
export function approvalHints(paint: Paint, entries: readonly MergePreview[]): readonly string[] {
  const waiting = entries.filter(awaitsApproval);
  const [first] = waiting;
  if (first === undefined) return [];
  const one = `to let it land: ov merge approve ${first.id}`;
  const all = `${waiting.length} branches wait for your word: ov merge approve <id>, or: ov merge approve --all`;
  const refuse = `or send it back: ov merge reject ${waiting.length === 1 ? first.id : "<id>"} --reason <why>`;
  return [
    hintLine(paint, waiting.length === 1 ? `${visibleLine(first.branch)} waits for your word; ${one}` : all),
    hintLine(paint, refuse),
  ];
}

/** One entry on one line, for the answers of other commands. */
export const entryLine = (paint: Paint, entry: MergePreview): string =>
  `  ${paint.dim(entry.id === null ? "new" : `#${entry.id}`)} ${paint.accent(visibleLine(entry.branch))} into ${visibleLine(entry.targetBranch)}  ${paintedStatus(paint, entry.status)}  ${paintedVerdict(paint, verdictOf(entry))}`;
