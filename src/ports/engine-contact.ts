import type { ProcessIdentity } from "../domain/process/process.ts";

/** What a running engine tells about itself; written when it listens, removed when it leaves. */
export interface EngineNotice extends ProcessIdentity {
  /** The state directory it serves, and what tells that from others. An earlier version did not say. */
  readonly place?: { readonly state: string; readonly device: string; readonly inode: string };
  readonly socket: string;
  readonly version: string;
}

/** How commands and supervisors reach the engine of a project. */
export interface EngineContact {
  /** One data-free byte. False when no engine hears it. */
  wake(): Promise<boolean>;
  /**
   * Makes sure that an engine has heard of the work, or is being started. Never called from inside an agent. Returns an
   * engine that runs but does not answer, as after SIGSTOP: a successor is about to replace it.
   */
  ensure(): Promise<EngineNotice | undefined>;
  /** Does the engine answer? Starts nothing. False also when no engine runs. */
  answers(): Promise<boolean>;
  /** For processes that live beside an engine: has a silent engine replaced. Starts no engine where none runs. */
  watch(): Promise<void>;
  /**
   * The running engine of this project. The engine of another place, such as the original of a copied project, is not
   * returned.
   */
  notice(): EngineNotice | undefined;
  /** Ends an engine that still serves the place this project was moved away from. */
  endLost(): Promise<void>;
}

/**
 * answers  the engine hears and answers
 * busy     it does not answer, but a processor works for it
 * silent   neither: stopped, frozen, stuck, or out of reach
 */
export type EngineLook = "answers" | "busy" | "silent";

export interface SocketHandlers {
  /** Another process committed work. */
  wake(): void;
  /**
   * A request frame came in; the answer goes back as one line. `peer` tells which process is at the other end, as long as it is
   * asked before anything is awaited; undefined where the system does not tell.
   */
  call(frame: string, peer: () => number | undefined): Promise<string>;
  /**
   * The files by which callers find the engine were deleted and have been made again. Wakes may have been lost
   * meanwhile.
   */
  restored(): void;
}

export interface OpenSocket {
  /**
   * Stops listening and removes the notice, so that later callers start another engine. With `comesBack` this process
   * listens again at once, so its keeper stays.
   */
  close(options: { readonly comesBack?: boolean }): void;
}

/** How the engine lets itself be reached. */
export interface EngineSide {
  /** Browsers are served: the engine stays though nothing is left to do. */
  isServing?(): boolean;
  open(handlers: SocketHandlers): OpenSocket;
  /** Looks at another engine of this project; waits for its answer up to `ms`. */
  look(engine: ProcessIdentity, ms: number): Promise<EngineLook>;
  /** Kills another engine of this project, and its keeper, which would start it again. */
  end(engine: ProcessIdentity): void;
  /** The process that restarts us when we die. False when it is gone. */
  keeperIsAlive(): boolean;
  /** Starts a keeper for this running engine. */
  replaceKeeper(): void;
  /** Tells an adopted keeper that we leave on purpose. */
  dismissKeeper(): Promise<void>;
  /** Dismisses any keeper of this engine, so that callers who need an engine do not rely on it. */
  releaseKeeper(): Promise<void>;
}

/** The engine of a project, as a person sees and steers it. */
export interface EngineControl {
  readonly contact: EngineContact;
  /** The time after which an engine that does not answer has a successor. */
  readonly replacedWithinMs: number;
  /** The log file to which this engine and earlier ones write their failures. It need not exist. */
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

/** The user service of one project, as a file of the system. */
export interface EngineService {
  readonly path: string;
  readonly unit: string;
  readonly text: string;
  /** The command that switches it on. */
  readonly enable: string;
  isWritten(): boolean;
  write(): void;
}

/** Requests of orchestrators for engines of other projects. */
export interface EnginesAbroad {
  requests(): readonly { readonly id: string; readonly root: string }[];
  forget(id: string): void;
  /** Makes sure that the project at `root` has an engine. */
  start(root: string): Promise<void>;
}
