import { visibleLine } from "../../domain/text/visible.ts";

/** One key that was pressed: a name of this list, or the character that it wrote; or a text that was pasted. */
export type Key = string;

/** Before a text that was pasted. No key has such a name, so a paste is no command wherever nothing is being typed. */
const pasted = "paste:";
const [pasteBegins, pasteEnds] = ["\x1b[200~", "\x1b[201~"];

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

/** Reads the keys of one terminal. A text between the marks of a paste is one key, in however many parts it comes. */
export function keyReader(): (input: string) => readonly Key[] {
  let kept = "";
  return (input) => {
    const keys: Key[] = [];
    let rest = kept + input;
    kept = "";
    for (;;) {
      const begins = rest.indexOf(pasteBegins);
      if (begins === -1) {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the mark begins with one
        const partOfMark = /\x1b\[2(?:0(?:0)?)?$/.exec(rest)?.[0] ?? "";
        kept = partOfMark;
        keys.push(...keysOf(rest.slice(0, rest.length - partOfMark.length)));
        return keys;
      }
      const ends = rest.indexOf(pasteEnds, begins);
      keys.push(...keysOf(rest.slice(0, begins)));
      if (ends === -1) {
        kept = rest.slice(begins).slice(0, longestPaste);
        return keys;
      }
      keys.push(`${pasted}${rest.slice(begins + pasteBegins.length, ends)}`);
      rest = rest.slice(ends + pasteEnds.length);
    }
  };
}

/** A terminal that never ends a paste must not fill the memory. */
const longestPaste = 1024 * 1024;

/** A line that is being typed, after one more key. */
export function edited(text: string, key: Key): string {
  if (key === "backspace") return [...text].slice(0, -1).join("");
  if (key === "ctrl-u") return "";
  if (key.startsWith(pasted)) return text + oneLine(key.slice(pasted.length));
  return [...key].length === 1 ? text + key : text;
}

/** A pasted text as part of a line. */
const oneLine = (text: string): string => visibleLine(text.trim().replace(/\s+/g, " "));
