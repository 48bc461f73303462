import type { Delivery, Message } from "../../domain/mail/types.ts";
import type { Turn, TurnTrigger } from "../../domain/turn/turn.ts";
import type { Wait } from "./agents.ts";

/** The turns of one incarnation, counted. */
export interface TurnTally {
  readonly agentId: string;
  readonly turns: number;
  /** At least one of them has failed. */
  readonly hasFailed: boolean;
  readonly isRunning: boolean;
  /** Why its queued turn was queued; null where none is. */
  readonly queuedBy: TurnTrigger | null;
}

/** A question that an agent waits on, and a name that has it and may answer. */
export interface AskedName {
  readonly asker: string;
  readonly asked: string;
}

/** The mail in the inbox of one name that it has not taken yet, counted. */
export interface QueuedMail {
  readonly toAgent: string;
  readonly messages: number;
  /** At least one of them wakes. */
  readonly wakes: boolean;
}

/** Facts about the whole fleet, each in one query: with 500 agents a query for each of them takes seconds. */
export interface FleetRows {
  /** All waits, of every name in the order of `waits.of`. */
  waits(): Promise<Wait[]>;
  /** Turns that run or are queued. */
  openTurns(): Promise<Turn[]>;
  /** The turns of agents that are not released. Agents without a turn are left out. */
  turnTallies(): Promise<TurnTally[]>;
  /** Names without such mail are left out. */
  queuedMail(): Promise<QueuedMail[]>;
  /** The incarnations whose work an engine has to check. */
  checkedAgents(): Promise<string[]>;
  /** Of each question that a wait for a reply names, the names that it reached. Others may have a copy of it. */
  askedNames(): Promise<AskedName[]>;
  /** The threads of all questions that a wait for a reply names, each in the order of `messages.thread`. */
  openThreads(): Promise<Message[]>;
  /** The deliveries of their messages, those of each in the order of `deliveries.ofMessage`. */
  deliveriesOfOpenThreads(): Promise<Delivery[]>;
}
