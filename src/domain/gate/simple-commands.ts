/** The words of each command in a line of shell, without quotes. Variables are not expanded. */
export function simpleCommands(text: string): readonly (readonly string[])[] {
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | undefined;
  const endWord = (): void => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  const endCommand = (): void => {
    endWord();
    if (words.length > 0) commands.push(words);
    words = [];
  };
  for (let at = 0; at < text.length; at++) {
    const sign = text.charAt(at);
    if (sign === "'" || sign === '"') {
      const end = text.indexOf(sign, at + 1);
      word = (word ?? "") + text.slice(at + 1, end < 0 ? text.length : end);
      at = end < 0 ? text.length : end;
    } else if (sign === "\\") word = (word ?? "") + text.charAt(++at);
    else if (/[;&|()\n{}<>]/.test(sign)) endCommand();
    else if (/\s/.test(sign)) endWord();
    else word = (word ?? "") + sign;
  }
  endCommand();
  return commands.map((each) =>
    each.slice(
      Math.max(
        each.findIndex((one) => !/^\w+=/.test(one)),
        0,
      ),
    ),
  );
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
