import type { Turn } from "../../domain/turn/turn.ts";
import type { Wait } from "./agents.ts";

/** The turns of one incarnation, counted. */
export interface TurnTally {
  readonly agentId: string;
  readonly turns: number;
  /** At least one of them has failed. */
  readonly hasFailed: boolean;
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
}
