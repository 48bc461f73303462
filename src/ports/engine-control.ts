import type { EngineContact, EngineNotice } from "./engine-contact.ts";

/** The engine of a project, as a person sees and steers it. */
export interface EngineControl {
  readonly contact: EngineContact;
  /** The time after which an engine that does not answer has a successor. */
  readonly replacedWithinMs: number;
  /** The file that this engine and earlier ones write what went wrong to, whether it is there or not. */
  readonly log: { readonly path: string; exists(): boolean };
  uptimeMs(engine: EngineNotice): number;
  /** A successor watches a silent engine, and will replace it. */
  successorIsAlive(): boolean;
  /** The process that restarts the engine. */
  keeperIsAlive(): boolean;
  /** False when it was gone already. */
  askToEnd(engine: EngineNotice): boolean;
  isGone(engine: EngineNotice): boolean;
  kill(engine: EngineNotice): void;
  /** A user service that starts the engine with the machine; undefined where there are none of that kind. */
  readonly service: EngineService | undefined;
  /** Is the engine in this process, until it has nothing to do or is told to stop. */
  run(stop: AbortSignal): Promise<void>;
}

export interface EngineService {
  readonly path: string;
  readonly unit: string;
  readonly text: string;
  /** The command that switches it on. */
  readonly enable: string;
  isWritten(): boolean;
  write(): void;
}
