import type { Refusal } from "../../../domain/refusal.ts";
import type { Result } from "../../../domain/result.ts";

/** Work that an engine would see. */
export interface Workload {
  readonly runningTurns: number;
  readonly queuedTurns: number;
}

export interface EngineReport extends Workload {
  readonly running: boolean;
  /** Whether the engine answered just now; null when it is not running. */
  readonly answers: boolean | null;
  readonly pid: number | null;
  readonly socket: string | null;
  readonly version: string | null;
  readonly uptimeMs: number | null;
  /** The file that this engine and earlier ones write what went wrong to; null when there is none yet. */
  readonly log: string | null;
}

export interface EngineStart {
  readonly pid: number;
  /** False when it was running before. */
  readonly started: boolean;
}

export interface EngineStop extends Workload {
  readonly wasRunning: boolean;
  /** False when it had not left in time. */
  readonly stopped: boolean;
  readonly pid: number | null;
}

export interface EngineInstall {
  readonly path: string;
  readonly unit: string;
  readonly text: string;
  readonly written: boolean;
  /** What to type next. */
  readonly enable: string;
}

export const idleEndings = ["idle", "timeout", "interrupted"] as const;

export interface IdleReport extends Workload {
  readonly ending: (typeof idleEndings)[number];
}

/** The engine of the project, for `ov engine` and `ov run-until-idle`. What changes something is refused to agents. */
export interface EngineControl {
  /** Returns when an engine listens. */
  start(): Promise<Result<EngineStart, Refusal>>;
  status(): Promise<EngineReport>;
  /** Returns when the engine has left. Turns that run go on without it. */
  stop(): Promise<Result<EngineStop, Refusal>>;
  /** Writes a user service that starts the engine with the machine; with `print` only says what it would write. */
  install(options: { readonly print: boolean }): Promise<Result<EngineInstall, Refusal>>;
  /** Is the engine itself, or waits for the one there is, until nothing is left to do. */
  runUntilIdle(options: { readonly timeoutMs: number | undefined }): Promise<Result<IdleReport, Refusal>>;
}
