import type { ShellWord } from "../shell/tree.ts";

/** Does `awk` called so only print? */
export function awkOnlyPrints(args: readonly ShellWord[]): boolean {
  const program = programOf(args);
  return program !== undefined && !program.dynamic && isHarmless(program.text);
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
function isHarmless(program: string): boolean {
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
