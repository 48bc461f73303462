import type { Agent } from "../../domain/agent/agent.ts";
import type { TransitionChange, TransitionRequest } from "../../domain/agent/transition.ts";

export interface AgentFilter {
  readonly runId?: string;
  readonly parentName?: string;
  readonly taskId?: string;
  readonly branch?: string;
  /** Only agents with this outcome. */
  readonly outcome?: Agent["outcome"] & string;
  /** Only agents that were given these variables. */
  readonly envFile?: string;
  /** Only agents that have not ended. */
  readonly live?: boolean;
  /**
   * Only agents that are not released: live ones, and ended ones whose work or failure is not settled. The latest
   * incarnation of each name decides for the earlier ones.
   */
  readonly unreleased?: boolean;
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
  /** Also for one that was cleaned before its seat was made: what stands there is to be cleaned then. */
  seated(
    id: string,
    seat: Pick<Agent, "worktreePath" | "worktreeIdentity" | "branch" | "baseRef" | "baseCommit">,
  ): Promise<void>;
  /** Its work counts from this commit on. */
  setBase(id: string, baseCommit: string): Promise<void>;
  sawProviderSession(id: string, providerSessionId: string, version: string | null): Promise<void>;
  /** The next turn begins a new conversation. */
  forgetProviderSession(id: string): Promise<void>;
  sawActivity(id: string, now: number): Promise<void>;
  setReminders(id: string, reminders: number): Promise<void>;
  requestStop(id: string, by: string): Promise<void>;
  /** False when it was released before. */
  release(id: string, now: number): Promise<boolean>;
  /** What the worktree held when a turn ended. */
  inspected(id: string, facts: Pick<Agent, "headCommit" | "ahead" | "dirty">): Promise<void>;
  setSuccessor(id: string, successorName: string): Promise<void>;
  /** Live agents that were asked to stop. */
  stopping(): Promise<Agent[]>;
  /** Released agents whose worktree is still there, and in which no person works. */
  toClean(): Promise<Agent[]>;
  cleaned(id: string, now: number): Promise<void>;
  /** Submitted agents that ended before this moment. */
  submittedBefore(time: number): Promise<Agent[]>;
  /** Somebody of another name, not cleaned up yet, still starts processes with these variables. */
  usesEnvironment(envFile: string, exceptName: string): Promise<boolean>;
  /** The step of the watchdog's ladder that was acted on, and since when it is stalled; (0, null) when it is not. */
  setEscalation(id: string, level: number, stalledSince: number | null): Promise<void>;
  /**
   * Live agents, not asked to stop, that could be stuck: with a running turn, attached, found stalled before, or seated
   * without a wait, a live child or a queued turn. Persistent ones may idle and are left out of the first and the last.
   */
  watchable(): Promise<Agent[]>;
  /** Agents with commits of their own on a branch that was neither released nor taken over by another name. */
  ahead(): Promise<Agent[]>;
  /** Live agents that have no worktree yet, oldest first. */
  unseated(): Promise<Agent[]>;
}
