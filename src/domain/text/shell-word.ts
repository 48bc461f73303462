import { exactLine } from "./visible.ts";

/** A text as one word of a command that somebody may copy into a shell: nothing in it is run or expanded there. */
export const shellWord = (text: string): string =>
  plainWord.test(text) ? text : `'${exactLine(text).replaceAll("'", `'\\''`)}'`;

/** Needs no quotes, in a shell and in a sentence. */
export const plainWord = /^[A-Za-z0-9@_][A-Za-z0-9@_.-]*$/;
