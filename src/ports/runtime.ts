import type { Gateway } from "../domain/agent/model.ts";
import type { BrokenRuntime } from "../domain/agent/runtime-spec.ts";
import type { TokenCounts } from "../domain/budget/usage.ts";
import type { GuardMachine } from "../domain/guard/paths.ts";
import type { ToolUse } from "../domain/guard/tool-use.ts";
import type { Result } from "../domain/result.ts";
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
  /** Where the model is, when the program's own provider does not offer it. */
  readonly gateway?: GatewayAccess | null | undefined;
  /** What to go on with while the model is overloaded, for programs that can. */
  readonly fallbackModel?: string | null | undefined;
  /** The provider session to go on with; null starts a new one. */
  readonly resume: string | null;
  /** What the agent is told in this turn. */
  readonly prompt: string;
  /** A file with the agent's instructions. Null when its program finds them by itself, or they stand in the prompt. */
  readonly instructions: string | null;
  /** Where the agent works. */
  readonly cwd: string;
  /** Directories that the agent's own sandbox must let it write to: its worktree and its part of the git directory. */
  readonly writableRoots: readonly string[];
  /** The directory of this turn. Files of a plan with `in: "turn"` are written there. */
  readonly turnDir: string;
  readonly tools: ToolServer | null;
  /** Values of the variables that the tool server needs, for a protocol that hands them over with the server. */
  readonly toolVariables: Readonly<Record<string, string>>;
  /** What the turn may cost. */
  readonly maxCostUsd: number | null;
  readonly guard: GuardCommand | null;
}

/** A gateway with its token. */
export interface GatewayAccess extends Gateway {
  readonly token: string;
}

/** A conversation that a person continues at a terminal. */
export interface TerminalRequest extends Pick<LaunchRequest, "model" | "gateway" | "instructions" | "tools" | "guard"> {
  readonly resume: string;
}

/** A configuration file, or a link, that must be there before the program starts. */
export type PlannedFile = PlannedText | PlannedLink;

interface PlannedText {
  /** `turn`: in the directory of the turn, always written. `home`: in the agent's home, written only where none is. */
  readonly in: "turn" | "home";
  /** Relative to that directory. */
  readonly path: string;
  readonly text: string;
}

/** For a program whose settings and conversations lie in one directory: the settings are those of the turn alone. */
export interface PlannedLink {
  readonly in: "turn";
  readonly path: string;
  /** A place in the agent's home, relative to it. A directory that is missing there is made. */
  readonly to: string;
  readonly isDirectory: boolean;
}

/** The command line, environment, input and files of one turn, as the driver planned them. */
export interface LaunchPlan {
  readonly argv: readonly string[];
  /** Added to the agent's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** What the agent's input starts with. Whether it is closed afterwards is the driver's `input`. */
  readonly input: string;
  readonly files: readonly PlannedFile[];
  /**
   * For a program that must answer before it can be told more: what the driver's reader will say. It is kept with the turn,
   * so that the reader of a later supervisor says the same. Left out by a driver whose input says everything.
   */
  readonly opening?: string;
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

/** Reads the lines of one turn's output. Keeps its state between lines; never throws. */
export type LineReader = (line: string) => Reading;

/** What can be asked of a program that is run by a driver. Plain data: nothing is found out by trying. */
export interface Abilities {
  /** A new process can continue an earlier conversation. */
  readonly resume: boolean;
  /** A person can open the conversation at a terminal. */
  readonly terminal: boolean;
  /** The program ends a turn by itself when it has cost `maxCostUsd`. */
  readonly costLimit: boolean;
  /** When the program tells the tokens of its model: after each answer, or when the turn is over. */
  readonly tokens: "answer" | "turn";
  /** The program can start our tool server. */
  readonly tools: boolean;
}

/** One way to talk to an agent's program. An agent keeps the driver it was spawned with. */
export interface Driver {
  readonly id: string;
  /** `once`: the input is closed behind the prompt. `open`: it stays open until the turn is over, for replies. */
  readonly input: "once" | "open";
  readonly abilities: Abilities;
  /** How instructions reach the model that are not in the worktree: by a file, or at the head of the first prompt. */
  readonly instructions: "file" | "prompt";
  /**
   * Puts a message for the running turn into a line of the open input. The program then says with a line, which is read
   * as the event `heard` of the same id, that its model got the message. Null where the program takes no such message.
   */
  readonly steer: ((message: { readonly id: string; readonly text: string }) => string) | null;
  /** The program does not leave at the end of its input: it is ended as soon as its turn is over. */
  readonly stays?: true;
  launch(request: LaunchRequest): LaunchPlan;
  /**
   * Reads the output of a turn. `before`: the tokens that our records have of the turn's conversation from before it.
   * Some programs tell only the sum of a conversation. `opening`: that of the turn's plan; empty where it had none.
   */
  reader(before: TokenCounts, opening: string): LineReader;
}

/**
 * The files outside the worktree that a program keeps or reads. A confined program finds no other file of its vendor.
 */
export interface Footprint {
  /** Directories below the home in which it keeps conversations. Each confined agent has its own. */
  readonly keeps: readonly string[];
  /** Files below the home with settings and logins. A confined program gets copies. */
  readonly brings: readonly string[];
  /**
   * Variables that move its files. Each usual path below the home is then at the given path below the value of the variable.
   * A confined program is not given these variables of a person's shell.
   */
  readonly moves: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Variables that name a path which the program reads, or writes. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
}

/** One foreign agent CLI: data, and pure functions that know its formats. */
export interface Runtime {
  readonly id: string;
  readonly footprint: Footprint;
  /** The first one is the default. */
  readonly drivers: readonly [Driver, ...Driver[]];
  /** Where its program looks for instructions, relative to the worktree. */
  readonly instructionFile: string;
  /** Other files that steer its program, which no agent may change: globs, relative to the worktree. */
  readonly guardedFiles: readonly string[];
  /** How its program asks the guard before each tool. Null for a program that does not. */
  readonly guardLine: ((guard: GuardCommand) => GuardLine) | null;
  /** The program that must be on PATH; it answers to --version. Null where it is our own. */
  readonly program: string | null;
  /** The arguments that make the program print its version, where they are not `--version`. */
  readonly versionArgs?: readonly string[];
  /**
   * Where git finds the author of commits that its shell tool makes: in its settings, or, for a program that hides a
   * person's settings from commands, in variables.
   */
  readonly gitAuthor: "settings" | "variables";
  /** Variables of a person's shell that this CLI needs: names, or prefixes ending in `*`. */
  readonly environment: readonly string[];
  /** How to see that a person has logged in. Absent where nothing tells. */
  readonly login?: LoginSigns;
  /**
   * Lines of error output that explain why the program left before it began. Starting it again would print them again.
   */
  readonly complaints: readonly { readonly says: string; readonly cause: FailureCause }[];
  /** What its user would do about a failure, where our own words would be vague. */
  readonly advice: RuntimeAdvice;
  /** The same conversation for a person. Called only for drivers with the ability `terminal`. */
  terminal(request: TerminalRequest): LaunchPlan;
}

/** Signs of a login. Nothing that is secret is read for them. */
export interface LoginSigns {
  /** Variables of which one is enough. */
  readonly variables: readonly string[];
  /** Files in the person's home of which one is enough. They are looked for, not opened. */
  readonly files: readonly string[];
  /** Arguments with which the program says it by its exit code; null where it cannot. */
  readonly status: readonly string[] | null;
  /** Without any sign no turn can succeed. Otherwise settings of the program's own may still do. */
  readonly certain: boolean;
}

/** The runtimes of this program, as they are found on this machine and in this shell. */
export interface RuntimeProbes {
  readonly all: readonly RuntimeFacts[];
  /** Runtime files of the project that cannot be used. */
  readonly broken: readonly BrokenRuntime[];
  /** Where its program is, and which version. Null for a program of our own. */
  program(runtime: string): Promise<Result<FoundProgram | null, string>>;
  login(runtime: string): Promise<LoginStanding>;
  /** Why the guard does not work, tried the way an agent of this runtime would ask it; undefined when it works. */
  guardProblem(runtime: string): Promise<string | undefined>;
}

export interface RuntimeFacts {
  readonly id: string;
  /** The file of the project that describes it, relative to the project; null for a runtime of this program. */
  readonly file: string | null;
  readonly program: string | null;
  /** Its program asks the guard before each tool. */
  readonly guarded: boolean;
  readonly drivers: readonly (Abilities & {
    readonly id: string;
    /** Mail reaches a running turn. */
    readonly steer: boolean;
  })[];
  readonly environment: readonly string[];
  readonly advice: RuntimeAdvice;
}

export interface FoundProgram {
  readonly at: string;
  /** Null when the program did not say it in time. */
  readonly version: string | null;
}

export type LoginStanding =
  /** `by`: the variable, the file, or the program itself. */
  | { readonly kind: "seen"; readonly by: string }
  | { readonly kind: "missing"; readonly certain: boolean }
  /** Nothing tells. */
  | { readonly kind: "unknown" };

/**
 * The command line by which an agent's program asks the guard about the use of a tool. Exit code 2 denies, and no
 * output can change that.
 */
export interface GuardLine {
  /** The line for a shell. */
  readonly line: string;
  /** The standard input for the guard when the program wants to run `command` in `cwd`. */
  told(command: string, cwd: string): string;
}

/** Tries the guard before an agent relies on it: once for each version of our program and each runtime. */
export interface GuardTrial {
  /** Undefined when the guard denies a forbidden use and allows a harmless one. */
  problem(tried: TriedGuard): Promise<string | undefined>;
}

export interface TriedGuard {
  readonly asks: GuardLine;
  /** Our own program, as it stands in that line. */
  readonly program: readonly string[];
  readonly runtime: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The ports of the guard of agents' tools. The guard runs before each use of a tool, so it opens nothing else. */
export interface ToolGuard {
  /** The rules in a file; undefined when the file is missing or cannot be read. */
  rulesIn(file: string): string | undefined;
  /** The file with the rules that an agent of this project was given before its turn. */
  rulesFileOf(agentName: string): Promise<string>;
  digest(text: string): string;
  machine(): Promise<GuardMachine>;
  /** Where the caller stands. */
  readonly here: string;
}
