import { cleanPlanView, cleanReportView, emptyCleanView, restoredCleanView } from "../../../contract/views/worktree.ts";
import { stateDirName } from "../../../domain/project/place.ts";
import { invalid, type Refusal } from "../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import { allTargets, type CleanTarget, cleanTargets } from "../../../domain/worktree/classify.ts";
import { type CleanPlan, type CleanRequest, isEmptyPlan } from "../../../usecases/worktrees/plan-clean.ts";
import type { CleanReport } from "../../../usecases/worktrees/run-clean.ts";
import { exits } from "../../shared/exits.ts";
import { counted } from "../../shared/format.ts";
import type { Call, Handler, Paint } from "../command.ts";
import { isOn, text } from "../given.ts";
import { hintLine, successLine, warningLine } from "../marks.ts";
import { untilInterrupted } from "../waiting.ts";
import { isDamaged, keptLine, removedLines } from "./worktree.ts";

export const clean: Handler = async (call) => {
  const { app, flags, io } = call;
  const time = text(flags.restore);
  if (time !== undefined) return restore(call, time);
  const request = requestOf(flags);
  if (!request.ok) return request;
  const dryRun = isOn(flags["dry-run"]);
  const planned = await app.call("clean.plan", { ...request.value, dryRun });
  if (!planned.ok) return planned;
  const plan = planned.value;
  const told = planLines(io.paint, plan);
  const partly = plan.keptWorktrees.some(isDamaged) ? { exit: exits.unexpected } : {};
  if (isEmptyPlan(plan)) {
    return ok({
      json: emptyCleanView(plan),
      text: ["Nothing to clean.", ...told].join("\n"),
      quietText: "",
      ...partly,
    });
  }
  if (dryRun) {
    return ok({ json: { ...cleanPlanView(plan), dryRun }, text: ["Would remove:", ...told].join("\n") });
  }
  for (const line of told) io.say(line);
  if (isOn(flags.all) && !io.yes) {
    const answer = io.json ? undefined : await io.confirm("Remove all this?");
    if (answer === undefined) return no(invalid("--all", "needs --yes where no terminal can ask you"));
    if (!answer) return ok({ json: { ...emptyCleanView(plan), cancelled: true }, text: "Nothing was removed." });
  }
  const done = await untilInterrupted((over) => {
    over.addEventListener("abort", () => io.say(finishing), { once: true });
    return app.call("clean.run", plan);
  });
  if (!done.ok) return done;
  return ok({
    json: cleanReportView(plan, done.value),
    text: reportLines(io.paint, done.value).join("\n"),
    quietText: done.value.backup.name,
    ...(done.value.keptWorktrees.length > 0 ? { exit: exits.unexpected } : {}),
  });
};

const finishing =
  "the cleaning is finished first; a second Ctrl-C ends it at once (see what is left: ov clean --all --dry-run)";

function requestOf(flags: Call["flags"]): Result<CleanRequest, Refusal> {
  const agent = text(flags.agent);
  const all = isOn(flags.all);
  if (agent !== undefined && all) return no(invalid("--agent", "and --all are mutually exclusive"));
  const chosen = cleanTargets.filter((target) => isOn(flags[target]));
  const force = isOn(flags.force);
  if (agent !== undefined) return ok({ targets: chosen.length > 0 ? chosen : ofAgent, agent, force, endRuns: false });
  const targets = all ? [...new Set([...allTargets, ...chosen])] : chosen;
  if (targets.length === 0) {
    const allowed = ["--all", "--agent <name>", ...cleanTargets.map((target) => `--${target}`)];
    return no(invalid("clean", "needs to know what", { allowed }));
  }
  return ok({ targets, force, endRuns: all });
}

/** What belongs to one agent. Its mail belongs to others as well. */
const ofAgent: readonly CleanTarget[] = ["worktrees", "branches", "sessions", "logs", "agents"];

const restore = async ({ app, io }: Call, time: string) => {
  const restored = await app.call("clean.restore", { name: time });
  if (!restored.ok) return restored;
  const { name, refs, rows, files, putAside } = restored.value;
  const json = restoredCleanView(restored.value);
  const what = `${counted(refs.length, "ref")}, ${counted(rows, "row")} and ${counted(files.length, "file")} came back from`;
  if (putAside === null) return ok({ json, text: successLine(io.paint, what, name), quietText: name });
  const text = [
    successLine(io.paint, "The database is back as it was at", name),
    warningLine(io.paint, "what was stored after that is not in it"),
    hintLine(io.paint, `the damaged database is kept: ${visibleLine(putAside)}`),
    hintLine(io.paint, `besides, ${counted(refs.length, "ref")} and ${counted(files.length, "file")} came back`),
  ];
  return ok({ json, text: text.join("\n"), quietText: name });
};

/** One line for each thing that would go, then what stays and why. */
function planLines(paint: Paint, plan: CleanPlan): readonly string[] {
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
    ...(plan.usage === 0 ? [] : [item(`${plan.usage} records of usage`)]),
    ...(plan.events === 0 ? [] : [item(counted(plan.events, "event"))]),
    ...(plan.sessions.length === 0 ? [] : [item(`agents released: ${plan.sessions.join(", ")}`)]),
    ...plan.dirs.map(({ dir, entries }) => item(`${stateDirName}/${dir} (${entries})`)),
    ...plan.rescues.map(({ ref }) => item(visibleLine(ref))),
    ...plan.endRuns.flatMap(({ runId, open }) => [
      `Ends run ${runId}${open.length === 0 ? "" : ", with this left open:"}`,
      ...open.map((what) => `  ${paint.yellow("-")} ${visibleLine(what)}`),
    ]),
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

function reportLines(paint: Paint, report: CleanReport): readonly string[] {
  const alone = report.branchesDeleted.filter((branch) => !report.worktrees.some((one) => one.branch === branch));
  return [
    ...report.worktrees.flatMap((one) => removedLines(paint, one)),
    ...report.keptWorktrees.map((one) => keptLine(paint, one)),
    ...alone.map((branch) => successLine(paint, "Deleted branch", visibleLine(branch))),
    ...(report.messages === 0 ? [] : [successLine(paint, `Deleted ${counted(report.messages, "message")}`)]),
    ...(report.usage === 0 ? [] : [successLine(paint, `Deleted ${counted(report.usage, "usage record")}`)]),
    ...(report.events === 0 ? [] : [successLine(paint, `Deleted ${counted(report.events, "event")}`)]),
    ...(report.released.length === 0 ? [] : [successLine(paint, "Released", report.released.join(", "))]),
    ...(report.runs.length === 0 ? [] : [successLine(paint, "Ended", report.runs.join(", "))]),
    ...report.dirs.map(({ dir }) => successLine(paint, "Emptied", `${stateDirName}/${dir}`)),
    ...(report.rescuesDeleted === 0 ? [] : [successLine(paint, `Deleted ${report.rescuesDeleted} rescue refs`)]),
    ...report.problems.map((problem) => warningLine(paint, visibleLine(problem))),
    hintLine(paint, `branches and database were copied to ${report.backup.path} first`),
    hintLine(paint, `to have them back: ov clean --restore ${report.backup.name}`),
  ];
}
