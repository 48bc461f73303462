import { isNestedAgent } from "../nested-agents.ts";
import { readOnlyPrograms } from "../read-only-programs.ts";
import { knownRunners } from "../test-runners.ts";
import { isKnownWriter } from "../writing-programs.ts";
import { handedScripts } from "./hidden-code.ts";
import { interprets } from "./interpreters.ts";
import { operandsBeside, type ShellWord, valuesOf } from "./syntax.ts";
import { isWrapper, shells } from "./wrappers.ts";

/** Words of a program that may be a command. */
export interface Carried {
  readonly words: readonly ShellWord[];
  /** They are one text. */
  readonly script?: string;
  /** They are a command, and none that can be read is no excuse. */
  readonly sure: boolean;
}

/** Programs that run what stands behind their options. Which options those are is left open. */
const runners: readonly string[] =
  `flock strace ltrace taskset chrt prlimit setarch setpriv unshare fakeroot runuser entr
  watchexec screen xvfb-run dbus-run-session catchsegv valgrind perf gdb`.split(/\s+/);

/** Programs whose words are commands, each of them one. */
const takeCommands =
  "concurrently hyperfine nodemon chokidar onchange ssh pm2 start-server-and-test start-test server-test scl".split(
    " ",
  );

/** Programs whose words are names of packages, files or pages; but not of those that they run. */
const takeNames: readonly string[] =
  `apt apt-get aptitude brew pip pip3 dnf yum apk pacman zypper snap port gem cargo go
  npm pnpm yarn npx bunx pnpx rustup nvm fnm volta conda mamba docker podman kubectl helm terraform man info tldr help
  code eslint prettier biome tsc`.split(/\s+/);

const runsWords = /^(exec|run|x|execute|watch)$/;

/**
 * The commands a program may run by its words. Of an unknown program, every word that could be a command which we
 * judge; the arguments of a known program are its own.
 */
export function carried(name: string, args: readonly ShellWord[]): readonly Carried[] {
  const sure = runners.includes(name);
  const handed = handedScripts(name, args).map((script): Carried => ({ words: [], script, sure: false }));
  if (!sure && isKnown(name, args)) return handed;
  const scripts = scriptsIn(name, args).map((text): Carried => ({ words: [], script: text, sure }));
  const starts = args.flatMap((word, at) => {
    // The name alone may be that of a package or a branch.
    const isAlone = at === args.length - 1 && !sure && !runsWords.test(args[at - 1]?.text ?? "");
    return isJudged(word) && !isAlone ? [at] : [];
  });
  return [
    ...handed,
    ...scripts,
    ...starts.slice(0, mostStarts).map((at): Carried => ({ words: args.slice(at), sure })),
  ];
}

const mostStarts = 8;

function isKnown(name: string, args: readonly ShellWord[]): boolean {
  if (takeNames.includes(name))
    return !args.some(({ text }) => runsWords.test(text)) || /^(npm|pnpm|yarn|npx|bunx|pnpx)$/.test(name);
  return (
    readOnlyPrograms.includes(name) ||
    isKnownWriter(name) ||
    interprets(name) ||
    shells.includes(name) ||
    own.includes(name)
  );
}

const own = ["git", "gh", "glab", "ov", "overstory", "sd", "bd", "find", "tmux", "sqlite3", "psql", "history"];

/** A word that names a program whose use may be denied. */
function isJudged({ text, dynamic, home }: ShellWord): boolean {
  if (dynamic || home || !/^(\/[\w./-]*\/)?[\w.+-]+$/.test(text) || text.startsWith("-")) return false;
  const name = text.slice(text.lastIndexOf("/") + 1);
  return (
    ["git", "ov", "overstory", "gh", "find"].includes(name) ||
    removers.includes(name) ||
    shells.includes(name) ||
    interprets(name) ||
    isWrapper(name) ||
    runners.includes(name) ||
    isNestedAgent(name, [])
  );
}

/** The only word. To a test runner it is the name of a test. */
function alone(name: string, args: readonly ShellWord[]): readonly ShellWord[] {
  const words = args[0]?.text === "--" ? args.slice(1) : args;
  return words.length === 1 && !Object.hasOwn(knownRunners().testRunners, name) ? words : [];
}

/** A text that begins with such a program. */
const beginsLikeOne = (word: ShellWord): boolean => {
  const [, program] = /^(\S+)\s/.exec(word.text) ?? [];
  return program !== undefined && isJudged({ ...word, text: program });
};

const removers: readonly string[] =
  "rm rmdir unlink shred mv cp dd tee truncate chmod chown ln install rsync sed tar unzip su npm npx".split(" ");

/** Texts behind options that stand for a command in most programs. */
function scriptsIn(name: string, args: readonly ShellWord[]): readonly string[] {
  const behind = valuesOf(args, "-c", "--command", "--cmd", "--exec", "--run", "--call", "-x", "-ex", "--eval-command");
  const words = takeCommands.includes(name) ? args.filter(({ text }) => /\s/.test(text)) : [];
  // Many programs mean something else by these options, such as a file; one word counts only as the name of a program.
  const commands = behind.filter((word) => /\s/.test(word.text) || isJudged(word));
  const told = args.filter((_, at) => /^(-e|-s|--shell)$/.test(args[at - 1]?.text ?? ""));
  const lines = [...told, ...alone(name, args)].filter(beginsLikeOne);
  return [...commands, ...words, ...lines].filter(({ dynamic }) => !dynamic).map(({ text }) => text);
}

const tmuxValues = "-s -t -n -c -x -y -e -F -l -p -L -S -f -b -d -N".split(" ");
const tmuxStarts =
  /^(new(-session|-window|w)?|split(-window|w)|respawn(-pane|-window|p|w)|run(-shell)?|if(-shell)?|pipe(-pane|p)|(display-)?popup|confirm(-before)?|bind(-key)?|set-hook)$/;

/** What is typed into a terminal that goes on by itself. `opaque`: that cannot be told. */
export function terminalScripts(name: string, args: readonly ShellWord[]): readonly string[] | "opaque" {
  if (name === "screen") {
    const at = args.findIndex(({ text }) => text === "stuff");
    return at < 0 ? [] : typed(args.slice(at + 1));
  }
  if (!["tmux", "byobu"].includes(name)) return [];
  const at = args.findIndex(({ text }) => !text.startsWith("-") && /^[a-z][a-z-]*$/.test(text));
  const verb = args[at]?.text ?? "";
  if (/^source(-file)?$/.test(verb)) return "opaque";
  const rest = args.slice(at + 1);
  if (/^send(-keys)?$/.test(verb)) return typed(operandsBeside(rest, tmuxValues));
  return tmuxStarts.test(verb)
    ? typed(
        operandsBeside(
          rest,
          tmuxValues.filter((each) => each !== "-d"),
        ),
      )
    : [];
}

/** Keys with a name of their own are no text. */
function typed(words: readonly ShellWord[]): readonly string[] | "opaque" {
  if (words.some(({ dynamic }) => dynamic)) return "opaque";
  const text = words
    .filter((word) => !/^(Enter|Escape|C-[a-z]|Space|Tab|BSpace)$/i.test(word.text))
    .map((word) => word.text.replaceAll(/\\[nr]/g, "\n"))
    .join(" ");
  return text.trim() === "" ? [] : [text];
}
