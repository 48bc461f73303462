import { exactLine } from "./visible.ts";

/**
 * A text as one word of a command that a person may copy into a shell: nothing in it is run or expanded there, and
 * characters that cannot be seen are shown as escapes. What looks like an option and is a value stands in quotes.
 */
export const shellWord = (text: string): string =>
  bareWord.test(text) && !text.startsWith("-") ? text : quotedShellWord(exactLine(text));

/** A text as one word of a command that a shell is given by us: the shell passes on exactly this text. */
export const exactShellWord = (text: string): string => (bareWord.test(text) ? text : quotedShellWord(text));

/** The same, in quotes even where none are needed: for words at places of a script where a bare one could be syntax. */
export const quotedShellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Means itself in every shell: names, options, branches and ordinary paths. */
const bareWord = /^[A-Za-z0-9@_./:-]+$/;

/** Needs no quotes, in a shell and in a sentence. */
export const plainWord = /^[A-Za-z0-9@_][A-Za-z0-9@_.-]*$/;
