import { seatView, troubleCommands, waitedSeatView } from "../../../contract/views/agent.ts";
import { adviceView } from "../../../contract/views/task.ts";
import { type Agent, hasEnded } from "../../../domain/agent/agent.ts";
import { statusOf, waitWords } from "../../../domain/agent/status.ts";
import { adviceLines } from "../../../domain/coordination/advice.ts";
import { awaitsApproval } from "../../../domain/merge/entry.ts";
import { invalid, type Refusal } from "../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../domain/result.ts";
import { withValues } from "../../../domain/schema/schema.ts";
import { taskIdOf } from "../../../domain/task/task.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { FollowedAgent } from "../../../usecases/agents/follow-agent.ts";
import type { SlingReply, SlingRequest } from "../../../usecases/agents/sling-request.ts";
import type { RunTarget } from "../../../usecases/branches/branches.ts";
import type { StartOfWork } from "../../../usecases/branches/start-of-work.ts";
import { exits } from "../../shared/exits.ts";
import { shortTime } from "../../shared/format.ts";
import type { App } from "../app.ts";
import type { Call, Handler, Io, Outcome, Paint } from "../command.ts";
import { integer, isOn, text, texts, word } from "../given.ts";
import { hintLine, statusIcon, statusWords, successLine } from "../marks.ts";
import { teller } from "../waiting.ts";
import { branchOf, looseLines, targetHere } from "./coordinator-start.ts";
import { startWords } from "./merge-render.ts";
import { decisionLines, questionLines } from "./operator-render.ts";

export const sling: Handler = async (call) => {
  const { app, args, flags, io } = call;
  if (flags.headless === false)
    return no(invalid("headless", "cannot be switched off yet: there is no terminal runtime"));
  if (text(flags.name)?.trim() === "") return no(invalid("name", "must not be empty"));
  const typed = word(args.task);
  const captured = await app.call("environment.capture", {});
  if (!captured.ok) return captured;
  const environment = captured.value;
  if (isOn(flags.recover) && isOn(flags["dry-run"])) return no(invalid("dry-run", "says nothing about --recover"));
  if (isOn(flags.fresh) && !isOn(flags.recover)) return no(invalid("fresh", "goes with --recover"));
  if (isOn(flags.recover)) {
    const request = { of: text(flags.name) ?? typed, fresh: isOn(flags.fresh), environment };
    return finish(call, await app.call("agent.recover", request));
  }
  const spec = await specOf(app, text(flags.spec));
  if (!spec.ok) return spec;
  const target = await targetHere(app, text(flags.target));
  if (!target.ok) return target;
  const request = { ...requestOf(call, typed, environment, spec.value), ...targetOf(call, target.value) };
  await app.call("trust.check", {});
  const isDry = isOn(flags["dry-run"]);
  const reply = await app.call(isDry ? "agent.plan" : "agent.sling", request);
  // Only now is it known which run it joins: that one may be for another branch.
  const startsThere = request.baseBranch === undefined && reply.ok && reply.value.targetBranch === target.value?.branch;
  if (startsThere) for (const line of looseLines(target.value)) io.warn(line);
  return isDry && reply.ok ? ok(await planned(call, reply.value)) : finish(call, reply);
};

/** Where the agent would start; undefined where that follows from its flags, or cannot be found out. */
async function startOf({ app, flags }: Call, { targetBranch, runId }: SlingReply): Promise<StartOfWork | undefined> {
  if (targetBranch === null || text(flags["base-branch"]) !== undefined) return undefined;
  const found = await app.call("branch.findStart", { target: targetBranch, runId: runId === "" ? null : runId });
  return found.ok ? found.value : undefined;
}

async function specOf(app: App, path: string | undefined): Promise<Result<string | undefined, Refusal>> {
  if (path === undefined) return ok(undefined);
  const read = await app.call("file.read", { path });
  if (!read.ok) return read;
  const { text, path: place } = read.value;
  return text === undefined ? no(invalid("spec", "does not exist", { value: place })) : ok(place);
}

/** A typed target also counts for an existing run; the branch checked out here counts only for a new run. */
function targetOf(
  { flags }: Call,
  target: RunTarget | undefined,
): Pick<SlingRequest, "targetBranch" | "currentBranch" | "isLoose"> {
  const branch = branchOf(target);
  if (branch === undefined) return {};
  if (text(flags.target) !== undefined) return { targetBranch: branch };
  return { currentBranch: branch, ...(target?.detached === undefined ? {} : { isLoose: true }) };
}

function requestOf(
  { flags }: Call,
  typed: string,
  environment: SlingRequest["environment"],
  specPath: string | undefined,
): SlingRequest {
  const title = text(flags.title) ?? (/\s/.test(typed.trim()) ? typed.trim() : undefined);
  const isToldInWords = /\s/.test(typed.trim());
  return {
    taskId: isToldInWords ? taskIdOf(typed) : typed,
    capability: text(flags.capability) ?? "builder",
    files: texts(flags.files) ?? [],
    environment,
    ...withValues({
      title,
      idOfTitle: isToldInWords || undefined,
      specPath,
      name: text(flags.name),
      parent: text(flags.parent),
      run: text(flags.run),
      depth: integer(flags.depth),
      runtime: text(flags.runtime),
      model: text(flags.model),
      baseBranch: text(flags["base-branch"]),
      siblings: texts(flags.siblings),
      shares: texts(flags.shares),
      profile: text(flags.profile),
      maxAgents: integer(flags["max-agents"]),
      dispatchMaxAgents: integer(flags["dispatch-max-agents"]),
      skipScout: isOn(flags["skip-scout"]) || undefined,
      skipReview: isOn(flags["skip-review"]) || undefined,
      skipTaskCheck: isOn(flags["skip-task-check"]) || undefined,
      scoutCheck: flags["scout-check"] === false ? false : undefined,
      forceHierarchy: isOn(flags["force-hierarchy"]) || undefined,
      allowOverlap: isOn(flags["allow-overlap"]) || undefined,
    }),
  };
}

/** The last line of the agent's log. */
async function lastWords(app: App, name: string): Promise<readonly string[]> {
  const found = await app.call("agent.logs", { name, lines: 1 });
  return found.ok ? found.value.lines.map(({ text }) => visibleLine(text)) : [];
}

/** What an agent asks, what else it waits for, and why its last turn failed: in a line each, with what to type. */
function keepsWords(
  paint: Paint,
  { agent, waits, problem, advice, nextTry, ...asked }: FollowedAgent,
): readonly string[] {
  const others = hasEnded(agent) ? [] : waits.filter(({ kind }) => kind !== "reply");
  const again = nextTry === null ? "" : ` (next try ${shortTime(nextTry, Date.now())})`;
  return [
    ...decisionLines(paint, asked.decisions),
    ...questionLines(paint, asked.questions),
    ...(others.length === 0 ? [] : [`waits for ${visibleLine(others.map(waitWords).join(", "))}`]),
    ...(problem === null ? [] : [`${visibleLine(problem)}${again}`]),
    ...(advice === null ? [] : [visibleLine(advice)]),
  ];
}

async function finish(call: Call, reply: Result<SlingReply, Refusal>): Promise<Result<Outcome, Refusal>> {
  const { app, flags, io } = call;
  if (!reply.ok) return reply;
  for (const warning of reply.value.warnings) io.warn(warning);
  const start = reply.value.notTakenIn === null ? undefined : await startOf(call, reply.value);
  if (start !== undefined && start.missing > 0) io.warn(`it starts at ${startWords(start)}`);
  const { agentName, capability, taskId, branch } = reply.value;
  const { targetBranch } = reply.value;
  const head = [
    successLine(io.paint, `Reserved ${capability} for ${taskId}:`, agentName),
    hintLine(io.paint, `branch ${branch}${targetBranch === null ? "" : `, for ${visibleLine(targetBranch)}`}`),
    ...(isOn(flags.recover) ? [] : joinedLines(io, reply.value)),
  ];
  if (flags.wait === undefined) {
    const text = [...head, hintLine(io.paint, "watch it with: ov status")].join("\n");
    return ok({ json: seatView(reply.value), text, quietText: agentName });
  }
  const toTheEnd = flags.wait === "done";
  io.say(
    `Waiting until ${agentName}, on branch ${branch}, has ${toTheEnd ? "ended" : "finished its first turn"}; Ctrl-C ends the waiting, not the agent.`,
  );
  const stands = await wait(call, agentName, toTheEnd);
  if (stands === undefined) return ok({ json: seatView(reply.value), text: head.join("\n"), quietText: agentName });
  const { agent, problem, advice } = stands;
  const failed = hasEnded(agent) && statusOf(agent).tone !== "good";
  const why = agent.outcome === "start_failed" ? await lastWords(app, agentName) : keepsWords(io.paint, stands);
  const next = agent.outcome === "done" ? await afterReport(app, agent) : [];
  const error = `${agentName} ${statusOf(agent).words}${problem === null ? "" : `: ${problem}`}`;
  return ok({
    json: {
      ...waitedSeatView(reply.value, agent),
      ...(failed ? { success: false, error, hint: advice ?? `ov logs ${agentName}` } : {}),
    },
    text: [
      ...head,
      `${statusIcon(io.paint, agent)} ${io.paint.accent(agentName)} ${statusWords(io.paint, agent)}`,
      ...why.map((line) => `  ${line}`),
      ...(failed ? troubleCommands(agent, advice) : next).map((command) => hintLine(io.paint, command)),
    ].join("\n"),
    quietText: agentName,
    ...(failed ? { exit: exits.upstream } : {}),
  });
}

/** What to type about an agent that has reported: what lets its branch land, or what shows how that stands. */
async function afterReport(app: App, { branch }: Agent): Promise<readonly string[]> {
  const found = branch === null ? undefined : await app.call("merge.readEntry", { of: branch });
  if (found?.ok !== true) return ["read its report: ov inbox"];
  const { entry } = found.value;
  if (!awaitsApproval(entry)) return [`see how it lands: ov merge show ${entry.id}`];
  return [`what it changes: ov merge diff ${entry.id}`, `to let it land: ov merge approve ${entry.id}`];
}

/** Printed whenever the agent of a person joins a run that an agent leads: the person may have meant a new run. */
function joinedLines(io: Io, { coordinatorName, runId, parentAgent }: SlingReply): readonly string[] {
  if (coordinatorName === null || parentAgent !== "operator") return [];
  return [
    hintLine(io.paint, `in run ${runId}, which ${coordinatorName} leads; it reports to you, not to ${coordinatorName}`),
    hintLine(io.paint, `a run of its own: --run new; below the coordinator: --parent ${coordinatorName}`),
  ];
}

/** The agent once it has come so far; undefined when it cannot be looked at any more. Says meanwhile what keeps it. */
async function wait({ app, io }: Call, name: string, toTheEnd: boolean): Promise<FollowedAgent | undefined> {
  const tell = teller(io);
  const onItem = (stands: FollowedAgent): void => {
    const words = keepsWords(io.paint, stands);
    if (words.length > 0) tell([`${name} waits`, ...words].join("\n  "));
  };
  const seen = await app.follow("agent.follow", { name, until: toTheEnd ? "end" : "first-turn" }, { onItem });
  return seen.ok ? (seen.value.stands ?? undefined) : undefined;
}

async function planned(call: Call, plan: SlingReply): Promise<Outcome> {
  const { io } = call;
  const start = await startOf(call, plan);
  for (const warning of plan.warnings) io.warn(warning);
  const { agentName, capability, taskId, branch, parentAgent, depth, runtime, model } = plan;
  const lines = [
    `Would reserve ${capability} ${agentName} for ${taskId}`,
    `branch ${branch}`,
    `parent ${parentAgent}, depth ${depth}, runtime ${runtime}, model ${model === null ? "its own default" : visibleLine(model)}`,
    plan.runId === ""
      ? `in a new run${plan.targetBranch === null ? "" : `, for ${visibleLine(plan.targetBranch)}`}`
      : `in run ${plan.runId}${plan.targetBranch === null ? "" : `, for ${visibleLine(plan.targetBranch)}`}`,
    ...(start === undefined ? [] : [`starts at ${startWords(start)}`]),
    ...joinedLines(io, plan),
  ];
  const startsAt = start === undefined ? {} : { startsAt: start };
  return { json: { dryRun: true, ...seatView(plan), ...startsAt }, text: lines.join("\n") };
}

export const advise: Handler = async ({ app }) => {
  const found = await app.call("advise.plan", {});
  if (!found.ok) return found;
  const { advice } = found.value;
  const said = adviceLines(advice);
  return ok({ json: adviceView(advice, said), text: said.map(visibleLine).join("\n"), wraps: true });
};
