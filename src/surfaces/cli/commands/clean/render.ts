import { stateDirName } from "../../../../domain/project/place.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { CleanTarget } from "../../../../domain/worktree/targets.ts";
import type { CleanReport } from "../../../../usecases/worktrees/carry-out-clean.ts";
import type { CleanPlan } from "../../../../usecases/worktrees/plan-clean.ts";
import type { Paint } from "../../command.ts";
import { counted } from "../../format.ts";
import { hintLine, successLine, warningLine } from "../../marks.ts";
import { keptLine, removedLines } from "../worktree/clean.ts";

type Json = Readonly<Record<string, unknown>>;

/** One line for each thing that would go, then what stays and why. */
export function planLines(paint: Paint, plan: CleanPlan): readonly string[] {
  const item = (text: string): string => `  ${paint.red("-")} ${text}`;
  const deleted = new Set(plan.branches.map(({ branch }) => branch));
  const withWorktree = new Set(plan.worktrees.map(({ worktree }) => worktree.branch));
  const alone = plan.branches.filter(({ branch }) => !withWorktree.has(branch));
  return [
    ...plan.worktrees.map(({ worktree: { branch }, verdict }) => {
      const saved = verdict.class === "clean" ? "" : ` (${verdict.class}, saved first)`;
      return item(`worktree ${visibleLine(branch)}${saved}${deleted.has(branch) ? " and its branch" : ""}`);
    }),
    ...alone.map(({ branch }) => item(`branch ${visibleLine(branch)}`)),
    ...(plan.messages === 0 ? [] : [item(counted(plan.messages, "message"))]),
    ...(plan.usage === 0 ? [] : [item(`${plan.usage} records of what turns used`)]),
    ...(plan.sessions.length === 0 ? [] : [item(`agents released: ${plan.sessions.join(", ")}`)]),
    ...(plan.endRuns ? [item("runs that are still open are ended")] : []),
    ...plan.dirs.map(({ dir, entries }) => item(`${stateDirName}/${dir} (${entries})`)),
    ...plan.rescues.map(({ ref }) => item(visibleLine(ref))),
    ...plan.keptWorktrees.map((one) => keptLine(paint, one)),
    ...plan.keptBranches.map(({ branch, reason, next }) =>
      warningLine(paint, `branch ${visibleLine(branch)} stays: ${reason}`, next),
    ),
    ...liveLines(paint, plan.live),
  ];
}

function liveLines(paint: Paint, live: readonly string[]): readonly string[] {
  if (live.length === 0) return [];
  const [are, have, stop] = live.length === 1 ? ["is", "it has", live[0]] : ["are", "they have", "--all"];
  const words = `${live.join(", ")} ${are} live: nothing is cleaned before ${have} ended`;
  return [warningLine(paint, words, `ov stop ${stop}`)];
}

export function planJson(plan: CleanPlan): Json {
  return {
    plan: {
      worktrees: plan.worktrees.map(({ worktree, verdict }) => ({
        path: worktree.path,
        branch: worktree.branch,
        agentName: worktree.agentName,
        class: verdict.class,
        reason: verdict.reason,
      })),
      branches: plan.branches.map(({ branch }) => branch),
      messages: plan.messages,
      usage: plan.usage,
      sessions: plan.sessions,
      endRuns: plan.endRuns,
      dirs: plan.dirs.map(({ dir }) => dir),
      rescues: plan.rescues.map(({ ref }) => ref),
    },
    live: plan.live,
    keptBranches: plan.keptBranches.map(({ branch }) => branch),
    keptWorktrees: plan.keptWorktrees,
  };
}

/** The keys scripts know, for a clean that found nothing. */
export const emptyJson = (plan: CleanPlan): Json => ({
  ...planJson(plan),
  worktreesCleaned: 0,
  branchesDeleted: 0,
  mailWiped: false,
  sessionsCleared: false,
  metricsWiped: false,
  logsCleared: false,
  agentsCleared: false,
  specsCleared: false,
  trashCleared: false,
  currentRunCleared: false,
  rescueRefsDeleted: 0,
  backup: null,
});

export function reportJson(plan: CleanPlan, report: CleanReport): Json {
  const cleared = (target: CleanTarget): boolean => report.dirs.some((dir) => dir.target === target);
  const removed = report.worktrees.filter((one) => one.removed);
  return {
    ...planJson(plan),
    keptWorktrees: report.keptWorktrees,
    worktreesCleaned: removed.length,
    branchesDeleted: report.branchesDeleted.length,
    mailWiped: report.messages > 0,
    sessionsCleared: report.released.length > 0,
    metricsWiped: report.usage > 0,
    logsCleared: cleared("logs"),
    agentsCleared: cleared("agents"),
    specsCleared: cleared("specs"),
    trashCleared: cleared("trash"),
    currentRunCleared: report.runs.length > 0,
    rescueRefsDeleted: report.rescuesDeleted,
    backup: report.backup,
    removed: report.worktrees,
    problems: report.problems,
    ...(plan.agent === undefined ? {} : { agent: agentJson(plan.agent, report) }),
  };
}

const agentJson = (agentName: string, report: CleanReport): Json => ({
  agentName,
  worktreeRemoved: report.worktrees.some((one) => one.removed),
  branchDeleted: report.branchesDeleted.length > 0,
  agentDirCleared: report.dirs.some((dir) => dir.target === "agents"),
  logsDirCleared: report.dirs.some((dir) => dir.target === "logs"),
  markedCompleted: false,
  released: report.released.includes(agentName),
});

export function reportLines(paint: Paint, report: CleanReport): readonly string[] {
  const alone = report.branchesDeleted.filter((branch) => !report.worktrees.some((one) => one.branch === branch));
  return [
    ...report.worktrees.flatMap((one) => removedLines(paint, one)),
    ...report.keptWorktrees.map((one) => keptLine(paint, one)),
    ...alone.map((branch) => successLine(paint, "Deleted branch", visibleLine(branch))),
    ...(report.messages === 0 ? [] : [successLine(paint, `Deleted ${counted(report.messages, "message")}`)]),
    ...(report.usage === 0 ? [] : [successLine(paint, `Deleted ${report.usage} records of what turns used`)]),
    ...(report.released.length === 0 ? [] : [successLine(paint, "Released", report.released.join(", "))]),
    ...(report.runs.length === 0 ? [] : [successLine(paint, "Ended", report.runs.join(", "))]),
    ...report.dirs.map(({ dir }) => successLine(paint, "Emptied", `${stateDirName}/${dir}`)),
    ...(report.rescuesDeleted === 0 ? [] : [successLine(paint, `Deleted ${report.rescuesDeleted} rescue refs`)]),
    ...report.problems.map((problem) => warningLine(paint, visibleLine(problem))),
    hintLine(paint, `branches and database were copied to ${report.backup.path} first`),
    hintLine(paint, `to have them back: ov clean --restore ${report.backup.name}`),
  ];
}
