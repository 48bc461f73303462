import type { Agent } from "../agent/agent.ts";
import type { MergeEntry } from "../merge/entry.ts";
import { isCodeTask } from "../task/rights.ts";
import type { Task } from "../task/task.ts";

export const openEndKinds = ["task", "agent", "branch"] as const;
export type OpenEndKind = (typeof openEndKinds)[number];

/** One thing that keeps a run from ending, and what its coordinator or the operator does about it. */
export interface OpenEnd {
  readonly kind: OpenEndKind;
  /** The id of the task, the name of the agent or of the branch. */
  readonly name: string;
  readonly what: string;
  /** What to do, with the command to type. */
  readonly fix: string;
}

export interface RunFacts {
  /** Tasks of the run that are not closed. */
  readonly tasks: readonly Pick<Task, "id" | "title" | "status" | "claimedBy" | "mergeState">[];
  /** Agents that end with a task and are neither released nor dead. */
  readonly agents: readonly Pick<Agent, "name" | "capability" | "state">[];
  /** Entries of the merge queue that are not settled. */
  readonly landing: readonly Pick<MergeEntry, "id" | "branch" | "status">[];
}

/** Everything that keeps a run from ending. Empty: it may end. */
export function openEnds({ tasks, agents, landing }: RunFacts): readonly OpenEnd[] {
  return [...tasks.map(ofTask), ...agents.map(ofAgent), ...landing.map(ofBranch)];
}

function ofTask(task: RunFacts["tasks"][number]): OpenEnd {
  const { id, status, title, claimedBy } = task;
  const holder = claimedBy === null ? "" : `, held by ${claimedBy}`;
  return {
    kind: "task",
    name: id,
    what: `task ${id} is ${status.replace("_", " ")}${holder}: ${title}`,
    fix: taskFix(task),
  };
}

function taskFix({ id, status, claimedBy, mergeState }: RunFacts["tasks"][number]): string {
  const close = `ov task close ${id} --reason "<why>"`;
  if (isCodeTask({ mergeState }) && mergeState !== "abandoned") {
    const giveUp = claimedBy === null ? close : `ov release ${claimedBy}, then ${close}`;
    return `let its branch land (ov merge list), or give it up: ${giveUp}`;
  }
  if (claimedBy !== null || status === "in_review") {
    const wait = claimedBy === null ? "what it waits for" : claimedBy;
    return `wait for ${wait}, or give it up: ${close}`;
  }
  return `have it done: ov sling ${id}, or give it up: ${close}`;
}

const ofAgent = ({ name, capability, state }: RunFacts["agents"][number]): OpenEnd => ({
  kind: "agent",
  name,
  what: `${capability} ${name} is not released (${state.replace("_", " ")})`,
  fix:
    state === "completed"
      ? `let it go: ov release ${name}`
      : `wait for it, or: ov stop ${name}, then ov release ${name}`,
});

const ofBranch = ({ id, branch, status }: RunFacts["landing"][number]): OpenEnd => ({
  kind: "branch",
  name: branch,
  what: `branch ${branch} is on its way to land (${status})`,
  fix: `see what it waits for: ov merge show ${id}, or take it out of the queue: ov merge cancel ${id}`,
});
