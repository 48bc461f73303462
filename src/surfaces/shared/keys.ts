/** One key that was pressed: a name of this list, or the character that it wrote. */
export type Key = string;

const sequences: Readonly<Record<string, Key>> = {
  "[A": "up",
  "[B": "down",
  "[C": "right",
  "[D": "left",
  "[H": "home",
  "[F": "end",
  "[1~": "home",
  "[4~": "end",
  "[5~": "pageup",
  "[6~": "pagedown",
  "[3~": "delete",
  "[Z": "back-tab",
};

const controls: Readonly<Record<string, Key>> = {
  "\r": "enter",
  "\n": "enter",
  "\t": "tab",
  "\x7f": "backspace",
  "\b": "backspace",
  "\x03": "ctrl-c",
  "\x04": "ctrl-d",
  "\x0c": "ctrl-l",
  "\x15": "ctrl-u",
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: keys that write no character begin with one
const sequence = /^\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O[A-Z])/;

/**
 * The keys in what a terminal in raw mode sent. A sequence that is not in the list is left out: it must not be taken for
 * the letters in it.
 */
export function keysOf(input: string): readonly Key[] {
  const keys: Key[] = [];
  for (let rest = input; rest !== ""; ) {
    const found = sequence.exec(rest)?.[0];
    if (found !== undefined) {
      const key = sequences[found.slice(1).replace(/^O/, "[")];
      if (key !== undefined) keys.push(key);
      rest = rest.slice(found.length);
      continue;
    }
    const [character = ""] = rest;
    const key = character === "\x1b" ? "escape" : (controls[character] ?? (character < " " ? undefined : character));
    if (key !== undefined) keys.push(key);
    rest = rest.slice(character.length);
  }
  return keys;
}

/** A line that is being typed, after one more key. */
export function edited(text: string, key: Key): string {
  if (key === "backspace") return [...text].slice(0, -1).join("");
  if (key === "ctrl-u") return "";
  return [...key].length === 1 ? text + key : text;
}
