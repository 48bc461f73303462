import { cleanedWorktreesView, worktreeView } from "../../../contract/views/worktree.ts";
import { isOpenMerge, type MergeEntry, verdictOf } from "../../../domain/merge/entry.ts";
import { takenOutWords } from "../../../domain/merge/taken-out.ts";
import { invalid, type Refusal } from "../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { CleanWorktreesReport, KeptWorktree, Removed } from "../../../usecases/worktrees/clean-worktrees.ts";
import type { Surveyed } from "../../../usecases/worktrees/survey.ts";
import { exits } from "../../shared/exits.ts";
import type { App } from "../app.ts";
import type { Handler, Paint } from "../command.ts";
import { isOn } from "../given.ts";
import { errorLine, hintLine, statusWords, successLine, warningLine } from "../marks.ts";
import { approvalHints, paintedStatus, paintedVerdict, verdictWords } from "./merge-render.ts";

export const list: Handler = async ({ app, io }) => {
  const found = await app.call("worktree.list", {});
  if (!found.ok) return found;
  const merges = await mergesOf(app, found.value);
  if (!merges.ok) return merges;
  const worktrees = found.value.map((one) => worktreeView(one, standing(one, merges.value.get(one.worktree.branch))));
  const empty = `No worktrees of agents.\n${hintLine(io.paint, "start an agent: ov sling <task>")}`;
  return ok({
    json: { worktrees },
    text:
      found.value.length === 0
        ? empty
        : found.value.map((one) => lines(io.paint, one, merges.value.get(one.worktree.branch))).join("\n"),
    rows: {
      columns: ["AGENT", "STATE", "TASK", "BRANCH", "VERDICT", "HEAD", "PATH"],
      cells: worktrees.map(({ agentName, state, taskId, branch, verdict, head, path }) => [
        agentName ?? "?",
        state ?? "unknown",
        taskId ?? "?",
        branch,
        verdictWords(verdict),
        head ?? "",
        path,
      ]),
      objects: worktrees,
    },
  });
};

/**
 * The newest entry of each branch. Where no agent owns a worktree nothing was ever queued, and no store need be opened.
 */
async function mergesOf(
  app: App,
  worktrees: readonly Surveyed[],
): Promise<Result<ReadonlyMap<string, MergeEntry>, Refusal>> {
  if (worktrees.every(({ owner }) => owner === undefined)) return ok(new Map());
  const listed = await app.call("merge.list", { all: true });
  return listed.ok ? ok(new Map(listed.value.entries.map(({ entry }) => [entry.branch, entry]))) : listed;
}

/**
 * What became of the commit that the worktree is at. An earlier commit of the branch may have landed, and what landed may
 * have been taken out since: neither says that this one is merged.
 */
function standing(
  { head, words }: Surveyed,
  merge: MergeEntry | undefined,
): Pick<MergeEntry, "status" | "verdict"> | undefined {
  if (merge === undefined || isOpenMerge(merge)) return merge;
  if (head !== null && merge.headCommit !== "" && merge.headCommit !== head) return undefined;
  return merge.status === "merged" && takenOutWords(words) !== undefined ? { ...merge, status: "reverted" } : merge;
}

function lines(paint: Paint, one: Surveyed, merge: MergeEntry | undefined): string {
  const { worktree, owner, head, exists } = one;
  const agent = owner?.agent;
  const state = agent === undefined ? "unknown" : statusWords(paint, agent);
  const facts = [`Agent: ${agent?.name ?? "?"}`, `State: ${state}`, `Task: ${visibleLine(agent?.taskId ?? "?")}`];
  const at = standing(one, merge);
  const verdict = paintedVerdict(paint, verdictOf({ verdict: at?.verdict ?? null }));
  const queued = at === undefined ? "" : ` ${paintedStatus(paint, at.status)}`;
  const gone = exists ? "" : ` ${paint.yellow("(directory is gone)")}`;
  const out = at?.status === "reverted" ? takenOutWords(one.words) : undefined;
  return [
    `${paint.accent(visibleLine(worktree.branch))} ${paint.muted((head ?? "").slice(0, 8))}${queued} ${verdict}${gone}`,
    `  ${facts.join(" | ")}`,
    ...(out === undefined ? [] : [`  ${out}`]),
    ...(merge !== undefined && at === undefined ? [`  ${earlierWords(merge)}`] : []),
    hintLine(paint, visibleLine(worktree.path)),
    ...(merge === undefined ? [] : approvalHints(paint, [merge])),
  ].join("\n");
}

const earlierWords = ({ id, headCommit, status }: MergeEntry): string =>
  `Not queued yet; an earlier commit, ${headCommit.slice(0, 8)}, is merge ${id} (${status}).`;

export const clean: Handler = async ({ app, flags, io }) => {
  if (isOn(flags.completed) && isOn(flags.all)) return no(invalid("--completed", "cannot be combined with --all"));
  const cleaned = await app.call("worktree.clean", { all: isOn(flags.all), force: isOn(flags.force) });
  if (!cleaned.ok) return cleaned;
  const report = cleaned.value;
  return ok({
    json: cleanedWorktreesView(report),
    text: reportLines(io.paint, report).join("\n"),
    quietText: report.removed.map(({ branch }) => visibleLine(branch)).join("\n"),
    ...(report.failed.length > 0 || report.kept.some(isDamaged) ? { exit: exits.unexpected } : {}),
  });
};

/** The worktree stays because of a problem, not because of work in it. */
export const isDamaged = ({ class: name }: KeptWorktree): boolean => name === "damaged";

function reportLines(paint: Paint, report: CleanWorktreesReport): readonly string[] {
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
