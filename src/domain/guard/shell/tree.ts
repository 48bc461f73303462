/** A word of a shell command, with quotes folded. */
export interface ShellWord {
  readonly text: string;
  /** A variable or a substitution is in it: what it becomes is known only once it runs. */
  readonly dynamic: boolean;
  /** It begins with a tilde that the shell replaces. */
  readonly home: boolean;
  /** A pattern: it may become the names of files. */
  readonly pattern: boolean;
}

export interface ShellAssignment {
  readonly name: string;
  readonly value: ShellWord;
}

/** One program with its arguments. Without words it is only assignments or redirections. */
export interface ShellCommand {
  readonly kind: "command";
  readonly words: readonly ShellWord[];
  readonly assignments: readonly ShellAssignment[];
  /** Files that it opens for writing. */
  readonly writes: readonly ShellWord[];
  /** What is run to make its words. */
  readonly inner: readonly ShellNode[];
}

/** Commands that belong together: a block, a branch, a loop, a part of a pipe. */
export interface ShellGroup {
  readonly kind: "group";
  readonly nodes: readonly ShellNode[];
  /** It runs in a process of its own: changing the directory in it changes nothing outside. */
  readonly apart: boolean;
  /** The name under which it can be called. */
  readonly name?: string;
}

export type ShellNode = ShellCommand | ShellGroup;

/** Reads a text as a shell would, without running it. Undefined when no shell could. Never throws. */
export type ParseShell = (text: string) => readonly ShellNode[] | undefined;

export const literal = (text: string): ShellWord => ({ text, dynamic: false, home: false, pattern: false });

/** A word of which nothing is known. */
export const unknownWord: ShellWord = { text: "", dynamic: true, home: false, pattern: false };
