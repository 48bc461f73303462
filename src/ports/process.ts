import type { ProcessIdentity } from "../domain/process/process.ts";

export type Liveness = "alive" | "gone" | "unknown";

export interface KillReport {
  readonly signalled: number;
  /** SIGKILL was needed. */
  readonly escalated: boolean;
  /** Pids still alive at the end. */
  readonly survivors: readonly number[];
}

/** Processes of this machine. Nothing is signalled before its identity was checked. */
export interface Processes {
  /** The identity of a running pid, or undefined when there is none. */
  identify(pid: number): ProcessIdentity | undefined;
  self(): ProcessIdentity;
  /** `unknown` when the system cannot tell; never treated as dead. */
  check(identity: ProcessIdentity): Liveness;
  /**
   * Ends the process group and every descendant, also those in other sessions and, with `turnId`, whatever carries that
   * turn in its environment: SIGTERM, then SIGKILL after the grace.
   */
  endTree(
    identity: ProcessIdentity,
    graceMs: number,
    options?: { readonly turnId?: string | undefined },
  ): Promise<KillReport>;
  /** Ends in the same way whatever carries this agent in its environment, from any of its turns. */
  endStartedFor(agentId: string, graceMs: number): Promise<KillReport>;
  /** Starts a program that outlives us: own session, no inherited terminal, output to a file. Returns its pid. */
  startDetached(command: readonly string[], options: DetachedOptions): number;
}

export interface DetachedOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** Called when it ends while we are still there. */
  readonly onExit?: () => void;
}
