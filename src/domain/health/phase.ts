import { type Agent, hasEnded } from "../agent/agent.ts";
import type { Capability } from "../agent/capability.ts";
import { statusOf } from "../agent/status.ts";
import { runFlag } from "../run/run.ts";
import { namedIn } from "../text/long-list.ts";

/** The capabilities whose ends make a phase of a run. Leads go on over several phases and report by themselves. */
export const phaseCapabilities = ["scout", "builder", "reviewer", "merger"] as const satisfies readonly Capability[];
export type PhaseCapability = (typeof phaseCapabilities)[number];

export type PhaseAgent = Pick<
  Agent,
  "name" | "generation" | "capability" | "state" | "outcome" | "releasedAt" | "taskId"
>;

/** One phase of a run that is over. */
export interface Phase {
  /** The one capability that worked in it, or `mixed`. */
  readonly name: PhaseCapability | "mixed";
  readonly capabilities: readonly PhaseCapability[];
  /** The agents that ended in it. */
  readonly agents: readonly PhaseAgent[];
  readonly completed: number;
  readonly zombies: number;
  /** Every worker of the run, `name#generation`, sorted: what makes this announcement the only one of its kind. */
  readonly set: readonly string[];
}

/**
 * Every worker of a run whose workers have all ended, as in the set of its phase; empty while one works, or where there
 * are none. `newest` holds one incarnation per name.
 */
export function endedWorkers(newest: readonly PhaseAgent[]): readonly string[] {
  const workers = newest.filter(isWorker);
  return workers.every(hasEnded) ? workers.map(tagOf).toSorted() : [];
}

/** The phase that is over when all workers have ended. Workers of an earlier announcement are not told about again. */
export function endedPhase(newest: readonly PhaseAgent[], announced: ReadonlySet<string>): Phase {
  const workers = newest.filter(isWorker);
  const fresh = workers.filter((worker) => !announced.has(tagOf(worker)));
  const agents = (fresh.length === 0 ? workers : fresh).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const capabilities = phaseCapabilities.filter((each) => agents.some(({ capability }) => capability === each));
  const [only] = capabilities;
  return {
    name: only === undefined || capabilities.length > 1 ? "mixed" : only,
    capabilities: capabilities.toSorted(),
    agents,
    completed: agents.filter(({ state }) => state === "completed").length,
    zombies: agents.filter(({ state }) => state === "zombie").length,
    set: workers.map(tagOf).toSorted(),
  };
}

/** The facts about a run that its agents do not tell. */
export interface PhaseFacts {
  readonly runId: string;
  /** Ids of its tasks that are not closed. */
  readonly openTasks: readonly string[];
  /** Branches of agents that finished which are neither landed nor in the queue. */
  readonly unhanded?: readonly string[];
  /** The coordinator reads it. False: the coordinator has ended, and the operator reads it. */
  readonly isLed: boolean;
}

/** The announcement in words: the number of workers, their outcomes, and the possible next steps. */
export function phaseText(
  phase: Phase,
  { runId, openTasks, isLed, unhanded = [] }: PhaseFacts,
): { readonly subject: string; readonly body: string } {
  const { name, agents, capabilities } = phase;
  const who = name === "mixed" ? `${agents.length} workers (${capabilities.join(", ")})` : counted(agents.length, name);
  const failed = agents.filter((agent) => statusOf(agent).tone === "trouble");
  const stopped = agents.filter(({ outcome }) => outcome === "stopped").length;
  const finished = agents.length - failed.length - stopped;
  const ends = [
    ...(finished === 0 && failed.length === 0 ? [] : [`${finished} finished`]),
    ...(stopped === 0 ? [] : [`${stopped} ${stopped === 1 ? "was" : "were"} stopped`]),
    ...(failed.length === 0 ? [] : [`${failed.length} did not`]),
  ];
  const end = finished === agents.length ? "completed" : `ended: ${ends.join(", ")}`;
  const lines = agents.map(({ name: agent, capability, ...facts }) => {
    const words = facts.outcome === "done" ? "done" : statusOf(facts).words;
    return `- ${agent} (${capability}): ${words}`;
  });
  // The task of an agent that failed may have been done by another, or its branch may have been handed over as it was.
  const undone = failed.filter(({ taskId }) => taskId === null || openTasks.includes(taskId));
  const step = !isLed
    ? stepsOfOperator(openTasks, runId)
    : undone.length === 0
      ? nextStep(openTasks, unhanded)
      : [stepsAfterFailure(undone), ...handOverLines(unhanded)].join("\n");
  return { subject: `[ENGINE] all ${who} of run ${runId} ${end}`, body: [step, "", ...lines].join("\n") };
}

const mostTasks = 20;

function nextStep(openTasks: readonly string[], unhanded: readonly string[]): string {
  const idle = "Nobody works for the run now, no branch is landing, and nothing else will wake you.";
  const sling = openTasks.length === 0 ? "sling what is missing" : "sling what is open";
  const decide = `Decide: hand over what is finished (merge_ready), ${sling}, or finish the run.`;
  return [`${idle}${openWords(openTasks)} ${decide}`, ...handOverLines(unhanded)].join("\n");
}

const handOverLines = (branches: readonly string[]): readonly string[] =>
  branches.length === 0 ? [] : [`Finished, and not handed over: ${namedIn(branches)}`];

const stepsOfOperator = (openTasks: readonly string[], runId: string): string =>
  `Nobody works for the run now, no branch is landing, and its coordinator has ended.${openWords(openTasks)} See what is left: ov status; let branches land: ov merge --all; start a coordinator: ov coordinator start; or end the run: ov run complete${runFlag(runId)}.`;

function openWords(openTasks: readonly string[]): string {
  const shown = openTasks.slice(0, mostTasks).join(", ");
  const more = openTasks.length > mostTasks ? ` and ${openTasks.length - mostTasks} more` : "";
  return openTasks.length === 0 ? "" : ` Open tasks: ${shown}${more}.`;
}

/** An agent that failed reports nothing more: the leader of the run decides what becomes of its task. */
function stepsAfterFailure(failed: readonly PhaseAgent[]): string {
  const names = failed.map(({ name }) => name).join(", ");
  const them = failed.length === 1 ? names : "<agent>";
  return [
    `${names} ended without finishing, and no agent works on ${failed.length === 1 ? "its task" : "their tasks"} now. Decide what happens:`,
    `let it go on: ov recover ${them}; or give its task to another agent: ov release ${them} --reason "<why>", then ov sling <task>.`,
    "If you cannot, ask the operator: nothing else will wake you for it.",
  ].join("\n");
}

const isWorker = ({ capability }: PhaseAgent): boolean => phaseCapabilities.some((each) => each === capability);

const tagOf = ({ name, generation }: PhaseAgent): string => `${name}#${generation}`;

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
