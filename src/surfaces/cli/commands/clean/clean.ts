import { invalid, type Refusal } from "../../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../../domain/result.ts";
import { allTargets, type CleanTarget, cleanTargets } from "../../../../domain/worktree/targets.ts";
import { type CleanRequest, isEmptyPlan } from "../../../../usecases/worktrees/plan-clean.ts";
import { exits } from "../../../shared/exits.ts";
import type { Call, Handler } from "../../command.ts";
import { counted } from "../../format.ts";
import { isOn, text } from "../../given.ts";
import { successLine } from "../../marks.ts";
import { isDamaged } from "../worktree/clean.ts";
import { emptyJson, planJson, planLines, reportJson, reportLines } from "./render.ts";

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
    return ok({ json: emptyJson(plan), text: ["Nothing to clean.", ...told].join("\n"), quietText: "", ...partly });
  }
  if (dryRun) {
    return ok({ json: { ...planJson(plan), dryRun }, text: ["Would remove:", ...told].join("\n") });
  }
  for (const line of told) io.say(line);
  if (isOn(flags.all) && !io.yes) {
    const answer = io.json ? undefined : await io.confirm("Remove all this?");
    if (answer === undefined) return no(invalid("--all", "needs --yes where nobody can be asked"));
    if (!answer) return ok({ json: { ...emptyJson(plan), cancelled: true }, text: "Nothing was removed." });
  }
  const done = await app.call("clean.run", plan);
  if (!done.ok) return done;
  return ok({
    json: reportJson(plan, done.value),
    text: reportLines(io.paint, done.value).join("\n"),
    quietText: done.value.backup.name,
    ...(done.value.keptWorktrees.length > 0 ? { exit: exits.unexpected } : {}),
  });
};

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
  const { name, refs, rows, files } = restored.value;
  const what = `${counted(refs.length, "ref")}, ${counted(rows, "row")} and ${counted(files.length, "file")} came back from`;
  return ok({ json: { ...restored.value }, text: successLine(io.paint, what, name), quietText: name });
};
