import { mostAmount } from "../../domain/budget/budget.ts";
import { adviceLines } from "../../domain/coordination/advice.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { decimal, fields, noFields, oneOf, text } from "../../domain/schema/schema.ts";
import type { StartReply } from "../coordinators/plan-start.ts";
import type { Effect, World } from "../operation.ts";

/** What a person should know before a team starts: as `ov go` shows it before it asks. */
export interface RunPlan {
  readonly target: string;
  /** The target is checked out, so finished work gathers on a branch of ours until it is promoted. */
  readonly gathers: boolean;
  readonly runtime: string;
  readonly otherRuntimes: readonly { readonly capability: string; readonly runtime: string }[];
  readonly gates: readonly string[];
  /** Without gates: `wait` for the operator before each landing, or `land` unchecked. */
  readonly unverified: "wait" | "land";
  /** US dollars for a run; 0: no limit. */
  readonly budgetUsd: number;
  readonly maxConcurrent: number;
  /** 0: any number. */
  readonly maxAgents: number;
  readonly advice: readonly string[];
}

export const planRun: Effect<{ readonly target?: string | undefined }, RunPlan> = {
  kind: "effect",
  request: fields({}, { target: text }),
  place: "engine",
  run: async (world, { target: branch }) => {
    const target = await world.call("branch.findTarget", { branch });
    if (!target.ok) return target;
    const team = await world.call("runtime.checkTeam", {});
    if (!team.ok) return team;
    const advised = await world.call("advise.plan", {});
    if (!advised.ok) return advised;
    const { project, agents, budgets, merge } = await world.settings();
    return ok({
      target: target.value.branch,
      gathers: target.value.isHere,
      runtime: team.value.runtime,
      otherRuntimes: team.value.others,
      gates: project.qualityGates.map(({ command }) => command),
      unverified: merge.unverified,
      budgetUsd: budgets.run.usd,
      maxConcurrent: agents.maxConcurrent,
      maxAgents: agents.maxSessionsPerRun,
      advice: adviceLines(advised.value.advice),
    });
  },
};

export interface StartRunRequest {
  readonly objective: string;
  readonly target?: string | undefined;
  readonly runtime?: string | undefined;
  readonly model?: string | undefined;
  readonly budgetUsd?: number | undefined;
}

type TeamRequest = Omit<StartRunRequest, "objective"> & { readonly objective?: string | undefined };

/** Starts a coordinator with an objective. */
export const startRun: Effect<StartRunRequest, StartReply> = {
  kind: "effect",
  request: fields({ objective: text }, { target: text, runtime: text, model: text, budgetUsd: decimal }),
  place: "engine",
  operatorOnly: true,
  action: () => "start a coordinator",
  run: async (world, request) => {
    const { objective, budgetUsd } = request;
    if (objective.trim() === "") return no(invalid("objective", "must say what is wanted"));
    if (budgetUsd !== undefined && !(budgetUsd > 0 && budgetUsd <= mostAmount.usd)) {
      return no(invalid("budgetUsd", `must be a number above 0 and at most ${mostAmount.usd}`));
    }
    return startTeam(world, request);
  },
};

/** Makes the checks of `ov go`, then starts. The team gets the variables of the engine: a browser has no shell. */
async function startTeam(
  world: World,
  { objective, target: branch, runtime, model, budgetUsd }: TeamRequest,
): Promise<Result<StartReply, Refusal>> {
  const target = await world.call("branch.findTarget", { branch });
  if (!target.ok) return target;
  await world.call("trust.check", {});
  const team = await world.call("runtime.checkTeam", { runtime });
  if (!team.ok) return team;
  const environment = await world.call("environment.capture", {});
  if (!environment.ok) return environment;
  return world.call("coordinator.start", {
    capability: "coordinator",
    objective,
    runtime,
    model,
    budgetUsd,
    targetBranch: target.value.commit === undefined ? undefined : target.value.branch,
    environment: environment.value,
  });
}

export interface StartedCoordinator {
  readonly started: boolean;
  readonly alreadyRunning: boolean;
  readonly agentName: string;
  readonly runId: string;
}

/** Starts a coordinator, with or without an objective, unless one is alive. */
export const startOnlyCoordinator: Effect<{ readonly objective?: string | undefined }, StartedCoordinator> = {
  kind: "effect",
  request: fields({}, { objective: text }),
  place: "engine",
  operatorOnly: true,
  action: () => "start a coordinator",
  run: async (world, request) => {
    const status = await world.call("coordinator.status", { capability: "coordinator" });
    if (!status.ok) return status;
    const [living] = status.value.all;
    if (living !== undefined) {
      const { name: agentName, runId } = living.agent;
      return ok({ started: false, alreadyRunning: true, agentName, runId });
    }
    const started = await startTeam(world, request);
    if (!started.ok) return started;
    const { agentName, runId } = started.value;
    return ok({ started: true, alreadyRunning: false, agentName, runId });
  },
};

export interface StopRunRequest {
  /** The coordinator. */
  readonly name: string;
  /** What becomes of the agents of its run. */
  readonly workers: "leave" | "stop";
}

export interface StopRunReply {
  readonly agentName: string;
  readonly runId: string;
  readonly runCompleted: boolean;
  readonly leftOpen: readonly string[];
  readonly workersStopped: readonly string[];
  readonly workersLeft: readonly string[];
  /** The branch with landed work that waits for a promotion. */
  readonly unpromoted: string | null;
}

/** Stops a coordinator and ends its run, as `ov coordinator stop` does. Safe to repeat. */
export const stopRun: Effect<StopRunRequest, StopRunReply> = {
  kind: "effect",
  request: fields({ name: text, workers: oneOf(["leave", "stop"]) }),
  place: "engine",
  operatorOnly: true,
  action: ({ name }) => `stop ${name} and its run`,
  run: async (world, { name, workers }) => {
    const status = await world.call("coordinator.status", { capability: "coordinator", name });
    if (!status.ok) return status;
    const { asked } = status.value;
    const stopped = asked?.running === true ? await stop(world, { name, tree: workers === "stop" }) : undefined;
    if (stopped?.ok === false) return stopped;
    const monitors = await world.call("agent.discover", { capability: "monitor", all: false });
    if (!monitors.ok) return monitors;
    for (const monitor of monitors.value.agents.filter(({ runId }) => runId === asked?.agent.runId)) {
      const ended = await stop(world, { name: monitor.name, tree: false });
      if (!ended.ok) return ended;
    }
    const finished = await world.call("coordinator.finish", { capability: "coordinator", name });
    if (!finished.ok) return finished;
    const { agentName, runId, runCompleted, open, unpromoted } = finished.value;
    return ok({
      agentName,
      runId,
      runCompleted,
      leftOpen: open.map(({ what }) => what),
      workersStopped: stopped?.value.children.map((child) => child.agentName) ?? [],
      workersLeft: stopped?.value.liveChildren ?? [],
      unpromoted,
    });
  },
};

/** Stops the coordinator, if one is alive, and ends its run. Its workers go on. */
export const stopOnlyCoordinator: Effect<object, { readonly stopped: boolean }> = {
  kind: "effect",
  request: noFields,
  place: "engine",
  operatorOnly: true,
  action: () => "stop the coordinator",
  run: async (world) => {
    const status = await world.call("coordinator.status", { capability: "coordinator" });
    if (!status.ok) return status;
    const { asked } = status.value;
    if (asked === null || !asked.running) return ok({ stopped: false });
    const stopped = await world.call("web.stopRun", { name: asked.agent.name, workers: "leave" });
    return stopped.ok ? ok({ stopped: true }) : stopped;
  },
};

const stop = (world: World, agent: { readonly name: string; readonly tree: boolean }) =>
  world.call("agent.stop", { ...agent, force: false });
