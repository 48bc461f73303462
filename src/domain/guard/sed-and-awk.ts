import { literal, type ShellWord, unknownWord, valuesOf } from "./shell/syntax.ts";

/** Does `sed` called so only print? */
export function sedOnlyPrints(args: readonly ShellWord[]): boolean {
  const { inPlace, unclear, scripts } = readSed(args);
  return !inPlace && !unclear && scripts.every(({ text, dynamic }) => !dynamic && isHarmlessSed(text));
}

/**
 * What it writes to: the files that it changes in place, and those that its script names. A script that runs programs, or
 * that cannot be read to its end though it may write, could write anything.
 */
export function sedWrites(args: readonly ShellWord[]): readonly ShellWord[] {
  const { inPlace, files, scripts } = readSed(args);
  const changed = inPlace ? [...files, ...args.flatMap(keptBySed)] : [];
  const named = scripts.flatMap((script) => {
    if (script.dynamic) return isHarmlessSed(shownOf(script)) ? [] : [unknownWord];
    return isHarmlessSed(script.text) ? [] : namedBySed(script.text);
  });
  return [...changed, ...named];
}

/**
 * The script of sed or awk with a number in the place of each variable. A variable may be a line number, a pattern or a
 * replacement, as long as the command around it is written out. A script that is only variables cannot be read.
 */
function shownOf({ text, parts }: ShellWord): string {
  const shown =
    parts === undefined
      ? text.replaceAll(/\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`|\$\{[^{}]*\}|\$[A-Za-z_]\w*/g, "1")
      : parts.map((part) => (typeof part === "string" ? part : "1")).join("");
  return /^[1\s;]*$/.test(shown) ? "w" : shown;
}

/** The place of backups: the text behind the option may be a path. */
const keptBySed = (word: ShellWord): readonly ShellWord[] => {
  const [, suffix = ""] = /^(?:--i[a-z-]*=|-[nErsuz]*i)(.*\/.*)$/.exec(word.text) ?? [];
  return suffix === "" ? [] : [literal(suffix.replaceAll("*", "x"))];
};

/** The files behind `w`; a word of which nothing is known for a script that does more. */
function namedBySed(script: string): readonly ShellWord[] {
  const found: ShellWord[] = [];
  let rest = script;
  while (rest !== "") {
    const text = rest.replace(/^[\s;{}]+/, "");
    const next = afterCommand(text);
    if (next !== undefined) {
      rest = next;
      continue;
    }
    const [place = ""] = address.exec(text) ?? [];
    const file = /^(?:w|W|s(.)(?:\\.|(?!\1)[^\\])*\1(?:\\.|(?!\1)[^\\])*\1[gpiIM\d]*w)[^\S\n]+([^\n]+)/.exec(
      text.slice(place.length),
    );
    if (file === null) return [...found, unknownWord];
    found.push(literal(file[2] ?? ""));
    rest = text.slice(place.length + file[0].length);
  }
  return found;
}

/** Walks over the commands of a script; one that writes a file or runs a program ends the walk. */
function isHarmlessSed(script: string): boolean {
  let rest = script;
  while (rest !== "") {
    const next = afterCommand(rest.replace(/^[\s;{}]+/, ""));
    if (next === undefined) return false;
    rest = next;
  }
  return true;
}

const address =
  /^(?:\d+(?:~\d+)?|\$|\/(?:\\.|[^/\\])*\/[IM]*)(?:\s*,\s*(?:[+~]?\d+|\$|\/(?:\\.|[^/\\])*\/[IM]*))?\s*!?\s*/;

function afterCommand(text: string): string | undefined {
  const [place = ""] = address.exec(text) ?? [];
  if (isSplit(place)) return undefined;
  const body = text.slice(place.length);
  const [command = ""] = body;
  if (body === "") return "";
  if ("sy".includes(command)) return afterReplacement(body);
  if ("aicrR".includes(command)) return body.replace(/^[^\n]*\n?/, "");
  if ("btT:".includes(command)) return body.slice(1).replace(/^[^\S\n]*[^\s;}]*/, "");
  if ("pPdDnNgGhHxlqQ=zF{}".includes(command)) return body.slice(1).replace(/^\s*\d*/, "");
  return undefined;
}

/** Whether a slash between brackets ends a pattern, not all agree. */
const isSplit = (pattern: string): boolean => /\[[^\]]*\//.test(pattern);

function afterReplacement(body: string): string | undefined {
  const delimiter = body[1];
  if (delimiter === undefined || /[\s\\]/.test(delimiter)) return undefined;
  let at = 2;
  let first = "";
  for (let sections = 0; sections < 2; at++) {
    if (at >= body.length) return undefined;
    if (body[at] === "\\") at++;
    else if (body[at] === delimiter && ++sections === 1) first = body.slice(2, at);
  }
  if (/\[[^\]]*$/.test(first.replace(/\\./g, ""))) return undefined;
  const [flags = ""] = /^[gpiIM\d]*/.exec(body.slice(at)) ?? [];
  const rest = body.slice(at + flags.length);
  return rest === "" || /^[\s;}]/.test(rest) ? rest : undefined;
}

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
function readSed(args: readonly ShellWord[]): SedCall {
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

/** Does `awk` called so only print? */
export function awkOnlyPrints(args: readonly ShellWord[]): boolean {
  const program = programOf(args);
  return program !== undefined && !program.dynamic && isHarmlessAwk(program.text);
}

/**
 * What it writes to: files that its program names by a text alone, and those that it changes in place. Commands that it
 * would run, and names that are made while it runs, are a word of which nothing is known. Pipes into programs that only
 * sort or count are let through.
 */
export function awkWrites(args: readonly ShellWord[]): readonly ShellWord[] {
  const inPlace = valuesOf(args, "-i", "--include").some(({ text }) => text === "inplace");
  const told = args.flatMap(
    ({ text }) => /^(?:-[opdD]|--(?:pretty-print|profile|dump-variables)=)(.+)$/.exec(text)?.[1] ?? [],
  );
  const begin = args.findIndex((_, at) => programOf(args.slice(at)) !== undefined);
  const program =
    programOf(inPlace ? args.slice(args[0]?.text.includes("=") ? 1 : 2) : args) ??
    (begin < 0 ? undefined : programOf(args.slice(begin)));
  const changed = inPlace && program !== undefined ? args.slice(args.indexOf(program) + 1) : [];
  const files = [...changed, ...told.map(literal)];
  if (program === undefined || (isHarmlessAwk(program.text) && !isOnlyVariable.test(program.text))) return files;
  return [...files, ...(program.dynamic ? [unknownWord] : namedByAwk(program.text))];
}

/** A program that is the value of a variable, or what a command prints. */
const isOnlyVariable = /^\s*(\$\{?[A-Za-z_]\w*\}?|\$\(.*\)|`.*`)\s*$/s;

function namedByAwk(program: string): readonly ShellWord[] {
  // Commands that only pass on what they get take nothing away from what is judged.
  const rest = program.replaceAll(/\|\s*"(sort|uniq|wc|cat|head|tail|column|tr|cut|nl)( +-?[\w,.-]+)*( *1>&2)?"/g, " ");
  if (isHarmlessAwk(rest)) return [];
  const named = [...rest.matchAll(/>>?\s*"((?:\\.|[^"\\])*)"(?=\s*(?:[;}\n]|$))/g)].map(([, path = ""]) => path);
  const without = rest.replaceAll(/>>?\s*"(?:\\.|[^"\\])*"(?=\s*(?:[;}\n]|$))/g, " ");
  return [...named.map(literal), ...(isHarmlessAwk(without) ? [] : [unknownWord])];
}

/** The first word that is neither an option nor its value; undefined with options that bring code or write files. */
function programOf(args: readonly ShellWord[]): ShellWord | undefined {
  for (let at = 0; at < args.length; at++) {
    const word = args[at];
    const text = word?.text ?? "";
    if (/^(-F|-v|--field-separator|--assign)$/.test(text)) at++;
    else if (text === "--") return args[at + 1];
    else if (!/^-./.test(text)) return word;
    else if (!harmlessOption.test(text)) return undefined;
  }
  return undefined;
}

const harmlessOption =
  /^(-[Fv].|--(field-separator|assign)=|--(posix|traditional|re-interval|csv|sandbox|version|help)$)/;

/**
 * Goes through a program without running it: strings and patterns are passed over, then pipes are pipes, and a sign for
 * "greater" behind `print` opens a file unless it stands in parentheses.
 */
function isHarmlessAwk(program: string): boolean {
  // Looked for everywhere, because what is a pattern and what a division is a guess in strange programs.
  if (/system\s*\(|@\s*\w/.test(program)) return false;
  let before = "\n";
  let depth = 0;
  let printing: number | undefined;
  for (let at = 0; at < program.length; ) {
    const token = tokenAt(program, at, before);
    at += token.length;
    if (isPassedOver(token, before)) continue;
    if (token === "|" || splitPattern.test(token)) return false;
    if (token.startsWith(">") && depth === printing && !toTerminal.test(program.slice(at))) return false;
    if (token === "(") depth++;
    if (token === ")") depth--;
    if (/^printf?$/.test(token)) printing = depth;
    if (/^[;{}\n]$/.test(token)) printing = undefined;
    before = token;
  }
  return true;
}

/** One word, sign, string or pattern. `before`: the last one that counted. */
function tokenAt(program: string, at: number, before: string): string {
  const rest = program.slice(at);
  const known = (beginsPattern(before) ? pattern.exec(rest) : null) ?? tokens.exec(rest);
  return known?.[0] ?? rest.charAt(0);
}

const pattern = /^\/(?:\\[\s\S]|\[(?:\\[\s\S]|[^\]\n\\])*\]|[^/\\\n[])*\//;
const tokens = /^(?:"(?:\\[\s\S]|[^"\\])*"|[A-Za-z_]\w*|\d[\w.]*|\|\||&&|>[=>]|\+\+|--|#[^\n]*|\\\n|[^\S\n]+)/;

/** Where such a pattern ends, not all who read awk agree. */
const splitPattern = /^\/.*\[[^\]]*\/./;

/** A slash divides behind a value, and begins a pattern anywhere else. */
const beginsPattern = (before: string): boolean =>
  /^(print|printf|return|in|case|getline|do|else)$/.test(before) || !/^(?:[\w")\]]|\+\+|--|\/.)/.test(before);

/** White space, comments, and ends of lines at which a statement goes on. */
const isPassedOver = (token: string, before: string): boolean =>
  /^(#|\\\n|[^\S\n])/.test(token) || (token === "\n" && /^(,|&&|\|\||[?:])$/.test(before));

const toTerminal = /^\s*"\/dev\/(stderr|stdout|null)"\s*(?:[;}\n]|$)/;
