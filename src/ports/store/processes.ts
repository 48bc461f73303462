import type { Lease, ProcessIdentity, ProcessRecord, ProcessRole } from "../../domain/process/process.ts";

/** The table of processes that we started. */
export interface ProcessRows {
  insert(record: ProcessRecord): Promise<void>;
  get(id: string): Promise<ProcessRecord | undefined>;
  /** Recorded as running for this turn, newest first. */
  liveForTurn(turnId: string): Promise<ProcessRecord[]>;
  liveForAgent(agentId: string): Promise<ProcessRecord[]>;
  /** Recorded as running in this role, whichever process started it. */
  liveInRole(role: ProcessRole): Promise<ProcessRecord[]>;
  /** The record with this identity that has not ended. */
  find(identity: ProcessIdentity): Promise<ProcessRecord | undefined>;
  /** Records that have not ended, of any of these pids. The caller must still compare identities. */
  withPids(pids: readonly number[]): Promise<ProcessRecord[]>;
  end(id: string, reason: string, now: number): Promise<void>;
  endForTurn(turnId: string, reason: string, now: number): Promise<void>;
}

/** Leases are compared by (fence, beat) only; no timestamp says that a holder is dead. */
export interface LeaseRows {
  get(name: string): Promise<Lease | undefined>;
  /** Those that are held and whose names start so. */
  heldBelow(prefix: string): Promise<Lease[]>;
  /** Takes the lease from any holder, with the next fence, which is returned. */
  take(name: string, processId: string | null): Promise<number>;
  /** Takes the lease with a fence that was handed out before. */
  hold(name: string, fence: number, processId: string): Promise<void>;
  /** False when the lease has another fence now. */
  beat(name: string, fence: number): Promise<boolean>;
  /** Deletes a lease that will never be taken again; nothing when the fence is no longer this one. */
  delete(name: string, fence: number): Promise<void>;
  /** Gives up the lease; nothing when the fence is no longer this one. */
  drop(name: string, fence: number): Promise<void>;
}

/** A token proves that a process speaks for one incarnation. Only its digest is stored. */
export interface Token {
  readonly digest: string;
  readonly agentId: string;
  readonly turnId: string | null;
  readonly createdAt: number;
  readonly revokedAt: number | null;
}

/** The tokens of agents, by their digest. */
export interface TokenRows {
  insert(token: Token): Promise<void>;
  get(digest: string): Promise<Token | undefined>;
  revokeForTurn(turnId: string, now: number): Promise<void>;
  /** Revokes what an agent was given outside of its turns. */
  revokeWithoutTurn(agentId: string, now: number): Promise<void>;
}

/** Replies of remote calls, kept so that a repeated frame gets the answer of the first. */
export interface RequestRows {
  reply(id: string): Promise<string | undefined>;
  store(id: string, name: string, reply: string, now: number): Promise<void>;
}
