import type { Mark } from "../domain/process/mark.ts";
import type { ProcessIdentity } from "../domain/process/process.ts";
import type { ProcessExit } from "./agent-process.ts";

export interface TerminalLaunch {
  readonly argv: readonly string[];
  /** What the process and everything below it are known by, wherever they go. */
  readonly mark: Mark;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** A program at our own terminal that has not begun yet. Should we die before `release`, it exits by itself. */
export interface TerminalProcess {
  readonly identity: ProcessIdentity;
  /** Lets it begin. From here on the keyboard is its own; asking us to end asks it to end. */
  release(): Promise<void>;
  abandon(): void;
  readonly exited: Promise<ProcessExit>;
}

/** Starts programs with the terminal we have ourselves. */
export interface TerminalLauncher {
  start(launch: TerminalLaunch): TerminalProcess;
}
