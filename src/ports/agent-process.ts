import type { Mark } from "../domain/process/mark.ts";
import type { ProcessIdentity } from "../domain/process/process.ts";
import type { LaunchPlan } from "./runtime.ts";

export interface AgentLaunch {
  readonly argv: readonly string[];
  /** What the process and everything below it are known by, wherever they go. */
  readonly mark: Mark;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** The whole standard output goes here, straight from the agent: no pipe of ours can break or lose it. */
  readonly outputFile: string;
  readonly errorFile: string;
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A process that exists but has not run the agent yet. Should we die before `release`, it exits by itself. */
export interface GatedProcess {
  readonly identity: ProcessIdentity;
  /** Lets the agent run and gives it its input. */
  release(input: string): Promise<void>;
  /** Closes the gate: the process ends without having run the agent. */
  abandon(): void;
  readonly exited: Promise<ProcessExit>;
}

export interface AgentLauncher {
  start(launch: AgentLaunch): GatedProcess;
}

/** A file that another process is appending to. */
export interface GrowingFile {
  size(): number;
  read(offset: number, length: number): Uint8Array;
}

/** The directory of one turn: what went in, what came out. */
export interface TurnFiles {
  outputOf(logDir: string): GrowingFile;
  /** The last bytes of the agent's error output, for the reason of a failure. */
  errorTail(logDir: string): string;
  paths(logDir: string): { readonly output: string; readonly error: string };
  /** Makes the directory, with the agent's input and the files of its plan. Files for the home are never replaced. */
  create(logDir: string, plan: Pick<LaunchPlan, "input" | "files">, home: string): void;
  /** A readable mirror of the running process; never an authority. */
  mirrorPid(agentName: string, mirror: (ProcessIdentity & { turnId: string }) | undefined): void;
  readEnvironment(path: string): Readonly<Record<string, string>>;
}
