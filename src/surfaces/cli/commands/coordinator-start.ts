import { type StartedHead, startedHeadView } from "../../../contract/views/agent.ts";
import { activeCategories, discoveryBrief, discoveryObjective } from "../../../domain/coordination/discovery.ts";
import { invalid, type Refusal } from "../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../domain/result.ts";
import { profileNames, profileText } from "../../../domain/role/assignment.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { RunTarget } from "../../../usecases/branches/branches.ts";
import type { HeadCapability } from "../../../usecases/coordinators/find.ts";
import type { StartReply } from "../../../usecases/coordinators/plan-start.ts";
import type { OutputLine, OutputRequest } from "../../../usecases/coordinators/status.ts";
import { counted } from "../../shared/format.ts";
import { describeRefusal } from "../../shared/refusals.ts";
import type { App } from "../app.ts";
import type { Call, Handler, Io, Outcome } from "../command.ts";
import { integer, isOn, text, texts } from "../given.ts";
import { hintLine, successLine } from "../marks.ts";
import { fileSink } from "../sink.ts";
import { untilInterrupted } from "../waiting.ts";
import { questionOf } from "./coordinator.ts";

/** Starts one that leads a run. */
export const start =
  (capability: HeadCapability): Handler =>
  async (call) => {
    const objective = await givenObjective(call);
    if (!objective.ok) return objective;
    const { flags } = call;
    const orders = { capability, name: text(flags.name), objective: objective.value };
    const started = await startHead(call, { ...orders, profile: text(flags.profile), brief: undefined });
    return started.ok ? ok(startedOutcome(call, started.value)) : started;
  };

/** Is there a person to ask whether a team may start? A document for a script is never a place for a question. */
export const canAsk = ({ json }: Io): boolean => !json && process.stdin.isTTY === true;

/** Starting a whole team costs money, so a script has to say that it means it. */
export const nobodyToAsk = (command: "go" | "discover"): Refusal =>
  invalid(command, "costs money and asks first; where no terminal can ask you it needs --yes");

export interface Orders {
  readonly capability: HeadCapability;
  readonly name: string | undefined;
  readonly objective: string | undefined;
  readonly brief: string | undefined;
  /** Nothing is built for the objective. */
  readonly nothingLands?: boolean | undefined;
  readonly profile: string | undefined;
  readonly budgetUsd?: number | undefined;
  /** Where the work is meant to go, when the caller has found that out already. */
  readonly targetBranch?: string | undefined;
}

/** Starts it with the flags that every `start` knows. */
export async function startHead({ app, flags, io }: Call, orders: Orders): Promise<Result<StartedHead, Refusal>> {
  const { profile } = orders;
  if (profile !== undefined && profileText(profile) === undefined) {
    io.warn(`there is no profile "${visibleLine(profile)}"; those that ship are ${profileNames.join(", ")}`);
  }
  const target = orders.targetBranch === undefined ? await targetHere(app, text(flags.target)) : ok(undefined);
  if (!target.ok) return target;
  for (const line of looseLines(target.value)) io.warn(line);
  // A team whose worktrees could not be made would find that out one agent after the other.
  await app.call("trust.check", {});
  const runtime = text(flags.runtime);
  const environment = await app.call("environment.capture", {});
  if (!environment.ok) return environment;
  const watchdogPreexisting = app.engine.status() !== undefined;
  const started = await app.call("coordinator.start", {
    ...orders,
    targetBranch: orders.targetBranch ?? branchOf(target.value),
    runtime,
    model: text(flags.model),
    environment: environment.value,
  });
  if (!started.ok) return started;
  for (const warning of started.value.warnings) io.warn(visibleLine(warning));
  const monitor = isOn(flags.monitor) && (await startMonitor({ app, io }, started.value));
  return ok({ ...started.value, watchdogPreexisting, monitor });
}

async function givenObjective({ flags, io }: Call): Promise<Result<string | undefined, Refusal>> {
  const typed = text(flags.objective);
  return typed === undefined ? ok(undefined) : objectiveOf(io, typed);
}

/** What was typed; for `-` the standard input. */
export async function objectiveOf(io: Io, typed: string): Promise<Result<string, Refusal>> {
  if (typed !== "-") return ok(typed);
  const piped = await io.stdin();
  // A closed standard input reads as an empty one: no objective was given.
  if (piped === undefined || piped.trim() === "") return no(invalid("objective", "is -, but nothing was piped in"));
  return ok(piped);
}

/**
 * The branch that a run begun here is for, found out now: the user may switch branches before the first agent has a
 * worktree. Undefined for an agent that names none: what it begins is for the branch of its own run.
 */
export async function targetHere(
  app: App,
  branch: string | undefined,
): Promise<Result<RunTarget | undefined, Refusal>> {
  return branch === undefined && app.speaksForAgent ? ok(undefined) : app.call("branch.findTarget", { branch });
}

/** Before the first commit there is no branch that could be kept in mind. */
export const branchOf = (target: RunTarget | undefined): string | undefined =>
  target?.commit === undefined ? undefined : target.branch;

/** Says what is not part of the work where no branch is checked out. */
export function looseLines(target: RunTarget | undefined): readonly string[] {
  if (target?.detached === undefined) return [];
  const { branch, commit, detached } = target;
  const start = `the work starts from ${visibleLine(branch)}${commit === undefined ? "" : ` at ${commit.slice(0, 12)}`}`;
  const here = `HEAD is detached at ${detached.commit.slice(0, 12)}`;
  const lacks = `${counted(detached.beyond, "commit")} that ${visibleLine(branch)} lacks ${detached.beyond === 1 ? "is" : "are"} not part of it`;
  if (detached.beyond === 0) return [`${here}; ${start}`];
  return [`${here}; ${start}, and ${lacks}; to work on them: git switch -c <branch>, and type the same again`];
}

/** It watches the same run and leads none. That there is none is no reason to stop what was started. */
async function startMonitor({ app, io }: Pick<Call, "app" | "io">, { runId }: StartReply): Promise<boolean> {
  const enabled = await app.call("config.get", { key: "watchdog.tier2Enabled" });
  if (!enabled.ok || enabled.value !== true) {
    io.warn("no monitor was started: switch it on with ov config set watchdog.tier2Enabled true");
    return false;
  }
  const environment = await app.call("environment.capture", {});
  const started = environment.ok
    ? await app.call("coordinator.start", { capability: "monitor", runId, environment: environment.value })
    : environment;
  if (!started.ok) io.warn(`no monitor was started: ${describeRefusal(started.refusal).message}`);
  return started.ok;
}

export function startedOutcome({ app, flags, io }: Call, started: StartedHead): Outcome {
  const { agentName, capability, runId } = started;
  const which = agentName === capability ? "" : ` --name ${agentName}`;
  // An orchestrator and a discovery are followed by the command of their capability.
  const ov = `ov ${capability}`;
  const question = { capability: capability === "orchestrator" ? capability : "coordinator", name: agentName } as const;
  return {
    json: startedHeadView(started),
    text: [
      successLine(io.paint, `Started ${capability}`, agentName),
      hintLine(io.paint, `run ${runId}`),
      hintLine(io.paint, `what it says: ${ov} output -f${which}`),
      hintLine(io.paint, `ask it: ${ov} ask${which} --body "<question>"`),
      hintLine(io.paint, "what needs you: ov inbox"),
    ].join("\n"),
    quietText: agentName,
    ...(isOn(flags.attach)
      ? { afterPrint: () => followOutput(app, io, { ...question, after: 0, lines: mostLines }) }
      : {}),
  };
}

const defaultLines = 50;

/** Shows the newest lines of what it said, and goes on if asked to. */
export const output =
  (capability: HeadCapability): Handler =>
  async (call) => {
    const { app, flags, io } = call;
    const question = questionOf(capability, call);
    const found = await app.call("coordinator.output", { ...question, lines: integer(flags.lines) ?? defaultLines });
    if (!found.ok) return found;
    const { agentName, lines, cursor } = found.value;
    const content = lines.map(({ text }) => text).join("\n");
    const further = { capability, name: agentName, after: cursor, lines: mostLines };
    return ok({
      json: { agentName, content, lines: lines.length },
      text:
        lines.length === 0
          ? `${agentName} has said nothing yet.`
          : lines.map(({ text }) => visibleLine(text)).join("\n"),
      ...(isOn(flags.follow) ? { afterPrint: () => followOutput(app, io, further) } : {}),
    });
  };

/** More than a person could read of one look. */
const mostLines = 10_000;

/**
 * Tells what the agent says from here on, until Ctrl-C, until the agent has ended or until the output's reader is gone.
 */
const followOutput = (app: App, io: Io, request: OutputRequest): Promise<void> =>
  untilInterrupted((over) => tellOutput(app, io, request, over));

async function tellOutput(app: App, io: Io, request: OutputRequest, over: AbortSignal): Promise<void> {
  const out = fileSink(1);
  const unread = new AbortController();
  const tell = (lines: readonly OutputLine[]): void => {
    const said = lines.map(({ text }) => visibleLine(text));
    // With --json the document on stdout is complete already; what follows is talk.
    if (io.json) for (const line of said) io.say(line);
    else if (out.write(said.map((line) => `${line}\n`).join("")) === "reader-gone") unread.abort();
  };
  const signal = AbortSignal.any([over, unread.signal]);
  const followed = await app.follow("coordinator.followOutput", request, { onItem: tell, signal });
  if (!followed.ok) io.warn(`stopped following: ${describeRefusal(followed.refusal).message}`);
  else if (followed.value.ended && !signal.aborted) io.say(`${followed.value.agentName} has ended.`);
}

export const discover: Handler = async (call) => {
  const { flags, io } = call;
  const categories = activeCategories(texts(flags.skip) ?? []);
  if (!categories.ok) return categories;
  if (!io.yes) {
    if (!canAsk(io)) return no(nobodyToAsk("discover"));
    io.say(`A team explores this code base and writes down what it finds: ${categories.value.join(", ")}.`);
    const answer = await io.confirm("Start?");
    if (answer === undefined) return no(nobodyToAsk("discover"));
    if (!answer) return ok({ json: { cancelled: true }, text: "Nothing was started." });
  }
  const started = await startHead(call, {
    capability: "coordinator",
    name: text(flags.name) ?? "discover-coordinator",
    objective: discoveryObjective,
    nothingLands: true,
    brief: discoveryBrief(categories.value),
    profile: "ov-discovery",
  });
  if (!started.ok) return started;
  const outcome = startedOutcome(call, started.value);
  return ok({ ...outcome, json: { ...outcome.json, categories: categories.value } });
};
