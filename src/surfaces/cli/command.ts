import type { Refusal } from "../../domain/refusal.ts";
import type { Result } from "../../domain/result.ts";
import type { Paint } from "../shared/paint.ts";
import type { App } from "./app.ts";

export type { Paint };

/** Where the values of a flag or argument come from when a shell asks for completions. */
export type Source =
  | "agents"
  | "liveAgents"
  | "tasks"
  | "runs"
  | "branches"
  | "merges"
  | "messages"
  | "decisions"
  | "groups"
  | "snapshots"
  | "files"
  | "configKeys"
  | "commands";

export interface Flag {
  /** Long name without dashes. */
  readonly name: string;
  readonly short?: string;
  readonly summary: string;
  /** Placeholder of the value, shown in help; a flag without one is a switch. */
  readonly value?: string;
  /**
   * How the value is read. Default `text`. `list`: comma separated, blanks dropped. `texts`: the flag may be repeated,
   * each value is taken whole. `json`: must be valid JSON; the handler gets the text.
   */
  readonly type?: "text" | "integer" | "list" | "texts" | "json";
  readonly choices?: readonly string[];
  readonly min?: number;
  readonly required?: boolean;
  /** Placeholder of a value that may be left out: `--wait` is `true`, `--wait=done` is "done". Never the next word. */
  readonly optionalValue?: string;
  /** A switch that also has the form `--no-<name>`. */
  readonly negatable?: boolean;
  readonly complete?: Source;
  readonly hidden?: boolean;
  /** Said on stderr when used: what to type instead. */
  readonly deprecated?: string;
}

export interface Argument {
  readonly name: string;
  readonly summary: string;
  readonly required?: boolean;
  readonly variadic?: boolean;
  readonly choices?: readonly string[];
  readonly complete?: Source;
}

export interface Example {
  readonly line: string;
  readonly does: string;
}

/** One node of the command tree: a group with `commands`, a leaf with `run`, or both. Pure data; the handler is loaded when called. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly details?: string;
  readonly arguments?: readonly Argument[];
  readonly flags?: readonly Flag[];
  readonly examples?: readonly Example[];
  readonly commands?: readonly Command[];
  /** Heading it stands under in the root help. */
  readonly group?: string;
  /** Other programs call it: not on the first help screen, but documented and with help of its own. */
  readonly forPrograms?: boolean;
  /** Not in help, docs or completions: for our own processes. */
  readonly hidden?: boolean;
  readonly deprecated?: string;
  /**
   * Coding agents call it as a hook, where the exit code for wrong usage forbids a tool or a prompt. A settings file
   * that an older version wrote must not lock an agent out, so it ends as an ordinary failure.
   */
  readonly inHooks?: boolean;
  /**
   * It looks, stops or reports, and by itself starts and lands nothing, so it goes on with the last known configuration
   * while a file of it is broken: a person must be able to stop an agent before they mend a file, and an agent whose turn
   * ends meanwhile must be able to say that it is done.
   */
  readonly worksWithBrokenConfig?: boolean;
  readonly run?: () => Promise<Handler>;
}

export type FlagValue = string | number | boolean | readonly string[];

/** What a handler receives. Flags and arguments are already checked against the tree; absent ones are undefined. */
export interface Call {
  readonly path: readonly string[];
  readonly flags: Readonly<Record<string, FlagValue | undefined>>;
  readonly args: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly app: App;
  readonly io: Io;
}

export interface Io {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly yes: boolean;
  /** Does the answer go to a pipe? Its reader may take only the beginning, as head does, and nothing tells how far it came. */
  isPiped(): boolean;
  /** Colours and marks for stdout; plain when stdout takes none. */
  readonly paint: Paint;
  /** Talk for a person, on stderr; silent with --quiet. */
  say(line: string): void;
  /** A warning on stderr; silent with --quiet. */
  warn(line: string): void;
  /** Puts on record what the command has changed so far: a refusal or failure after it says that this stays. */
  changed(what: string): void;
  /** Reads all of standard input, or undefined when it is a terminal. */
  stdin(): Promise<string | undefined>;
  /** Asks the person at the terminal; undefined when there is none. */
  confirm(question: string): Promise<boolean | undefined>;
}

/** The answer of a handler: the data of the JSON envelope, and a text for a person. Nothing else reaches stdout. */
export interface Outcome {
  /** Spread into the envelope. A boolean `success` of its own is kept, for a command whose answer is a failed effect. */
  readonly json: Readonly<Record<string, unknown>>;
  /** Text of others (mail, titles) must have gone through `visible`. A final newline is added when missing. */
  readonly text: string;
  /** Everything was written already: no document follows, with --json neither. */
  readonly silent?: true;
  /** The text is the bytes of a file: nothing is added. */
  readonly exact?: true;
  /** Lines of the text are broken at the width of a terminal. A pipe or file gets them whole. */
  readonly wraps?: true;
  /**
   * The part of `text` that `--quiet` leaves: the id alone, or nothing, when the text only confirms. Default: all of
   * it.
   */
  readonly quietText?: string;
  /** The same as a list, for --format jsonl, table and tsv. */
  readonly rows?: Rows;
  /** Runs once everything was written to stdout: for facts that are true only then, such as "this mail was handed over". */
  readonly afterPrint?: () => Promise<void>;
  /** Exit code when the command ran but its answer is "no" (a failed check). Default 0. */
  readonly exit?: number;
}

/** A list as data. Cells are raw: the framework makes control bytes visible. */
export interface Rows {
  readonly columns: readonly string[];
  readonly cells: readonly (readonly string[])[];
  /** One per row for --format jsonl. Default: made of columns and cells. */
  readonly objects?: readonly object[];
  /** Columns that a table leaves out where a terminal has no room for all, the first one first. */
  readonly optional?: readonly string[];
}

export type Handler = (call: Call) => Promise<Result<Outcome, Refusal>>;
