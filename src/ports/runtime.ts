import type { GuardMachine } from "../domain/guard/paths.ts";
import type { ToolUse } from "../domain/guard/tool-use.ts";
import type { FailureCause, RuntimeAdvice } from "../domain/turn/failure.ts";
import type { TurnEvent } from "../domain/turn/turn-event.ts";

/**
 * The command that decides whether an agent may use a tool. Everything in it is fixed when the turn starts, so an agent
 * cannot change its own guard without being noticed.
 */
export interface GuardCommand {
  /** Our own program, by its path. */
  readonly program: readonly string[];
  /** The file with the agent's rules. */
  readonly rules: string;
  /** Digest of the rules as they were written. Rules with another digest deny everything. */
  readonly digest: string;
}

/** How to start our tool server (MCP). Each vendor has its own form for this; the adapter writes it. */
export interface ToolServer {
  /** The agent's program makes it a part of the tools' names. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Variables that the server needs from the agent's environment. Some programs do not pass them on by themselves. */
  readonly env: readonly string[];
}

/** Everything a driver may use to start one turn. A driver ignores what its abilities do not cover. */
export interface LaunchRequest {
  /** Version of the program when the agent was spawned; null while that is not known. */
  readonly version: string | null;
  readonly model: string | null;
  /** The provider session to go on with; null starts a new one. */
  readonly resume: string | null;
  /** What the agent is told in this turn. */
  readonly prompt: string;
  /** A file with the agent's instructions. Null when its program finds them in the worktree by itself. */
  readonly instructions: string | null;
  /** Where the agent works. */
  readonly cwd: string;
  /** Directories that the agent's own sandbox must let it write to: its worktree and its part of the git directory. */
  readonly writableRoots: readonly string[];
  /** The directory of this turn. Files of a plan with `in: "turn"` are written there. */
  readonly turnDir: string;
  readonly tools: ToolServer | null;
  /** What the turn may cost. */
  readonly maxCostUsd: number | null;
  readonly guard: GuardCommand | null;
}

/** A conversation that a person continues at a terminal. */
export interface TerminalRequest extends Pick<LaunchRequest, "model" | "instructions" | "tools" | "guard"> {
  readonly resume: string;
}

/** A configuration file that must be there before the program starts. */
export interface PlannedFile {
  /** `turn`: in the directory of the turn, always written. `home`: in the agent's home, written only where none is. */
  readonly in: "turn" | "home";
  /** Relative to that directory. */
  readonly path: string;
  readonly text: string;
}

/** The command line, environment, input and files of one turn, as the driver planned them. */
export interface LaunchPlan {
  readonly argv: readonly string[];
  /** Added to the agent's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** What the agent's input starts with. Whether it is closed afterwards is the driver's `input`. */
  readonly input: string;
  readonly files: readonly PlannedFile[];
}

/** What an agent's program asks of us during its turn, and waits for. */
export type AgentRequest =
  /** May this tool be used so? `id` is that of the tool's use, where the program tells. */
  | { readonly kind: "permission"; readonly tool: string; readonly id: string | null; readonly use: ToolUse }
  | { readonly kind: "read-file"; readonly path: string }
  | { readonly kind: "write-file"; readonly path: string; readonly text: string };

export type AgentAnswer =
  /** `text`: what a file holds; empty for other requests. */
  { readonly kind: "granted"; readonly text: string } | { readonly kind: "refused"; readonly reason: string };

/** What a line of output is answered with. */
export type Reply =
  | { readonly kind: "say"; readonly text: string }
  /** The supervisor decides, and `form` puts the answer into the vendor's words. */
  | { readonly kind: "ask"; readonly request: AgentRequest; form(answer: AgentAnswer): string };

/** What one line of output means: events, and what the agent must be told. Only an input that stays open has replies. */
export interface Reading {
  readonly events: readonly TurnEvent[];
  readonly replies: readonly Reply[];
}

/** Reads the lines of one turn's output. Keeps what it must remember between lines; never throws. */
export type LineReader = (line: string) => Reading;

/** What can be asked of a program that is run by a driver. Plain data: nothing is found out by trying. */
export interface Abilities {
  /** A new process can continue an earlier conversation. */
  readonly resume: boolean;
  /** A person can open the conversation at a terminal. */
  readonly terminal: boolean;
  /** The program ends a turn by itself when it has cost `maxCostUsd`. */
  readonly costLimit: boolean;
  /** The program can start our tool server. */
  readonly tools: boolean;
}

/** One way to talk to an agent's program. An agent keeps the driver it was spawned with. */
export interface Driver {
  readonly id: string;
  /** `once`: the input is closed behind the prompt. `open`: it stays open until the turn is over, for replies. */
  readonly input: "once" | "open";
  readonly abilities: Abilities;
  /**
   * Puts a message for the running turn into a line of the open input. The program then says with a line, which is read
   * as the event `heard` of the same id, that its model got the message. Null where the program takes no such message.
   */
  readonly steer: ((message: { readonly id: string; readonly text: string }) => string) | null;
  launch(request: LaunchRequest): LaunchPlan;
  reader(): LineReader;
}

/** One foreign agent CLI: data, and pure functions that know its formats. */
export interface Runtime {
  readonly id: string;
  /** The first one is the default. */
  readonly drivers: readonly [Driver, ...Driver[]];
  /** Where its program looks for instructions, relative to the worktree. */
  readonly instructionFile: string;
  /** Other files that steer its program, which no agent may change: globs, relative to the worktree. */
  readonly guardedFiles: readonly string[];
  /** The program that must be on PATH; it answers to --version. Null where it is our own. */
  readonly program: string | null;
  /** Variables of a person's shell that this CLI needs: names, or prefixes ending in `*`. */
  readonly environment: readonly string[];
  /** What it says on its error output when it leaves before it began, and would say again however often it is started. */
  readonly complaints: readonly { readonly says: string; readonly cause: FailureCause }[];
  /** What its user would do about a failure, where our own words would be vague. */
  readonly advice: RuntimeAdvice;
  /** The same conversation for a person. Called only for drivers with the ability `terminal`. */
  terminal(request: TerminalRequest): LaunchPlan;
}

/** What the guard of agents' tools needs of the machine. It is asked before each use of a tool, so it opens nothing else. */
export interface ToolGuard {
  /** The rules in a file; undefined when they are missing or cannot be read, for whatever reason. */
  rulesIn(file: string): string | undefined;
  /** The file with the rules that an agent of this project was given before its turn. */
  rulesFileOf(agentName: string): Promise<string>;
  digest(text: string): string;
  machine(): Promise<GuardMachine>;
  /** Where the caller stands. */
  readonly here: string;
}
