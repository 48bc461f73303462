/** The runtimes that are part of this program. No file of a project may take one of these names. */
export const runtimeNames = ["claude", "codex", "gemini", "copilot", "pi", "opencode", "scripted"] as const;
export type RuntimeName = (typeof runtimeNames)[number];

/**
 * A runtime that a project describes in `.overstory/runtimes/<id>.yaml`: a program that speaks the Agent Client
 * Protocol. Plain data: an agent keeps the description that it was spawned with, even if the file changes.
 */
export interface RuntimeSpec {
  readonly id: string;
  /** A name on the PATH, or an absolute path. */
  readonly program: string;
  readonly args: readonly string[];
  /** With these the program says its version. */
  readonly versionArgs: readonly string[];
  /** Where the program looks for instructions, relative to the worktree. */
  readonly instructionFile: string;
  /** Files that steer the program, which no agent may change: globs, relative to the worktree. */
  readonly guardedFiles: readonly string[];
  /** Variables of a person's shell that the program needs: names, or prefixes that end in `*`. */
  readonly environment: readonly string[];
  /** Variables that the program is given. */
  readonly variables: Readonly<Record<string, string>>;
  readonly model: RuntimeModel;
  /** The mode of a conversation in which the program asks before it uses tools; null: its own default does. */
  readonly mode: string | null;
  /** Which tokens the answer to a prompt tells: those of the prompt, all since the process began, or none to be counted. */
  readonly usage: "prompt" | "process" | "none";
  /** An earlier conversation can be gone on with. */
  readonly resume: boolean;
  /** The program starts the tool server that it is told of when a conversation begins. */
  readonly tools: boolean;
  /** The program does not leave at the end of its input. */
  readonly stays: boolean;
  readonly login: RuntimeLogin;
  readonly home: RuntimeHome;
}

/** How the program is told its model: by a flag, or by an option of the conversation. */
export interface RuntimeModel {
  readonly flag: string | null;
  readonly option: string | null;
  /** What the program calls models with short names. */
  readonly aliases: Readonly<Record<string, string>>;
}

/** Signs of a login, and what a person does without one. */
export interface RuntimeLogin {
  readonly variables: readonly string[];
  readonly files: readonly string[];
  readonly advice: string | null;
}

/** The files of a program in a person's home, and those of them that it sees when the system confines it. */
export interface RuntimeHome {
  readonly keeps: readonly string[];
  readonly brings: readonly string[];
}

/** A problem in a file of settings. */
export interface FileProblem {
  /** Relative to the project. */
  readonly file: string;
  /** 0 for the file as a whole. */
  readonly line: number;
  readonly column: number;
  readonly key: string;
  readonly message: string;
  /** The key or value most likely meant. */
  readonly nearest?: string;
}

/** A runtime file of the project that cannot be used, with its first problem. */
export interface BrokenRuntime extends FileProblem {
  /** The runtime that it would describe. */
  readonly id: string;
}

/** The runtime files of a project. */
export interface RuntimeFiles {
  readonly specs: readonly RuntimeSpec[];
  readonly broken: readonly BrokenRuntime[];
}

export const noRuntimeFiles: RuntimeFiles = { specs: [], broken: [] };

/** Where a file that describes the runtime of this name would be, relative to the project. */
export const runtimeFileOf = (id: string): string => `${runtimeDir}/${id}.yaml`;

export const runtimeDir = ".overstory/runtimes";

/** The problem of a runtime file and its place in the file. */
export const brokenWords = ({ file, line, column, key, message, nearest }: BrokenRuntime): string => {
  const hint = nearest === undefined ? "" : `; did you mean ${nearest}?`;
  return `${file}${line > 0 ? `:${line}:${column}` : ""}: ${[key, message].filter(Boolean).join(" ")}${hint}`;
};

/** Completes the refusal of every request that names such a runtime. */
export const brokenRefusal = (broken: BrokenRuntime): string =>
  `is described in a file that cannot be used: ${brokenWords(broken)}; mend it, then look again: ov config validate`;
