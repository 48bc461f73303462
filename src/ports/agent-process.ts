import type { Lease, Mark, ProcessIdentity } from "../domain/process/process.ts";
import type { Refusal } from "../domain/refusal.ts";
import type { Result } from "../domain/result.ts";
import type { AgentAnswer, Driver, LaunchPlan } from "./runtime.ts";

/** How one turn of an agent is started. */
export interface AgentLaunch {
  readonly argv: readonly string[];
  /** What the process and everything below it are known by, wherever they go. */
  readonly mark: Mark;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** The whole standard output goes here, straight from the agent: no pipe of ours can break or lose it. */
  readonly outputFile: string;
  readonly errorFile: string;
  /** The directory of the turn, where `create` made an input that stays open; null for an input that is given once. */
  readonly openInput: string | null;
}

/**
 * The input of an agent that may ask during its turn. It lies in files, so a supervisor that takes over a turn writes
 * to the same input as the supervisor before it.
 */
export interface OpenInput {
  /** Stores a reply under its id. The first reply under an id stays, so a question is never answered in two ways. */
  keep(id: string, text: string): void;
  /** Gives the agent the reply that was kept. Safe to repeat: it gets each one once. */
  write(id: string): void;
  /** Closes the input after everything written so far. */
  closeInput(): void;
}

/** How a process ended: by a code of its own, or by a signal. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A process that exists but has not run the agent yet. Should we die before `release`, it exits by itself. */
export interface GatedProcess {
  readonly identity: ProcessIdentity;
  /** Lets the agent run and gives it its input; an input that stays open has this text already. */
  release(input: string): Promise<void>;
  /** Closes the gate: the process ends without having run the agent. */
  abandon(): void;
  readonly exited: Promise<ProcessExit>;
}

/** Starts the programs of agents. Each waits behind its gate until it is released. */
export interface AgentLauncher {
  start(launch: AgentLaunch): GatedProcess;
}

/** A file that another process is appending to. */
export interface GrowingFile {
  size(): number;
  read(offset: number, length: number): Uint8Array;
}

/** What the programs of agents wrote, for reading part by part. */
export interface TurnOutputs {
  /** At most so many bytes that end before an offset, or at the end of the file. Empty where the file was removed. */
  read(
    logDir: string,
    part: { readonly before: number | null; readonly most: number },
  ): { readonly from: number; readonly size: number; readonly bytes: Uint8Array };
}

/** What decides which files a turn gets: the home of the agent, and whether its input stays open. */
export interface TurnFileTerms {
  readonly home: string;
  readonly input: Driver["input"];
}

/** The directory of one turn: what went in, what came out. */
export interface TurnFiles {
  /** What the agent's program wrote, also after it was compressed. */
  outputOf(logDir: string): GrowingFile;
  /** Compresses it. The turn must have settled. Safe to repeat. */
  compress(logDir: string): Promise<void>;
  /** The last bytes of the agent's error output, for the reason of a failure. */
  errorTail(logDir: string): string;
  paths(logDir: string): { readonly output: string; readonly error: string };
  /** Takes secrets out of all that the turn left. Nothing of it may be running any more. Safe to repeat. */
  redact(logDir: string): Promise<void>;
  /** Makes the directory, with the agent's input and the files of its plan. Files for the home are never replaced. */
  create(logDir: string, plan: Pick<LaunchPlan, "input" | "files" | "opening">, terms: TurnFileTerms): void;
  /** The opening of the plan, also for a turn that another supervisor started; empty where it had none. */
  openingOf(logDir: string): string;
  /** The input that `create` made, also for a process that another supervisor started. */
  openInput(logDir: string): OpenInput;
  /** The text of a file for an agent that has no tool of its own for it. Relative paths count from `cwd`. */
  readFor(cwd: string, path: string): AgentAnswer;
  /** Replaces a file for such an agent. The caller has asked the guard. */
  writeFor(cwd: string, path: string, text: string): AgentAnswer;
  /** A readable mirror of the running process; never an authority. */
  mirrorPid(agentName: string, mirror: ProcessIdentity & { turnId: string }): void;
  /** Removes the mirror of this turn; that of another turn stays. */
  endMirror(agentName: string, turnId: string): void;
  readEnvironment(path: string): Readonly<Record<string, string>>;
  /** The agent's own directory for files to throw away. It is made where it is missing, and goes when the agent is released. */
  scratch(agentName: string): string;
  /** Variables by which git joins files by the rules of the merge queue, in this worktree and nowhere else. */
  mergeRules(worktreePath: string): Readonly<Record<string, string>>;
}

interface TerminalLaunch {
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

/** An agent for which nothing starts but what its holder starts. */
export interface AttachHold {
  readonly agentId: string;
  readonly agentName: string;
  readonly generation: number;
  /** It had submitted its work, and goes on as its next generation. */
  readonly reopened: boolean;
  readonly fence: number;
  readonly processId: string;
}

/** How the program that a person worked with ended. */
interface SessionEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

/** Agents opened at this terminal. */
export interface AttachedSessions {
  /** This process, which holds the agent. */
  readonly self: ProcessIdentity;
  /** Opens the agent's program at this terminal, and waits until the person leaves it. */
  open(hold: AttachHold): Promise<Result<SessionEnd, Refusal>>;
  /** Gives an agent back: `left` by its holder, or because its holder is `gone`. */
  handBack(lease: Lease, reason: "left" | "gone"): Promise<void>;
  /** Lets an engine look at what the agent can do now, and closes what this needed. */
  close(): Promise<void>;
}
