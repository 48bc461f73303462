import { type Agent, type AgentOutcome, type AgentState, agentStates, freshAgent } from "../agent/agent.ts";
import { capabilities } from "../agent/capability.ts";
import { taskId as checkedId } from "../name/name.ts";
import { type Run, runStatuses } from "../run/run.ts";
import { countIn, nameOf, oneOf, taskIn, textIn, textOf, textsIn, timeIn, timeOf, unreadable } from "./columns.ts";
import type { EarlierValues } from "./earlier-project.ts";

/** A run of the earlier project. A run that was active counts as ended: no process of the earlier project runs any more. */
export function runOf(values: EarlierValues): { readonly run: Run; readonly wasActive: boolean } {
  const id = runIdOf(textOf(values, "id"));
  const status = oneOf(runStatuses, textOf(values, "status")) ?? unreadable("has an unknown status");
  const startedAt = timeOf(values, "started_at");
  const wasActive = status === "active";
  const completedAt = timeIn(values, "completed_at") ?? Math.max(startedAt, timeIn(values, "!last") ?? startedAt);
  const coordinatorName = textIn(values, "coordinator_name");
  return {
    wasActive,
    run: { ...endedRun(id, startedAt), status: wasActive ? "completed" : status, completedAt, coordinatorName },
  };
}

/** A run of which nothing is known but its id. */
export const endedRun = (id: string, startedAt: number): Run => ({
  id,
  objective: null,
  targetBranch: null,
  landingBranch: null,
  coordinatorName: null,
  status: "completed",
  checklist: false,
  startCommit: null,
  startedAt,
  completedAt: startedAt,
});

export const runIdIn = (values: EarlierValues): string | null => {
  const id = textIn(values, "run_id");
  return id === null ? null : runIdOf(id);
};

const runIdOf = (id: string): string =>
  checkedId(id).ok ? id : unreadable(`names a run that cannot be: ${JSON.stringify(id)}`);

export interface AgentTerms {
  readonly id: string;
  readonly runId: string;
  readonly runtime: string;
  readonly now: number;
}

/**
 * An agent of the earlier project, as an ended incarnation. If its worktree exists, the agent is not released: a release
 * would take the worktree away before the operator has looked at it.
 */
export function agentOf(values: EarlierValues, { id, runId, runtime, now }: AgentTerms): Agent {
  const name = nameOf(values, "agent_name");
  const capability = oneOf(capabilities, textOf(values, "capability")) ?? unreadable("has an unknown capability");
  const state = oneOf(agentStates, textOf(values, "state")) ?? unreadable("has an unknown state");
  const startedAt = timeOf(values, "started_at");
  const lastActivityAt = timeIn(values, "last_activity") ?? startedAt;
  const identity = textIn(values, "!identity");
  const isSeated = identity !== null;
  const branch = textIn(values, "branch_name");
  const isOwn = branch?.startsWith("overstory/") === true;
  return freshAgent({
    id,
    name,
    generation: 1,
    capability,
    runtime,
    parentName: textIn(values, "parent_agent") ?? "operator",
    depth: countIn(values, "depth"),
    runId,
    taskId: taskIn(values),
    startedAt,
    lastActivityAt,
    ...ends(state),
    worktreePath: isSeated || !isOwn ? textIn(values, "worktree_path") : null,
    worktreeIdentity: identity,
    worktreeKind: isOwn ? "linked" : "root",
    branch: isOwn ? branch : null,
    baseCommit: textIn(values, "!base"),
    headCommit: textIn(values, "!head"),
    ahead: countIn(values, "!ahead"),
    providerSessionId: textIn(values, "claude_session_id"),
    endedAt: isSeated ? now : lastActivityAt,
    releasedAt: isSeated ? null : now,
    cleanedAt: isSeated ? null : now,
  });
}

const endings: Readonly<Record<AgentState, readonly ["completed" | "zombie", AgentOutcome]>> = {
  completed: ["completed", "assumed_done"],
  zombie: ["zombie", "crashed"],
  stalled: ["zombie", "stalled"],
  booting: ["completed", "stopped"],
  working: ["completed", "stopped"],
  in_turn: ["completed", "stopped"],
  between_turns: ["completed", "stopped"],
};

function ends(before: AgentState): Pick<Agent, "state" | "outcome"> {
  const [state, outcome] = endings[before];
  return { state, outcome };
}

/** Where an agent stood, as its file says. */
export const checkpointOf = (values: EarlierValues) => ({
  agentName: nameOf(values, "agentName"),
  generation: 1,
  taskId: textIn(values, "taskId"),
  turnId: null,
  summary: textIn(values, "progressSummary") ?? "",
  files: textsIn(values, "filesModified"),
  branch: textIn(values, "currentBranch"),
  pending: textIn(values, "pendingWork") ?? "",
  updatedAt: timeOf(values, "timestamp"),
});

/** What a name has done, as its file says. */
export function identityOf(values: EarlierValues) {
  const tasks = values.recentTasks ?? [];
  if (!Array.isArray(tasks)) return unreadable("has no list as recentTasks");
  return {
    agentName: nameOf(values, "name"),
    capability: textOf(values, "capability"),
    createdAt: timeOf(values, "created"),
    completed: countIn(values, "sessionsCompleted"),
    recentTasks: tasks.map((task: EarlierValues) => ({
      taskId: textOf(task, "taskId"),
      summary: textIn(task, "summary") ?? "",
      completedAt: timeOf(task, "completedAt"),
    })),
  };
}
