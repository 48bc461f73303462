import { tarRuns } from "./archive-programs.ts";
import { clusteredValues, hasOption, type ShellWord, valuesOf } from "./shell/syntax.ts";

/** Does it bring commands along that cannot be read here? */
export function runsHidden(name: string, args: readonly ShellWord[]): boolean {
  if (/^(tar|gtar|bsdtar)$/.test(name)) return tarRuns(args);
  if (/^([gmn]?awk|g?sed)$/.test(name)) {
    return [...valuesOf(args, "-f", "--file"), ...clusteredValues(args, "f")].some(({ text }) => text === "-");
  }
  // Settings in a file say where it writes, too.
  if (name === "curl") return args.some(({ text }) => /^-[sSfLiIvkgN46#jJOqRaBGlpZ]*K|^--conf/.test(text));
  if (name === "wget") return args.some(({ text }) => /^--conf/.test(text));
  if (Object.hasOwn(hiddenIn, name) && args.some(({ text }) => hiddenIn[name]?.test(text))) return true;
  if (runsFromAddress(name, args)) return true;
  if (name === "mix") return args[0]?.text === "eval" || (args[0]?.text === "run" && hasOption(args, "e", "eval"));
  if (name === "cargo") return valuesOf(args, "--config").some(({ text }) => cargoRuns.test(text));
  if (/^(gdb|lldb)$/.test(name)) return args.some(({ text }) => debuggerRuns.test(text));
  // Of Rails: a file of code is one like any other.
  if (name === "rails" && /^r(unner)?$/.test(args[0]?.text ?? "")) return !/\.rb$/.test(args[1]?.text ?? "");
  if (name === "emacs") return hasOption(args, "l", "eval", "load", "script", "execute", "funcall");
  if (!/^(ex|vi|vim|nvim|view)$/.test(name)) return false;
  const commands = args.flatMap(({ text }, at) =>
    /^(-[a-zA-Z]*c|--cmd)$/.test(args[at - 1]?.text ?? "") ? [text] : text.startsWith("+") ? [text.slice(1)] : [],
  );
  return (
    commands.some((each) => !plainEdit.test(each)) ||
    args.some(
      ({ text }, at) =>
        (name === "ex" ? /^-[Su]$/ : /^-[Ssu]$/).test(text) &&
        // These words stand for no file of settings.
        !(text === "-u" && /^(NONE|NORC|DEFAULTS)$/.test(args[at + 1]?.text ?? "")),
    )
  );
}

/** Code from somewhere else that is run at once. */
function runsFromAddress(name: string, args: readonly ShellWord[]): boolean {
  const [first, ...rest] = args.filter(({ text }) => !text.startsWith("-"));
  const code = /^(npx|bunx|pnpx|uvx)$/.test(name)
    ? first
    : /^(run|dlx|exec|x)$/.test(first?.text ?? "")
      ? rest[0]
      : undefined;
  const runs = /^(npx|bunx|pnpx|uvx|deno|bun|npm|pnpm|yarn|pipx|go)$/.test(name);
  return runs && /^(https?|git|git\+\w+|ssh|github|gitlab|bitbucket|gist):/.test(code?.text ?? "");
}

/** Replaces, deletes, saves and leaves: nothing that names a file or runs a program. */
const plainEdit =
  /^\s*:?((%|\d+(,(\d+|\$))?|g?\/[^/|!]*\/)?\s*(s\/[^/|!]*\/[^/|!]*\/[gcie]*|d|j|sort|wq?!?|x!?|q!?|\d+)\s*(\||$)\s*)+$/;

/** A shell that is none, or a file that every script of the project would load. */
const npmRuns = /^--?script-?shell|^--node-options=.*(data:|-r\b|--(require|import|loader|experimental-loader))/i;

/** Options of programs that bring code or a command along. */
const hiddenIn: Readonly<Record<string, RegExp>> = {
  rake: /^(-[eEp]$|--execute)/,
  zx: /^(-e|--eval)/,
  gnuplot: /^-e/,
  irb: /^-e/,
  crystal: /^eval$/,
  nim: /^(e|--eval.*)$/,
  just: /^--(shell|shell-arg|command|chooser)(=|$)|^-c$/,
  zip: /^(-\w*TT|--unzip-command)/,
  mvn: /^(exec:exec|-Dexec\.executable=)/,
  mvnw: /^(exec:exec|-Dexec\.executable=)/,
  php: /^--execute/,
  npm: npmRuns,
  pnpm: npmRuns,
  yarn: npmRuns,
};

/** Settings of cargo by which it runs other programs than its own. */
const cargoRuns = /runner|linker|wrapper|rustc|alias|credential/;

/** Commands of a debugger that start other programs or write files. */
const debuggerRuns =
  /^\s*(!|shell\b|py(thon|thon-interactive)?\b|pi\b|pipe\b|\|\s|source\b|guile\b|script\b|platform\s+shell)/;
