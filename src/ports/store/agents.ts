import type { Agent } from "../../domain/agent/agent.ts";
import type { Capability } from "../../domain/agent/capability.ts";
import type { TransitionChange, TransitionRequest } from "../../domain/agent/transition.ts";
import type { WaitKind } from "../../domain/agent/wait.ts";

/** Which agents to list. Every field that is given narrows the list. */
export interface AgentFilter {
  /** All incarnations of this name. */
  readonly name?: string;
  readonly runId?: string;
  readonly parentName?: string;
  readonly taskId?: string;
  readonly branch?: string;
  /** Only agents of one of these branches. */
  readonly branches?: readonly string[];
  readonly capability?: Capability;
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

/** The table of agents: one row for each incarnation. */
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
  /** Also for an agent that was cleaned before its seat was made: the seat that stands now is then to be cleaned. */
  seated(
    id: string,
    seat: Pick<Agent, "worktreePath" | "worktreeIdentity" | "branch" | "baseRef" | "baseCommit">,
  ): Promise<void>;
  /** Its work counts from this commit on. */
  setBase(id: string, baseCommit: string): Promise<void>;
  /** The files that it may change from now on. */
  setArea(id: string, area: Pick<Agent, "scope" | "shares">): Promise<void>;
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
  /** An agent of another name, not cleaned up yet, still starts processes with these variables. */
  usesEnvironment(envFile: string, exceptName: string): Promise<boolean>;
  /**
   * The last step of the watchdog's ladder that was acted on, and since when the agent is stalled; (0, null) while it
   * works.
   */
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

/** What an agent is waiting for on purpose; the name owns it, so it survives a reopening. */
export interface Wait {
  readonly agentName: string;
  readonly kind: WaitKind;
  readonly ref: string;
  readonly since: number;
  readonly deadline: number | null;
}

/** The table of waits: one row for each thing that a name waits for. */
export interface WaitRows {
  /** Adds the wait; an existing one stays as it is. */
  add(wait: Wait): Promise<void>;
  remove(agentName: string, kind: WaitKind, ref: string): Promise<void>;
  /** Removes every wait for this object, of all agents; returns the names that waited. */
  resolve(kind: WaitKind, ref: string): Promise<string[]>;
  of(agentName: string): Promise<Wait[]>;
  /** The waits of one kind, oldest first, without those of agents that have ended: they wait for nothing. */
  ofKind(kind: WaitKind): Promise<Wait[]>;
  /** The earliest moment at which a wait of this kind ends by itself. */
  nextDeadline(kind: WaitKind): Promise<number | undefined>;
}

/** Where an agent stands, written at every settling, so that a successor or a compacted conversation can go on. */
export interface Checkpoint {
  readonly agentName: string;
  readonly generation: number;
  readonly taskId: string | null;
  readonly turnId: string | null;
  readonly summary: string;
  readonly files: readonly string[];
  readonly branch: string | null;
  readonly pending: string;
  readonly updatedAt: number;
}

const handoffReasons = ["reopened", "recovered", "compaction", "manual"] as const;
export type HandoffReason = (typeof handoffReasons)[number];

/** One passing on of work from an incarnation to the next. */
export interface Handoff {
  readonly seq: number;
  readonly agentName: string;
  readonly fromGeneration: number;
  readonly toGeneration: number | null;
  readonly reason: HandoffReason;
  readonly checkpoint: string;
  readonly createdAt: number;
}

/** What a name has done over all its incarnations. */
export interface Identity {
  readonly agentName: string;
  readonly capability: string;
  readonly createdAt: number;
  readonly completed: number;
  readonly recentTasks: readonly { readonly taskId: string; readonly summary: string; readonly completedAt: number }[];
}

/** Checkpoints, handoffs and identities: what the next incarnation of a name is told. */
export interface RecoveryRows {
  putCheckpoint(checkpoint: Checkpoint): Promise<void>;
  checkpoint(agentName: string): Promise<Checkpoint | undefined>;
  addHandoff(handoff: Omit<Handoff, "seq">): Promise<void>;
  handoffs(agentName: string): Promise<Handoff[]>;
  identity(agentName: string): Promise<Identity | undefined>;
  putIdentity(identity: Identity): Promise<void>;
}
