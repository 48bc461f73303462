import type { Capability } from "../../domain/agent/capability.ts";
import type { BudgetSubject, Ledger, LedgerChange, LedgerKey, Reservation } from "../../domain/budget/budget.ts";
import type { Spent, TokenCounts, Usage } from "../../domain/budget/usage.ts";
import type { MailTrigger, Turn, TurnTrigger } from "../../domain/turn/turn.ts";
import type { Wait } from "./agents.ts";

/** A turn to be queued. What no mail starts has a reason: `ov mail why` and the prompt tell it. */
export type QueueTurn = QueuedTurn &
  (
    | { readonly trigger: MailTrigger; readonly reason?: null }
    | { readonly trigger: Exclude<TurnTrigger, MailTrigger>; readonly reason: string }
  );

interface QueuedTurn {
  readonly id: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly runId: string;
  readonly attempt: number;
  readonly notBefore: number;
  readonly now: number;
}

/** Where no further turn may start, other than of a persistent agent: that one takes no place. */
export type NoPlace = "anywhere" | { readonly inRuns: readonly string[] };

/** The table of turns: both the queue and the history. */
export interface TurnRows {
  /**
   * Adds a queued turn, or keeps the one the agent already has, made due at the earlier of the two times; a retry keeps
   * its own time, for new mail must not cut a back-off or a rate limit short.
   */
  queue(turn: QueueTurn): Promise<void>;
  /** Makes the queued turn of the agent due at once, also when it is a retry. */
  hasten(agentId: string): Promise<void>;
  get(id: string): Promise<Turn | undefined>;
  queuedFor(agentId: string): Promise<Turn | undefined>;
  runningFor(agentId: string): Promise<Turn | undefined>;
  /**
   * Queued turns that may start now: due, agent seated, live, not stopping and without a running turn. Oldest first.
   * Turns for which there is no place are left out, so that they cannot hide those for which there is one.
   */
  ready(now: number, limit: number, noPlace?: NoPlace): Promise<Turn[]>;
  running(): Promise<Turn[]>;
  /** Running turns that take a place: those of persistent agents do not. */
  countRunning(): Promise<number>;
  /** The same for each run with at least one. */
  runningPerRun(): Promise<ReadonlyMap<string, number>>;
  listFor(agentId: string): Promise<Turn[]>;
  /** The newest turns of these incarnations that have begun, oldest first. */
  newestOf(agentIds: readonly string[], limit: number): Promise<Turn[]>;
  /** The newest turn of this runtime, of any agent, that ended because its provider's limit was reached. */
  newestLimited(runtime: string): Promise<Turn | undefined>;
  /** queued -> running with the given fence. False when it is no longer queued. */
  start(
    id: string,
    start: { fence: number; logDir: string; resumeRequested: string | null; now: number },
  ): Promise<boolean>;
  /**
   * Gives a running turn to a new supervisor. The fence grows by one and is returned; undefined when the turn does not
   * run.
   */
  takeOver(id: string): Promise<number | undefined>;
  /** Stores how far the output was read. False when the fence is no longer this one. */
  progress(id: string, fence: number, offset: number, lines: number): Promise<boolean>;
  sawProviderSession(id: string, providerSessionId: string): Promise<void>;
  /** Records which text of its role the turn was told. */
  told(id: string, prompt: string): Promise<void>;
  /** running -> ended. False when the fence is no longer this one. */
  end(id: string, fence: number, end: TurnEnding): Promise<boolean>;
  cancelQueued(agentId: string, now: number): Promise<number>;
  cancel(id: string, now: number): Promise<void>;
  /** Something waits for the engine: a turn that may start or runs, a seat to fill, a stop to finish, a worktree to clean, a person at an agent. */
  dueWork(now: number): Promise<boolean>;
  /**
   * False: there is nothing at all that an engine could have to do, now or later, in turns, merges, checks or waits. True
   * says no more than that each of them has to be asked.
   */
  mayHaveWork(): Promise<boolean>;
  /** The earliest future moment a queued turn becomes due. */
  nextDue(now: number): Promise<number | undefined>;
}

/** How a turn ended. */
export type TurnEnding = Pick<
  Turn,
  "status" | "clean" | "resultText" | "exitCode" | "exitSignal" | "terminalMessageSeq" | "error" | "failure" | "advice"
> &
  Partial<Pick<Turn, "costMicros" | "costSource" | "priceVersion">> & { readonly endedAt: number };

/** The ledgers of budgets, and what running turns have set aside in them. */
export interface BudgetRows {
  list(): Promise<Ledger[]>;
  /**
   * The ledgers that live agents, their tasks, active runs and this day are booked on: those with a limit of their own, and
   * those of these scopes and units.
   */
  inUse(day: string, limited: readonly Pick<LedgerKey, "scope" | "unit">[]): Promise<Ledger[]>;
  /** The ledgers of these subjects; those never touched are absent. */
  of(subjects: readonly BudgetSubject[]): Promise<Ledger[]>;
  /** Adds to the ledgers, and makes those that are missing. Name each ledger at most once per call. */
  book(changes: readonly LedgerChange[], now: number): Promise<void>;
  /** Gives the subject a limit of its own; the next crossing warns again. */
  give(key: LedgerKey, amount: number, now: number): Promise<void>;
  /** Adds to the limit; the next crossing warns again. */
  raise(key: LedgerKey, amount: number, now: number): Promise<void>;
  /** Notes that the warning was given. False when it already was. */
  warn(key: LedgerKey, now: number): Promise<boolean>;
  /** Notes what a turn has set aside. */
  hold(turnId: string, reservations: readonly Omit<Reservation, "turnId">[]): Promise<void>;
  isHeld(turnId: string): Promise<boolean>;
  /** What the turn has set aside. */
  heldBy(turnId: string): Promise<Reservation[]>;
  /** Removes and returns what the turn had set aside: empty for all but the first who asks. */
  take(turnId: string): Promise<Reservation[]>;
  /** What all agents that ever had the capability have spent. */
  spentBy(capability: Capability): Promise<Spent>;
  /** The agents that wait for a budget, longest first. */
  waiting(): Promise<Wait[]>;
  /** Turns that set something aside and will never be settled: cancelled, or gone. */
  abandoned(): Promise<string[]>;
}

/** The tokens that runtimes reported, by turn and message. */
export interface UsageRows {
  /** Adds a message's tokens; of one reported again the larger numbers stay. */
  record(usage: Usage): Promise<void>;
  ofTurn(turnId: string): Promise<Usage[]>;
  /** The ids of these answers that turns of the agent have told, in all its generations. */
  knownAnswers(agentName: string, messageIds: readonly string[]): Promise<string[]>;
  /** What other turns of the agent used in one conversation, in all its generations. */
  inConversation(of: { agentName: string; providerSessionId: string; except: string }): Promise<TokenCounts>;
}
