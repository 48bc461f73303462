import { isOpenMerge, type MergeEntry, type MergeStatus, type ResolutionTier } from "../../../../domain/merge/entry.ts";
import { causeWords, howWords } from "../../../../domain/merge/words.ts";
import { shellWord } from "../../../../domain/text/shell-word.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { MergeDetail } from "../../../../usecases/merge/read-merges.ts";
import type { Paint } from "../../command.ts";
import { errorLine, hintLine, successLine, warningLine } from "../../marks.ts";
import { awaitsApproval, entryJson, paintedVerdict, verdictOf } from "./render.ts";

/** What became of a branch, in the shape scripts know. */
export interface MergeResult {
  /** The branch it is promoted to later; null where it lands there directly. */
  readonly meantFor: string | null;
  readonly promoteFlags: readonly string[];
  readonly entry: MergeEntry;
  readonly success: boolean;
  readonly tier: ResolutionTier;
  readonly conflictFiles: readonly string[];
  readonly errorMessage: string | null;
  readonly warnings: readonly string[];
}

/** `standing`: why nothing more happens to an entry that is still open. */
export function resultOf(
  { entry, operations, receipts, meantFor, promoteFlags }: MergeDetail,
  standing: string | undefined,
): MergeResult {
  const success = entry.status === "merged";
  const landed = operations.some(({ kind, status }) => kind === "land" && status === "done");
  return {
    entry,
    meantFor,
    promoteFlags,
    success,
    tier: entry.tier ?? (entry.cause === "conflict" ? "auto-resolve" : "clean-merge"),
    conflictFiles: entry.cause === "conflict" ? (entry.causeDetail?.files ?? []) : [],
    errorMessage: success ? null : (standing ?? entry.causeDetail?.message ?? endings[entry.status]),
    warnings: success ? [...(landed ? [] : [contained(entry)]), ...(receipts[0]?.gaps ?? [])] : [],
  };
}

const contained = ({ branch, targetBranch }: MergeEntry): string =>
  `${targetBranch} had everything of ${branch} already; nothing was changed`;

const endings: Readonly<Record<MergeStatus, string>> = {
  pending: "it waits in the queue",
  merging: "it is being merged",
  gating: "it is being checked",
  merged: "it has landed",
  conflict: "it conflicts with what landed before",
  failed: "it failed",
  blocked: "something is in the way; it is tried again by itself",
  cancelled: "it was taken out of the queue",
  superseded: "a newer commit of the branch took its place",
  reverted: "it landed and was taken back",
};

export const resultJson = ({ entry, promoteFlags: _, ...result }: MergeResult) => ({
  entry: entryJson(entry),
  ...result,
});

/** A result for a person: what it was about, how it went, and what to type next. */
export function resultLines(paint: Paint, result: MergeResult): readonly string[] {
  const { entry, meantFor, success, tier, conflictFiles, errorMessage, warnings } = result;
  const verdict = paintedVerdict(paint, verdictOf(entry));
  const branch = visibleLine(entry.branch);
  return [
    success
      ? `${successLine(paint, "Merged", branch)} (${howWords({ tier, strategy: entry.strategy })}) ${verdict}`
      : errorLine(paint, `${isOpenMerge(entry) ? "Not merged yet" : "Failed"}: ${paint.accent(branch)} ${verdict}`),
    `  ${aboutLine(entry, meantFor)}`,
    ...(conflictFiles.length === 0 ? [] : [`  conflicts: ${conflictFiles.map(visibleLine).join(", ")}`]),
    ...(errorMessage === null
      ? []
      : [`  ${entry.cause === null ? "" : `${causeWords[entry.cause]}: `}${visibleLine(errorMessage)}`]),
    ...warnings.map((warning) => `  ${warningLine(paint, visibleLine(warning))}`),
    ...(awaitsApproval(entry) ? differenceLines(entry) : []),
    ...nextSteps(result).map((next) => hintLine(paint, next)),
  ];
}

/** The patch that the operator is asked about. */
export const differenceLines = ({ causeDetail }: Pick<MergeEntry, "causeDetail">): readonly string[] =>
  (causeDetail?.difference ?? "")
    .trimEnd()
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [`    ${visibleLine(line)}`]));

function aboutLine(entry: MergeEntry, meantFor: string | null): string {
  const commit = entry.resultCommit === null ? "" : ` as ${entry.resultCommit.slice(0, 10)}`;
  const into = `into ${entry.targetBranch}${commit}${meantFor === null ? "" : `, meant for ${meantFor}`}`;
  const files = entry.filesModified.length;
  const facts = [
    ...(entry.agentName === null ? [] : [`agent ${entry.agentName}`]),
    ...(entry.taskId === null ? [] : [`task ${entry.taskId}`]),
    `${files} ${files === 1 ? "file" : "files"}`,
    into,
  ];
  return visibleLine(facts.join(", "));
}

/** The promotion to type, with its flags: names of flags and their values in turn. */
/** Another program may have left such a lock file, and its user should know that it is gone. */
export const lockLines = (paint: Paint, removed: readonly string[]): readonly string[] =>
  removed.map((path) =>
    warningLine(paint, `removed a lock file of git that no process held any more: ${visibleLine(path)}`),
  );

export const promoteWith = (flags: readonly string[]): string =>
  ["ov merge promote", ...flags.map((word, at) => (at % 2 === 0 ? word : shellWord(word)))].join(" ");

function nextSteps({ entry, meantFor, promoteFlags }: MergeResult): readonly string[] {
  if (entry.status === "merged") {
    return meantFor === null ? [] : [`to have it on ${visibleLine(meantFor)}: ${promoteWith(promoteFlags)}`];
  }
  if (awaitsApproval(entry)) {
    const all = entry.causeDetail?.difference === undefined ? [] : [`see all of it: ov merge diff ${entry.id}`];
    return [...all, `to let it land: ov merge approve ${entry.id}`];
  }
  const see = `see what happened: ov merge show ${entry.id}`;
  const { gate, logPath } = entry.causeDetail ?? {};
  const log = gate === undefined ? [] : [`gate ${gate}${logPath === undefined ? "" : `, output in ${logPath}`}`];
  return entry.status === "superseded" || entry.status === "cancelled"
    ? [see]
    : [
        ...log.map(visibleLine),
        see,
        `try it again: ov merge ${entry.status === "blocked" ? "resume" : "retry"} ${entry.id}`,
      ];
}
