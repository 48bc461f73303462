import type { ShellWord } from "./syntax.ts";

/** A program that runs code in a language of its own. */
interface Interpreter {
  readonly names: RegExp;
  /** Options that bring code along. Letters that take a value end a cluster: `-Itest` has no `-e` in it. */
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
  {
    names: /^(python|pypy)[\d.]*$/,
    inline: /^-[bBdEhiIOPqsSuvx]*c/,
    values: ["-W", "-X"],
    asks: /^(-V|--version|--help|-h)$/,
  },
  {
    names: /^(node|nodejs|tsx|ts-node)$/,
    inline: /^(-[A-Za-z]*[ep][A-Za-z]*$|--(eval|print)|(--[a-z-]+=)?data:)/,
    values: ["-r", "--require", "--import", "--loader", "-C", "--conditions"],
    finds: /^--test$/,
  },
  {
    names: /^perl[\d.]*$/,
    // A module is named, and code may stand behind its name.
    inline: /^-(?:[acfilnpsStTuUwWX\d]*(?:C[IOEioADSLa\d]*[a-z]*)?[eE]|[mM].*[^\w:=,.'"() -])/,
    values: ["-I"],
  },
  { names: /^ruby[\d.]*$/, inline: /^-[acdhilnpsSUvwWy\d]*e/, values: ["-I", "-r"] },
  { names: /^php[\d.]*$/, inline: /^-[rBRE]/, values: ["-d", "-c"] },
  { names: /^(lua[\d.]*|luajit)$/, inline: /^-e/, values: ["-l"] },
  { names: /^(tclsh|osascript|Rscript|R)$/, inline: /^-(e|-?eval)/, values: [] },
  {
    names:
      /^(julia|elixir|iex|racket|raku|clojure|clj|groovy|scala|kotlin|swift|janet|octave|jrunscript|coffee|ghci?|runghc)$/,
    inline: /^(-[eEP]$|--?(eval|print|execute|rpc-eval)\b)/,
    values: ["-S", "-pa", "-r", "-cp", "-classpath", "--project"],
    idle: true,
  },
  { names: /^erl$/, inline: /^-(eval|run|s)$/, values: ["-pa", "-pz", "-sname", "-name"], idle: true },
  {
    names: /^(guile|sbcl|clisp|ecl|chez|scheme|csi|gosh|swipl|gprolog)$/,
    inline: /^(-[ceg]$|-x$|--(eval|expr|non-interactive)\b)/,
    values: ["-L", "-l", "-s"],
  },
  { names: /^(ipython|bpython|xonsh|nu|elvish)[\d.]*$/, inline: /^-[a-zA-Z]*c/, values: [], idle: true },
  { names: /^(pwsh|powershell)(\.exe)?$/i, inline: /^[-/](c|command|e|ec|encodedcommand)$/i, values: [] },
  { names: /^bun$/, inline: /^(-[ep]$|--(eval|print))/, values: ["-r", "--preload", "--cwd"], idle: true },
  { names: /^deno$/, inline: /^eval$/, values: [], idle: true },
];

const asksAboutInterpreter = /^(-V|-v|--version|--help|-h)$/;

export const interprets = (name: string): boolean => interpreters.some(({ names }) => names.test(name));

/** Files that are what stands on the input. */
const isInput = /^\/(dev\/(stdin|fd\/\d+)|proc\/self\/fd\/\d+)$/;

/** Modules of Python that take code by their words. */
const runsWords = ([module, ...rest]: readonly ShellWord[]): boolean =>
  /^(timeit|code|idlelib|IPython)$/.test(module?.text ?? "") ||
  (/^(pdb|trace|c?[pP]rofile)$/.test(module?.text ?? "") && rest.some(({ text }) => /^-c/.test(text)));

/** Does this interpreter run code from its arguments or its input? The guard cannot read such code. */
export function isOpaque(name: string, args: readonly ShellWord[], hasInput: boolean): boolean {
  if (/^(deno|bun|uv)$/.test(name) && args[0]?.text === "run") {
    const first = args.findIndex(({ text }, at) => at > 0 && !text.startsWith("-"));
    const options = first < 0 ? args : args.slice(0, first);
    if (name === "bun" && options.some(({ text }) => /^(-[ep]$|--(eval|print))/.test(text))) return true;
    return args.slice(1).find(({ text }) => text === "-" || !text.startsWith("-"))?.text === "-";
  }
  const known = interpreters.find(({ names }) => names.test(name));
  if (known === undefined) return false;
  const { asks = asksAboutInterpreter } = known;
  // Without a file and without a person in front of it, it takes its input for code.
  let finds = known.idle === true && !hasInput;
  for (let at = 0; at < args.length; at++) {
    const word = args[at];
    if (word === undefined || word.dynamic || known.inline.test(word.text)) return true;
    if (asks.test(word.text)) return false;
    if (known.values.includes(word.text) && /^data:/.test(args[at + 1]?.text ?? "")) return true;
    if (isInput.test(word.text)) return true;
    const [, module] = /^-m(.+)$/.exec(word.text) ?? [];
    if (module !== undefined) return runsWords([{ ...word, text: module }, ...args.slice(at + 1)]);
    if (word.text === "-m" && runsWords(args.slice(at + 1))) return true;
    // A module, or a file: a program like any other.
    if (word.text === "-m" || (!word.text.startsWith("-") && word.text !== "")) return false;
    if (word.text === "-") return true;
    finds ||= known.finds?.test(word.text) === true;
    if (known.values.includes(word.text)) at++;
  }
  return !finds;
}
