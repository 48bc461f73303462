import type { ShellWord } from "./shell/syntax.ts";

interface Interpreter {
  readonly names: RegExp;
  /** Options that bring code along. */
  readonly inline: RegExp;
  /** Options that are followed by a value of their own. */
  readonly values: readonly string[];
  /** Without a file it does something else than reading code from its input. */
  readonly idle?: true;
  /** Options with which it finds its files itself. */
  readonly finds?: RegExp;
  /** Options with which it only tells its version, or how it is called. */
  readonly asks?: RegExp;
}

const interpreters: readonly Interpreter[] = [
  { names: /^(python|pypy)[\d.]*$/, inline: /^-[A-Za-z]*c/, values: ["-W", "-X"], asks: /^(-V|--version|--help|-h)$/ },
  {
    names: /^(node|nodejs|tsx|ts-node)$/,
    inline: /^(-[A-Za-z]*[ep][A-Za-z]*$|--(eval|print))/,
    values: ["-r", "--require", "--import", "--loader", "-C", "--conditions"],
    finds: /^--test$/,
  },
  { names: /^perl[\d.]*$/, inline: /^-[A-Za-z0-9]*[eE]/, values: ["-I"] },
  { names: /^ruby[\d.]*$/, inline: /^-[A-Za-z]*e/, values: ["-I", "-r"] },
  { names: /^php[\d.]*$/, inline: /^-[rBRE]/, values: ["-d", "-c"] },
  { names: /^(lua[\d.]*|luajit|tclsh|osascript|Rscript|R)$/, inline: /^-(e|-?eval)/, values: [] },
  { names: /^bun$/, inline: /^(-[ep]$|--(eval|print))/, values: ["-r", "--preload", "--cwd"], idle: true },
  { names: /^deno$/, inline: /^eval$/, values: [], idle: true },
];

const asksAboutItself = /^(-V|-v|--version|--help|-h)$/;

/** Would this program run code that stands in its words or comes from its input, where nobody can look at it first? */
export function isOpaque(name: string, args: readonly ShellWord[]): boolean {
  const known = interpreters.find(({ names }) => names.test(name));
  if (known === undefined) return false;
  const { asks = asksAboutItself } = known;
  let finds = known.idle === true;
  for (let at = 0; at < args.length; at++) {
    const word = args[at];
    if (word === undefined || word.dynamic || known.inline.test(word.text)) return true;
    if (asks.test(word.text)) return false;
    // A module, or a file: a program like any other.
    if (word.text === "-m" || (!word.text.startsWith("-") && word.text !== "")) return false;
    if (word.text === "-") return true;
    finds ||= known.finds?.test(word.text) === true;
    if (known.values.includes(word.text)) at++;
  }
  return !finds;
}
