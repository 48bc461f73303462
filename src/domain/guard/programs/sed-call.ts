import type { ShellWord } from "../shell/tree.ts";

/** The words of one call of `sed`, told apart. */
interface SedCall {
  readonly scripts: readonly ShellWord[];
  readonly files: readonly ShellWord[];
  /** It changes the files instead of printing. */
  readonly inPlace: boolean;
  /** There are options that we do not know, or a script in a file. */
  readonly unclear: boolean;
}

/** Reads the words after `sed`, as GNU and BSD take them: options may stand anywhere before `--`. */
export function readSed(args: readonly ShellWord[]): SedCall {
  const scripts: ShellWord[] = [];
  const words: ShellWord[] = [];
  let inPlace = false;
  let unclear = false;
  let at = 0;
  for (; at < args.length; at++) {
    const word = args[at];
    if (word === undefined || word.text === "--") break;
    if (word.dynamic || !/^-./.test(word.text)) {
      words.push(word);
      continue;
    }
    const option = word.text.startsWith("--") ? longOption(word.text) : cluster(word.text);
    inPlace ||= option.kind === "in-place" || (option.kind === "unknown" && /i/i.test(word.text));
    unclear ||= option.kind === "unknown" || option.kind === "file";
    if (option.value === undefined) continue;
    const value = option.value === "" ? args[++at] : { ...word, text: option.value };
    if (option.kind === "expression" && value !== undefined) scripts.push(value);
  }
  words.push(...args.slice(at + 1));
  const isFirst = scripts.length === 0 && !unclear;
  return { scripts: isFirst ? words.slice(0, 1) : scripts, files: isFirst ? words.slice(1) : words, inPlace, unclear };
}

interface Option {
  readonly kind: "flag" | "expression" | "file" | "length" | "in-place" | "unknown";
  /** Empty when it is the next word. Absent for options without one. */
  readonly value?: string;
}

function cluster(text: string): Option {
  for (const [at, letter] of [...text].entries()) {
    const value = text.slice(at + 1);
    if (letter === "e") return { kind: "expression", value };
    if (letter === "f") return { kind: "file", value };
    if (letter === "l") return { kind: "length", value };
    if ("iI".includes(letter)) return { kind: "in-place" };
    if (!"-nErsuzb".includes(letter)) return { kind: "unknown" };
  }
  return { kind: "flag" };
}

const valued = { expression: "expression", file: "file", "line-length": "length" } as const;
const flags =
  "quiet silent regexp-extended posix separate unbuffered null-data zero-terminated binary debug sandbox follow-symlinks help version".split(
    " ",
  );

/** Any beginning of a name will do that is the beginning of no other. */
function longOption(text: string): Option {
  const [name = "", ...rest] = text.slice(2).split("=");
  if ("in-place".startsWith(name)) return { kind: "in-place" };
  const named = Object.entries(valued).filter(([known]) => known.startsWith(name));
  const [only] = named;
  if (only !== undefined && named.length === 1 && !flags.some((flag) => flag.startsWith(name))) {
    return { kind: only[1], value: rest.join("=") };
  }
  // Such as --fi, or --f, which could be several.
  return named.length === 0 && flags.some((flag) => flag.startsWith(name)) ? { kind: "flag" } : { kind: "unknown" };
}
