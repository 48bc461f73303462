import type { Capability } from "./capability.ts";
import type { ModelTerms } from "./model.ts";
import type { RuntimeSpec } from "./runtime-spec.ts";

/**
 * booting        reserved, no sign of life yet
 * working        an attached agent seen active
 * in_turn        a per-turn agent whose running turn produced output
 * between_turns  a per-turn agent waiting for its next input
 * stalled        silent beyond the threshold
 * completed      ended by its own word, by stop, or unexplained; `outcome` says which
 * zombie         ended by failure
 */
export const agentStates = [
  "booting",
  "working",
  "in_turn",
  "between_turns",
  "stalled",
  "completed",
  "zombie",
] as const;
export type AgentState = (typeof agentStates)[number];

/** Why an agent ended. Set together with `completed` or `zombie`, never changed afterwards. */
export const agentOutcomes = [
  "done",
  "no_signal",
  "stopped",
  "crashed",
  "stalled",
  "killed",
  "start_failed",
  "assumed_done",
] as const;
export type AgentOutcome = (typeof agentOutcomes)[number];

/** `per_turn`: one process per turn. `attached`: one process lives across turns (tmux, or a CLI that cannot load a session). */
export const topologies = ["per_turn", "attached"] as const;
export type Topology = (typeof topologies)[number];

/** `linked`: a git worktree. `clone`: a git directory of its own. `root`: the project's own checkout, for agents that only read it. */
export const worktreeKinds = ["linked", "clone", "root"] as const;
export type WorktreeKind = (typeof worktreeKinds)[number];

/** One incarnation of a name. Parent and children are known by name, so they survive a reopening. */
export interface Agent {
  readonly id: string;
  readonly name: string;
  readonly generation: number;
  readonly capability: Capability;
  readonly runtime: string;
  /** How its program is talked to. Chosen when the agent is spawned, and the same in all its turns. */
  readonly driver: string;
  /** The description of its runtime, where a file of the project had it; null for a runtime of this program. */
  readonly runtimeSpec: RuntimeSpec | null;
  /** Version of its program when it was spawned, or in its first turn; null while that is not known. */
  readonly cliVersion: string | null;
  /** Chosen when the agent is spawned, and the same in all its turns; null for the program's own default. */
  readonly model: string | null;
  readonly modelTerms: ModelTerms | null;
  readonly topology: Topology;
  readonly parentName: string;
  readonly depth: number;
  readonly runId: string;
  readonly taskId: string | null;
  readonly specPath: string | null;
  /** Files and globs that it owns; none: it may change everything. */
  readonly scope: readonly string[];
  /** Files and globs that it changes together with others, beside those that it owns. */
  readonly shares: readonly string[];
  readonly worktreePath: string | null;
  /** Device and inode of that directory: what stands there under another identity is not this agent's. */
  readonly worktreeIdentity: string | null;
  readonly branch: string | null;
  readonly baseRef: string | null;
  readonly baseCommit: string | null;
  readonly envFile: string | null;
  readonly state: AgentState;
  readonly stateVersion: number;
  readonly outcome: AgentOutcome | null;
  readonly stopRequestedBy: string | null;
  readonly providerSessionId: string | null;
  readonly reminders: number;
  /** How often the name was reopened after it had submitted. */
  readonly revivals: number;
  readonly worktreeKind: WorktreeKind;
  /** What the worktree held when the last turn ended: tip, commits since the base, uncommitted work. */
  readonly headCommit: string | null;
  readonly ahead: number;
  readonly dirty: boolean;
  /** The agent that took its work over under another name. */
  readonly successorName: string | null;
  readonly escalationLevel: number;
  readonly stalledSince: number | null;
  /** What the slinger asked for beyond the task, as the overlay will say it. */
  readonly instructions: string | null;
  readonly startedAt: number;
  readonly lastActivityAt: number;
  readonly endedAt: number | null;
  readonly releasedAt: number | null;
  /** When its worktree was taken away after the release. */
  readonly cleanedAt: number | null;
}

export const hasEnded = (agent: Pick<Agent, "state">): boolean =>
  agent.state === "completed" || agent.state === "zombie";

/** Ended by its own terminal mail, but worktree, branch and provider session are kept until it is released. */
export const isSubmitted = (agent: Pick<Agent, "state" | "releasedAt">): boolean =>
  agent.state === "completed" && agent.releasedAt === null;

/** The facts that a new incarnation must be given; all others start empty. */
type FreshAgent = Pick<
  Agent,
  "id" | "name" | "generation" | "capability" | "runtime" | "parentName" | "depth" | "runId" | "taskId" | "startedAt"
> &
  Partial<Agent>;

/** A reserved seat: booting, without a worktree, with nothing behind it. */
export function freshAgent(fields: FreshAgent): Agent {
  return { ...nothing, lastActivityAt: fields.startedAt, ...fields };
}

const nothing = {
  driver: "stream-json",
  runtimeSpec: null,
  cliVersion: null,
  model: null,
  modelTerms: null,
  topology: "per_turn",
  specPath: null,
  scope: [],
  shares: [],
  worktreePath: null,
  worktreeIdentity: null,
  branch: null,
  baseRef: null,
  baseCommit: null,
  envFile: null,
  state: "booting",
  stateVersion: 0,
  outcome: null,
  stopRequestedBy: null,
  providerSessionId: null,
  reminders: 0,
  revivals: 0,
  worktreeKind: "linked",
  headCommit: null,
  ahead: 0,
  dirty: false,
  successorName: null,
  escalationLevel: 0,
  stalledSince: null,
  instructions: null,
  endedAt: null,
  releasedAt: null,
  cleanedAt: null,
} as const;

/**
 * Those of these agents that work below this name. What the operator slings into the run of a coordinator, and what works
 * for that, reports to the operator and is no part of the coordinator's team.
 */
export function teamOf(head: string, agents: readonly Agent[]): readonly Agent[] {
  const parents = new Map(agents.map(({ name, parentName }) => [name, parentName]));
  const isBelow = ({ parentName }: Agent): boolean => {
    const visited = new Set<string>();
    for (
      let name: string | undefined = parentName;
      name !== undefined && !visited.has(name);
      name = parents.get(name)
    ) {
      if (name === head) return true;
      visited.add(name);
    }
    return false;
  };
  return agents.filter(isBelow);
}

/** Of several incarnations of a name the latest, in the order given. */
export function newestPerName(agents: readonly Agent[]): Agent[] {
  const newest = new Map<string, Agent>();
  for (const agent of agents) {
    const known = newest.get(agent.name);
    if (known === undefined || known.generation < agent.generation) newest.set(agent.name, agent);
  }
  return [...newest.values()];
}
