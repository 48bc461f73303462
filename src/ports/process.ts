import type { Mark, ProcessIdentity } from "../domain/process/process.ts";

export type Liveness = "alive" | "gone" | "unknown";

/** What ending a process and its descendants did. */
export interface KillReport {
  readonly signalled: number;
  /** SIGKILL was needed. */
  readonly escalated: boolean;
  /** Pids still alive at the end. */
  readonly survivors: readonly number[];
  /** Processes that are gone now. */
  readonly ended: readonly { readonly pid: number; readonly escalated: boolean }[];
}

/** By what a process is known that has moved away from its parent, its group and its session. */
export interface KnownBy {
  readonly turnId?: string | undefined;
  readonly gateRun?: string | undefined;
  readonly mark?: Mark | undefined;
}

/** Processes of this machine. Nothing is signalled before its identity was checked. */
export interface Processes {
  /** The identity of a running pid, or undefined when there is none. */
  identify(pid: number): ProcessIdentity | undefined;
  self(): ProcessIdentity;
  /** `unknown` when the system cannot tell; never treated as dead. */
  check(identity: ProcessIdentity): Liveness;
  /**
   * Ends the process group and every descendant (those in other sessions too), and each process that has this turn in
   * its environment or carries this mark: SIGTERM, then SIGKILL after the grace.
   */
  endTree(identity: ProcessIdentity, graceMs: number, known?: KnownBy): Promise<KillReport>;
  /** Ends in the same way each process that has this agent in its environment, from any of its turns. */
  endStartedFor(agentId: string, graceMs: number): Promise<KillReport>;
  /** Starts a program that outlives us: own session, no inherited terminal, output to a file. Returns its pid. */
  startDetached(command: readonly string[], options: DetachedOptions): number;
}

/** How a program is started that outlives us. */
export interface DetachedOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** Called when it ends while we are still there. */
  readonly onExit?: () => void;
}
