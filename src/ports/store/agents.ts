import type { Agent } from "../../domain/agent/agent.ts";
import type { TransitionChange, TransitionRequest } from "../../domain/agent/transition.ts";

export interface AgentFilter {
  readonly runId?: string;
  readonly parentName?: string;
  readonly taskId?: string;
  /** Only agents that have not ended. */
  readonly live?: boolean;
}

export interface AgentRows {
  /** Adds one incarnation. Fails when another live one has the name. */
  reserve(agent: Agent): Promise<void>;
  get(id: string): Promise<Agent | undefined>;
  /** The live incarnation of a name, else its latest. */
  byName(name: string): Promise<Agent | undefined>;
  list(filter: AgentFilter): Promise<Agent[]>;
  /** Names of all incarnations ever. */
  names(): Promise<string[]>;
  /** Stores a transition decided by `domain/agent/transition`, with its audit row. False when someone else moved it first. */
  move(before: Agent, change: TransitionChange, request: TransitionRequest, now: number): Promise<boolean>;
  seated(
    id: string,
    seat: { worktreePath: string; branch: string; baseRef: string; baseCommit: string },
  ): Promise<void>;
  sawProviderSession(id: string, providerSessionId: string): Promise<void>;
  sawActivity(id: string, now: number): Promise<void>;
  setReminders(id: string, reminders: number): Promise<void>;
  requestStop(id: string, by: string): Promise<void>;
  release(id: string, now: number): Promise<void>;
  /** Live agents that have no worktree yet, oldest first. */
  unseated(): Promise<Agent[]>;
}
