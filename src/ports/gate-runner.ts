import type { Gate, GateStatus } from "../domain/gate/gate.ts";
import type { Mark, ProcessIdentity } from "../domain/process/process.ts";

/** One run of a command, by which everything that it starts is known. */
export interface CommandRun {
  readonly id: string;
  readonly mark: Mark;
}

export interface GateRequest {
  readonly run: CommandRun;
  readonly gate: Gate;
  /** A checkout of exactly the tree to check. */
  readonly cwd: string;
  /** Where the output goes: without secrets, and of much of it only the beginning and the end. */
  readonly logPath: string;
  /** What the command is told about the change, beside the allow-listed variables. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Files with variables that were captured from a shell, most wanted first. The first that is still there counts before
   * our own variables; the command gets of either what gates may have.
   */
  readonly environments: readonly string[];
  /** The process is held until this is done: it is on record before the command runs. */
  onStart(identity: ProcessIdentity): Promise<void>;
  /** Called with lines as they come. */
  onOutput?(text: string): void;
  readonly signal?: AbortSignal;
}

/** What one run of a gate showed. */
export interface GateRun {
  readonly status: GateStatus;
  readonly exitCode: number | null;
  readonly durationMs: number;
  /** SHA-256 of the log. */
  readonly logDigest: string;
  /** The last lines of the log as they came: a surface that shows them makes control characters visible. */
  readonly tail: string;
}

/** Runs commands of the project. Agents may have written them, so they get none of the operator's rights. */
export interface GateRunner {
  /** Through `sh -c` in its own process group; at the time limit the group and everything it started is ended. */
  run(request: GateRequest): Promise<GateRun>;
}
