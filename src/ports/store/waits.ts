import type { WaitKind } from "../../domain/agent/wait.ts";

/** What an agent is waiting for on purpose; the name owns it, so it survives a reopening. */
export interface Wait {
  readonly agentName: string;
  readonly kind: WaitKind;
  readonly ref: string;
  readonly since: number;
  readonly deadline: number | null;
}

export interface WaitRows {
  /** Adds the wait, or keeps the one that is there. */
  add(wait: Wait): Promise<void>;
  remove(agentName: string, kind: WaitKind, ref: string): Promise<void>;
  /** Removes every wait for this object, whoever waits; returns the names that waited. */
  resolve(kind: WaitKind, ref: string): Promise<string[]>;
  of(agentName: string): Promise<Wait[]>;
  /** Everybody's waits of one kind, oldest first. */
  ofKind(kind: WaitKind): Promise<Wait[]>;
  /** The earliest moment at which a wait of this kind ends by itself. */
  nextDeadline(kind: WaitKind): Promise<number | undefined>;
}
