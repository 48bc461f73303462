import { type Merges, queuedEntryView } from "../../../contract/views/merge.ts";
import {
  awaitsApproval,
  isOpenMerge,
  type MergeEntry,
  type MergeStatus,
  type Verdict,
  verdictOf,
  verdicts,
} from "../../../domain/merge/entry.ts";
import { pauseWords, resumeCommand } from "../../../domain/merge/queue-pause.ts";
import { causeWords } from "../../../domain/merge/words.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { StartOfWork } from "../../../usecases/branches/start-of-work.ts";
import type { MergePreview } from "../../../usecases/merge/queue/add-entry.ts";
import type { BlockedMerge } from "../../../usecases/merge/queue/queue-state.ts";
import type { QueuedMerge } from "../../../usecases/merge/read-merges.ts";
import { counted } from "../../shared/format.ts";
import { mergeHues } from "../../shared/status-looks.ts";
import type { Paint, Rows } from "../command.ts";
import { wrap } from "../layout.ts";
import { hintLine, warningLine } from "../marks.ts";
import type { CellStyle } from "../table.ts";

const verdictLooks = {
  verified: ["verified", "green"],
  verified_with_gaps: ["verified with gaps", "yellow"],
  unverified: ["unverified", "magenta"],
} as const satisfies Record<Verdict, readonly [words: string, hue: keyof Paint]>;

/** The verdict about a branch, in the words that all lists use. */
export const verdictWords = (verdict: Verdict): string => verdictLooks[verdict][0];

export const paintedVerdict = (paint: Paint, verdict: Verdict): string =>
  paint[verdictLooks[verdict][1]](verdictLooks[verdict][0]);

export const paintedStatus = (paint: Paint, status: MergeStatus): string => paint[mergeHues[status]](status);

/** The queue as a table. */
export function mergeRows(merges: readonly QueuedMerge[]): Rows {
  return {
    columns: ["ID", "STATUS", "VERDICT", "BRANCH", "INTO", "TASK", "NOTE"],
    cells: merges.map((merge) => [
      String(merge.entry.id),
      merge.entry.status,
      verdictWords(verdictOf(merge.entry)),
      merge.entry.branch,
      merge.entry.targetBranch,
      merge.entry.taskId ?? "-",
      noteOf(merge),
    ]),
    objects: merges.map(queuedEntryView),
  };
}

/** An entry of the queue in lines that fit a terminal: names of branches are long. */
export function queuedLines(paint: Paint, merge: QueuedMerge): readonly string[] {
  const { entry } = merge;
  const id = `#${entry.id}`.padEnd(4);
  const task = entry.taskId === null ? "" : `, task ${visibleLine(entry.taskId)}`;
  const note = visibleLine(noteOf(merge));
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
const isStatus = (cell: string): cell is MergeStatus => Object.hasOwn(mergeHues, cell);

function verdictNamed(cell: string): Verdict | undefined {
  return verdicts.find((verdict) => verdictWords(verdict) === cell);
}

/** Why it is where it is. */
export function noteOf({ entry, waitsFor, place }: QueuedMerge): string {
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
  const all = `${waiting.length} branches wait for your approval: ov merge approve <id>, or: ov merge approve --all`;
  const refuse = `or send it back: ov merge reject ${waiting.length === 1 ? first.id : "<id>"} --reason "<why>"`;
  return [
    hintLine(paint, waiting.length === 1 ? `${visibleLine(first.branch)} waits for your approval; ${one}` : all),
    hintLine(paint, refuse),
  ];
}

/** What to type about a branch that did not land, unless a later entry of it has decided that. */
export function failedHints(paint: Paint, { id }: MergeEntry): readonly string[] {
  return [
    hintLine(paint, `when it is mended, in new commits of its branch or elsewhere: ov merge retry ${id}`),
    hintLine(paint, `to leave it as it is: ov merge cancel ${id}`),
  ];
}

/** One entry on one line, for the answers of other commands. */
export const entryLine = (paint: Paint, entry: MergePreview): string =>
  `  ${paint.dim(entry.id === null ? "new" : `#${entry.id}`)} ${paint.accent(visibleLine(entry.branch))} into ${visibleLine(entry.targetBranch)}  ${paintedStatus(paint, entry.status)}  ${paintedVerdict(paint, verdictOf(entry))}`;

/** The patch that the operator is asked about. */
export const differenceLines = ({ causeDetail }: Pick<MergeEntry, "causeDetail">): readonly string[] =>
  (causeDetail?.difference ?? "")
    .trimEnd()
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [`    ${visibleLine(line)}`]));

/** Another program may have left such a lock file, and its user should know that it is gone. */
export const lockLines = (paint: Paint, removed: readonly string[]): readonly string[] =>
  removed.map((path) =>
    warningLine(paint, `removed a lock file of git that no process held any more: ${visibleLine(path)}`),
  );

/** Nothing while nothing is on its way; else how much, and what a person has to do. */
export function mergeLines(paint: Paint, counts: Merges): readonly string[] {
  const { pending, approvals, failed, blocked, troubles = [], paused = null } = counts;
  const held = paused === null ? [] : [warningLine(paint, visibleLine(pauseWords(paused)), resumeCommand)];
  const repeated = troubles.map((why) =>
    warningLine(paint, `The last try failed and is repeated: ${visibleLine(why)}`, "ov merge log"),
  );
  if (count(pending) === 0 && failed.length === 0) return [...held, ...repeated];
  const numbers = [
    `${count(pending)} pending`,
    ...(approvals.length === 0 ? [] : [`${approvals.length} waiting for approval`]),
    ...(blocked.length === 0 ? [] : [`${blocked.length} blocked`]),
    ...(failed.length === 0 ? [] : [`${failed.length} failed`]),
  ];
  const [first] = approvals;
  return [
    `Merges: ${numbers.join(", ")}`,
    ...held,
    ...(first === undefined ? [] : [warningLine(paint, approvalWords(approvals.length), approvalCommand(approvals))]),
    ...blockedLines(paint, blocked),
    ...repeated,
    ...(failed.length === 0 ? [] : [hintLine(paint, `see what failed: ${failedCommands(failed)}`)]),
  ];
}

/** Branches mostly meet the same obstacle; the list has the rest. */
const mostBlocked = 3;

function blockedLines(paint: Paint, blocked: readonly BlockedMerge[]): readonly string[] {
  const lines = blocked
    .slice(0, mostBlocked)
    .map((one) => warningLine(paint, blockedWords(one), visibleLine(one.next)));
  return blocked.length <= mostBlocked ? lines : [...lines, hintLine(paint, "see all that is blocked: ov merge list")];
}

export const blockedWords = ({ id, branch, why }: BlockedMerge): string =>
  `merge ${id} of ${visibleLine(branch)} is blocked: ${visibleLine(why)}`;

const failedCommands = (failed: readonly number[]): string =>
  failed.length > 3 ? "ov merge list --all" : failed.map((id) => `ov merge show ${id}`).join(", ");

const approvalWords = (count: number): string =>
  count === 1 ? "a branch waits for your approval" : `${count} branches wait for your approval`;

const approvalCommand = (approvals: readonly number[]): string =>
  approvals.length === 1 ? `ov merge approve ${approvals[0]}` : "ov merge list, then: ov merge approve <id>";

const count = (given: number | readonly number[]): number => (typeof given === "number" ? given : given.length);

/** Where work starts, in words, and what of the target it lacks there. */
export function startWords({ branch, commit, target, missing, missingCommits, failedMerge }: StartOfWork): string {
  const at = `${visibleLine(branch)}, ${commit.slice(0, 12)}`;
  const own = branch === target ? at : `${at}, with landed work that ${visibleLine(target)} does not have yet`;
  const commits = `${counted(missing, "commit")} of ${visibleLine(target)}`;
  switch (missingCommits) {
    case "none":
      return own;
    case "comes":
      return `${own}; ${commits} ${missing === 1 ? "is" : "are"} taken in first, through the gates`;
    case "failed":
      return `${own}; ${commits} ${missing === 1 ? "is" : "are"} MISSING there and could not be taken in (ov merge show ${failedMerge})`;
    case "rewritten":
      return `${own}; ${commits} ${missing === 1 ? "is" : "are"} MISSING there, because ${visibleLine(target)} was rewritten (ov merge promote asks what to do)`;
  }
}
