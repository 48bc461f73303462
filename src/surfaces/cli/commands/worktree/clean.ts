import { invalid } from "../../../../domain/refusal.ts";
import { no, ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { CleanWorktreesReport, KeptWorktree } from "../../../../usecases/worktrees/clean-worktrees.ts";
import type { Removed } from "../../../../usecases/worktrees/remove-worktree.ts";
import { exits } from "../../../shared/exits.ts";
import type { Handler, Paint } from "../../command.ts";
import { isOn } from "../../given.ts";
import { errorLine, hintLine, successLine, warningLine } from "../../marks.ts";

export const clean: Handler = async ({ app, flags, io }) => {
  if (isOn(flags.completed) && isOn(flags.all)) return no(invalid("--completed", "cannot be combined with --all"));
  const cleaned = await app.call("worktree.clean", { all: isOn(flags.all), force: isOn(flags.force) });
  if (!cleaned.ok) return cleaned;
  const report = cleaned.value;
  return ok({
    json: reportJson(report),
    text: lines(io.paint, report).join("\n"),
    quietText: report.removed.map(({ branch }) => visibleLine(branch)).join("\n"),
    ...(report.failed.length > 0 || report.kept.some(isDamaged) ? { exit: exits.unexpected } : {}),
  });
};

/** The worktree stays because of a problem, not because of work in it. */
export const isDamaged = ({ class: name }: KeptWorktree): boolean => name === "damaged";

/** The keys scripts know hold branch names; ours say why, and how to get work back. */
function reportJson({ removed, failed, kept, pruned }: CleanWorktreesReport): Readonly<Record<string, unknown>> {
  const blocked = kept.filter(({ class: name }) => name === "held");
  return {
    cleaned: removed.map(({ branch }) => branch),
    failed: failed.map(({ branch }) => branch),
    skipped: kept.filter(({ class: name }) => name !== "held").map(({ branch }) => branch),
    blockedByChildren: blocked.map(({ branch }) => branch),
    pruned,
    mailPurged: 0,
    seedsPreserved: [],
    removed: [...removed, ...failed],
    reasons: kept,
    rescued: removed.flatMap(({ agentName, rescue }) => (rescue === null ? [] : [{ agentName, ...rescue }])),
  };
}

function lines(paint: Paint, report: CleanWorktreesReport): readonly string[] {
  const told = cleanedLines(paint, report);
  return told.length === 0 ? ["No worktrees to clean.", hintLine(paint, "see what there is: ov worktree list")] : told;
}

/** What became of each worktree; nothing when there was none. */
export function cleanedLines(paint: Paint, { removed, failed, kept, pruned }: CleanWorktreesReport): readonly string[] {
  return [
    ...removed.flatMap((one) => removedLines(paint, one)),
    ...failed.map(({ branch, problem }) =>
      errorLine(paint, `${visibleLine(branch)} was not removed: ${visibleLine(problem ?? "")}`),
    ),
    ...(pruned === 0 ? [] : [successLine(paint, `Forgot ${pruned} whose directory was gone`)]),
    ...kept.map((one) => keptLine(paint, one)),
  ];
}

export const keptLine = (paint: Paint, { branch, reason, next }: KeptWorktree): string =>
  warningLine(paint, `${visibleLine(branch)} stays: ${visibleLine(reason)}`, visibleLine(next ?? ""));

/** One removed worktree, and what to type to have its work back. */
export function removedLines(
  paint: Paint,
  { branch, branchDeleted, problem, rescue, trash }: Removed,
): readonly string[] {
  const name = visibleLine(branch);
  return [
    successLine(paint, branchDeleted ? "Removed with its branch" : "Removed, the branch stays:", name),
    ...(rescue === null ? [] : [hintLine(paint, `saved; to have it back: ${visibleLine(rescue.restore)}`)]),
    ...(rescue === null || rescue.skipped.length === 0
      ? []
      : [hintLine(paint, `not saved in git: ${rescue.skipped.map(visibleLine).join(", ")}`)]),
    ...(trash === null ? [] : [hintLine(paint, `ignored files are in ${visibleLine(trash)}`)]),
    ...(problem === null ? [] : [warningLine(paint, visibleLine(problem))]),
  ];
}
