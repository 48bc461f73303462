import { literal, operands, type ShellWord, valuesOf } from "./shell/syntax.ts";

/** What a program does by the commands that it reads from its input. */
interface InputEffects {
  /** It may run programs, or do what cannot be told here. */
  readonly runs: boolean;
  /** Files that it writes. */
  readonly writes: readonly ShellWord[];
}

const nothing: InputEffects = { runs: false, writes: [] };
const anything: InputEffects = { runs: true, writes: [] };

/** What a program does by a text that stands in the line, as a here-document or behind a pipe. */
export function inputEffects(name: string, args: readonly ShellWord[], input: ShellWord | undefined): InputEffects {
  if (input === undefined) return nothing;
  if (/^(jshell|ocaml|utop|ghci|clisp|swipl|gforth|pry)$/.test(name)) return anything;
  if (name === "go" && args[0]?.text === "run" && args.some(({ text }) => /^(-|\/dev\/(stdin|fd\/0))$/.test(text)))
    return anything;
  if (/^r?ed$/.test(name)) return editing(input);
  if (/^(ex|r?vim?|nvim)$/.test(name)) return name === "ex" || readsCommands(args) ? editing(input) : nothing;
  if (/^(gdb|lldb)$/.test(name)) return debuggerRuns.test(input.text) ? anything : nothing;
  if (name === "patch") return { runs: false, writes: patched(input) };
  if (name === "git") return { runs: false, writes: operands(args).some(isPatching) ? patched(input) : [] };
  return nothing;
}

/** Blanks end at the end of a line: a text of many empty lines is read once. */
const debuggerRuns =
  /^[^\S\n]*(!|shell\b|platform[^\S\n]+shell\b|python\b|script\b|pipe\b|\||make\b)|\bsystem[^\S\n]*\(/m;

const isPatching = ({ text }: ShellWord): boolean => text === "apply" || text === "am";

/** Not where the input is the text to be edited, nor where its options end it. */
const readsCommands = (args: readonly ShellWord[]): boolean =>
  !args.some(({ text }) => text === "-") &&
  ![...valuesOf(args, "-c"), ...args.filter(({ text }) => text.startsWith("+"))].some(({ text }) => quits.test(text));

const quits = /(^|[+:|\s])(w?qa?|xa?|xit|quit|cq)!?\s*$/;

/** The files that a patch changes, by the names in its headers. */
const patched = ({ text }: ShellWord): readonly ShellWord[] =>
  [...text.matchAll(/^(?:(?:\+\+\+|---) (?:[abiwco]\/)?|(?:rename|copy) (?:from|to) )"?([^\t\n"]+)/gm)].map(
    ([, path = ""]) => literal(path),
  );

/** Commands of line editors: lines are changed, and files written that have a name. Everything else may be anything. */
function editing({ text, dynamic }: ShellWord): InputEffects {
  if (dynamic) return anything;
  const writes: ShellWord[] = [];
  let isText = false;
  // A line that goes on has a backslash at its end.
  for (const line of text.replaceAll("\\\n", "\\ ").split("\n")) {
    if (isText) {
      isText = line !== ".";
      continue;
    }
    const done = edited(line);
    if (done === undefined) return anything;
    isText = done.insertsText;
    if (done.file !== undefined) writes.push(literal(done.file));
  }
  return { runs: false, writes };
}

interface Edited {
  /** Lines of text follow. */
  readonly insertsText: boolean;
  readonly file?: string;
}

const place = String.raw`(?:[\d.$%+\-\s]|'[a-z]|\/(?:\\.|[^/\\])*\/|\?(?:\\.|[^?\\])*\?)*`;
const range = new RegExp(`^:?${place}(?:[,;]${place})*`);
const global = /^(?:g|v|global|vglobal)!?\/(?:\\.|[^/\\])*\//;
/** What is put in the place of something may be an expression, to which nothing is forbidden. */
const replaced =
  /^(?:s|substitute)(?:([^\w\s\\|"])(?:\\.|(?!\1)[^\\|])*\1(?!\\=)(?:\\.|(?!\1)[^\\|])*(?:\1[&cegiInprl#\d]*)?)?\s*(?:\||$)/;
const inserts = /^[aic]!?\s*$/;
const named = /^(?:w|W|wq|e|E|f)!?\s+(?:>>\s*)?([\w./@,-]+)\s*$/;
const plain =
  /^(?:(?:d|delete|j|join|y|yank|p|P|n|l|=|#|u|h|H|k[a-z]|sort|(?:m|t|co|copy|move)\s*[\d.$+-]*|w|wq|x|xit|q|quit|Q|update)!?(?:\s+[a-z])?(?:\s*\d+)?\s*)?(?:\||$)/;

/** One line of commands; undefined where it cannot be told what they do. */
function edited(line: string): Edited | undefined {
  let rest = line.trim();
  while (rest !== "") {
    rest = rest.replace(range, "").trimStart();
    const [every] = global.exec(rest) ?? [];
    if (every !== undefined) {
      rest = rest.slice(every.length);
      continue;
    }
    if (inserts.test(rest)) return { insertsText: true };
    const [, file] = named.exec(rest) ?? [];
    if (file !== undefined) return { insertsText: false, file };
    const [done] = replaced.exec(rest) ?? plain.exec(rest) ?? [];
    if (done === undefined || done === "") return rest === "" ? { insertsText: false } : undefined;
    rest = rest.slice(done.length).trimStart();
  }
  return { insertsText: false };
}
