import type { Agent } from "../agent/agent.ts";
import { isIn } from "../agent/capability.ts";
import { statusOf } from "../agent/status.ts";
import type { MailType } from "../mail/types.ts";
import { type TrackerReading, trackerProblem } from "../tracker/tracker.ts";

/** Signs that a run has reached its end. Each is switched on in the settings. */
export const exitTriggers = ["allAgentsDone", "taskTrackerEmpty", "onShutdownSignal"] as const;
export type ExitTrigger = (typeof exitTriggers)[number];

export type ExitTriggerSettings = Readonly<Record<ExitTrigger, boolean>>;

/** The facts about a run that might be over. */
export interface ExitFacts {
  /** The newest incarnation of every agent in the run. */
  readonly agents: readonly Pick<Agent, "name" | "capability" | "state" | "outcome" | "releasedAt">[];
  /** Branches of the run that are still in the merge queue. */
  readonly openBranches: readonly string[];
  /**
   * Tasks of our own that an agent could start on now. They count beside those of another tracker, because `ov task`
   * makes them here.
   */
  readonly readyTasks: readonly string[];
  /** Tasks of our own that are neither ready nor closed. */
  readonly otherTasks: number;
  /** What the project's external tracker said. */
  readonly tracker: TrackerReading;
  /** The sender of a message that asks for the end; it counts whether it was read or not. */
  readonly shutdown: { readonly from: string } | null;
}

export interface ExitRules {
  readonly triggers: ExitTriggerSettings;
  /** Work that failed keeps the run open. */
  readonly requireClean: boolean;
}

export interface TriggerResult {
  readonly enabled: boolean;
  readonly met: boolean;
  readonly detail: string;
}

/** An agent that ended without having finished. */
export interface FailedAgent {
  readonly name: string;
  readonly capability: string;
  readonly outcome: NonNullable<Agent["outcome"]>;
}

export interface ExitCheck {
  readonly complete: boolean;
  readonly triggers: Readonly<Record<ExitTrigger, TriggerResult>>;
  readonly failures: readonly FailedAgent[];
}

/** Is the run over? At least one trigger must be switched on, and all that are must be met. */
export function checkExit(facts: ExitFacts, { triggers, requireClean }: ExitRules): ExitCheck {
  const failures = failuresAmong(facts.agents);
  const found: Readonly<Record<ExitTrigger, Omit<TriggerResult, "enabled">>> = {
    allAgentsDone: agentsDone(facts, requireClean ? failures : []),
    taskTrackerEmpty: trackerEmpty(facts),
    onShutdownSignal: shutdownSignal(facts),
  };
  const result = (name: ExitTrigger): TriggerResult => ({ enabled: triggers[name], ...found[name] });
  const enabled = exitTriggers.filter((name) => triggers[name]);
  return {
    complete: enabled.length > 0 && enabled.every((name) => found[name].met),
    triggers: {
      allAgentsDone: result("allAgentsDone"),
      taskTrackerEmpty: result("taskTrackerEmpty"),
      onShutdownSignal: result("onShutdownSignal"),
    },
    failures,
  };
}

type RunAgent = ExitFacts["agents"][number];

/** Persistent agents end with the run, not before it. */
const isWorker = ({ capability }: RunAgent): boolean => !isIn("persistent", capability);

/** A released agent is done for good, and a dead one does not come back; a submitted one may still be called back. */
const isDone = ({ state, releasedAt }: RunAgent): boolean => state === "zombie" || releasedAt !== null;

const failuresAmong = (agents: readonly RunAgent[]): readonly FailedAgent[] =>
  agents
    .filter(isWorker)
    .flatMap(({ name, capability, outcome }) =>
      outcome === null || outcome === "done" ? [] : [{ name, capability, outcome }],
    );

function agentsDone(
  { agents, openBranches }: ExitFacts,
  inTheWay: readonly FailedAgent[],
): Omit<TriggerResult, "enabled"> {
  const workers = agents.filter(isWorker);
  if (workers.length === 0) return { met: false, detail: "no agent has worked for this run yet" };
  const open = workers.filter((agent) => !isDone(agent));
  const problems = [
    ...(open.length === 0 ? [] : [`not released: ${open.map(openWord).join(", ")}`]),
    ...(openBranches.length === 0 ? [] : [`in the merge queue: ${openBranches.join(", ")}`]),
    ...(inTheWay.length === 0 ? [] : [`failed: ${inTheWay.map(({ name }) => name).join(", ")}`]),
  ];
  if (problems.length > 0) return { met: false, detail: problems.join("; ") };
  return { met: true, detail: `${counted(workers.length, "agent")} done, nothing in the merge queue` };
}

const openWord = (agent: RunAgent): string => `${agent.name} (${statusOf(agent).words})`;

function trackerEmpty({ readyTasks, otherTasks, tracker }: ExitFacts): Omit<TriggerResult, "enabled"> {
  const problems = [
    ...(readyTasks.length === 0 ? [] : [`ready to be started: ${named(readyTasks)}`]),
    ...trackerInTheWay(tracker),
  ];
  if (problems.length > 0) return { met: false, detail: problems.join("; ") };
  const where = tracker.kind === "ready" ? `, neither here nor in ${tracker.tracker}` : "";
  const rest = otherTasks === 0 ? "" : `; ${counted(otherTasks, "task")} taken or blocked`;
  return { met: true, detail: `no task is ready${where}${rest}` };
}

/** A tracker that gave no answer may be full of work: that never counts as the end. */
function trackerInTheWay(tracker: TrackerReading): readonly string[] {
  switch (tracker.kind) {
    case "native":
      return [];
    case "ready":
      return tracker.ids.length === 0 ? [] : [`ready to be started in ${tracker.tracker}: ${named(tracker.ids)}`];
    case "not-asked":
      return [`${tracker.tracker} was not asked, because this trigger is switched off`];
    case "refused":
      return [trackerProblem(tracker.refusal)];
  }
}

/** More ids than a person reads. */
const mostNamed = 20;

const named = (ids: readonly string[]): string =>
  ids.length <= mostNamed ? ids.join(", ") : `${ids.slice(0, mostNamed).join(", ")} and ${ids.length - mostNamed} more`;

function shutdownSignal({ shutdown }: ExitFacts): Omit<TriggerResult, "enabled"> {
  if (shutdown === null) return { met: false, detail: "nobody has asked for a shutdown" };
  return { met: true, detail: `${shutdown.from} has asked for a shutdown` };
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Does this message ask its recipient to come to an end? By its type, or in its subject as older scripts do. */
export const asksForShutdown = (mail: { readonly type: MailType; readonly subject: string }): boolean =>
  mail.type === "shutdown" || /\bshut[ -]?down\b/i.test(mail.subject);
