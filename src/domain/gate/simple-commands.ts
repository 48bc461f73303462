/** One command in a line of shell, without quotes. Variables are not expanded. */
export interface SimpleCommand {
  /** Assignments in front of the program, as `NAME=value`. */
  readonly assigned: readonly string[];
  /** The program and its arguments; empty where the command only assigns. */
  readonly words: readonly string[];
  /** The sign behind the command; a single `|` is a pipe. Empty at the end of the line. */
  readonly end: string;
}

/** The words of each command in a line of shell. Assignments count only where there is no program behind them. */
export const simpleCommands = (text: string): readonly (readonly string[])[] =>
  commandsIn(text).map(({ assigned, words }) => (words.length > 0 ? words : assigned));

export const isAssignment = (word: string): boolean => /^\w+\+?=/.test(word);

export function commandsIn(text: string): readonly SimpleCommand[] {
  const commands: SimpleCommand[] = [];
  let words: string[] = [];
  let word: string | undefined;
  const endWord = (): void => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  const endCommand = (end: string): void => {
    endWord();
    const program = words.findIndex((one) => !isAssignment(one));
    const count = program < 0 ? words.length : program;
    const last = commands.at(-1);
    if (words.length > 0) commands.push({ assigned: words.slice(0, count), words: words.slice(count), end });
    // A pipe behind a group takes what its last command prints.
    else if (end === "|" && last !== undefined && last.end !== "||") commands.splice(-1, 1, { ...last, end });
    words = [];
  };
  for (let at = 0; at < text.length; at++) {
    const sign = text.charAt(at);
    if (sign === "'" || sign === '"') {
      const end = text.indexOf(sign, at + 1);
      word = (word ?? "") + text.slice(at + 1, end < 0 ? text.length : end);
      at = end < 0 ? text.length : end;
    } else if (sign === "\\") word = (word ?? "") + text.charAt(++at);
    else if (text.startsWith("${", at)) {
      const end = text.indexOf("}", at);
      word = (word ?? "") + text.slice(at, end < 0 ? text.length : end + 1);
      at = end < 0 ? text.length : end;
    } else if (/[;&|()\n{}<>]/.test(sign)) endCommand(text.startsWith("||", at) ? "||" : sign);
    else if (/\s/.test(sign)) endWord();
    else word = (word ?? "") + sign;
  }
  endCommand("");
  return commands;
}

/** The placeholder of a substituted command in a text. */
export const substituted = /\uE000(\d+)\uE001/g;

/** The commands in `$(...)` and in backticks, and the text with a numbered placeholder for each. */
export function substitutionsIn(command: string): { readonly text: string; readonly inner: Map<string, string> } {
  const inner = new Map<string, string>();
  let text = "";
  for (let at = 0; at < command.length; at++) {
    const isTick = command[at] === "`";
    if (!isTick && !command.startsWith("$(", at)) {
      text += command[at];
      continue;
    }
    const start = at + (isTick ? 1 : 2);
    const end = isTick ? command.indexOf("`", start) : closingOf(command, start);
    const stop = end < 0 ? command.length : end;
    const name = String(inner.size);
    inner.set(name, command.slice(start, stop));
    text += `\uE000${name}\uE001`;
    at = stop;
  }
  return { text, inner };
}

function closingOf(text: string, start: number): number {
  let depth = 1;
  for (let at = start; at < text.length; at++) {
    if (text[at] === "(") depth++;
    else if (text[at] === ")" && --depth === 0) return at;
  }
  return -1;
}
