import { tarMode, tarRuns } from "./archive-programs.ts";
import { awkOnlyPrints, sedOnlyPrints } from "./sed-and-awk.ts";
import type { Invocation } from "./shell/invocations.ts";
import { hasOption, operands, operandsBeside, type ShellWord } from "./shell/syntax.ts";

type Check = (args: readonly ShellWord[]) => boolean;

/** A further word would be a file to write to. */
const atMost =
  (count: number, ...valued: readonly string[]): Check =>
  (args) =>
    operandsBeside(args, valued).length <= count;
const without =
  (letters: string, ...long: readonly string[]): Check =>
  (args) =>
    !hasOption(args, letters, ...long);
/** For programs whose long options begin with one dash. */
const noneOf =
  (forbidden: RegExp): Check =>
  (args) =>
    !args.some(({ text }) => forbidden.test(text));

/** Programs that change something only when they are asked to. */
const careful: Readonly<Record<string, Check>> = {
  find: noneOf(/^-(delete|fprint|fls)/),
  fd: without("xX", "exec", "exec-batch"),
  rg: without("", "pre", "hostname-bin"),
  ag: without("", "pager"),
  sed: sedOnlyPrints,
  awk: awkOnlyPrints,
  gawk: awkOnlyPrints,
  mawk: awkOnlyPrints,
  sort: without("oT", "output", "compress-program", "temporary-directory"),
  uniq: atMost(1, "-f", "-s", "-w"),
  xxd: (args) => atMost(1, "-c", "-g", "-l", "-o", "-s")(args) && !hasOption(args, "r"),
  tree: without("oR"),
  yq: without("is", "inplace", "in-place", "split-exp", "security-enable-system-operator"),
  date: (args) => without("s", "set")(args.filter(({ text }) => !text.startsWith("-I"))),
  hostname: (args) => atMost(0)(args) && !hasOption(args, "Fb", "file", "boot"),
  file: without("C", "compile"),
  base64: without("o", "output"),
  diff: without("", "output"),
  diff3: without("", "diff-program"),
  cloc: noneOf(
    /^--?(out|report|write|diff-align|ignored|counted|found|categorized|extract|strip|sql|original|config|sum|use-sloc)/,
  ),
  less: noneOf(/^\+|^-[a-zA-Z]*[oOkT]|^--(log|LOG|lesskey)/),
  more: noneOf(/^\+/),
  bat: noneOf(/^(cache|--pager|--config|--generate|-[a-zA-Z]*P)/),
  man: without("PHCM", "pager", "html", "config-file", "manpath", "troff", "ditroff"),
  zipinfo: without(""),
  zipgrep: without(""),
  tee: atMost(0),
  // With -i bash evaluates every later value of the variable as arithmetic, too.
  declare: without("i"),
  local: without("i"),
  test: (args) => namesPlainly(args),
  "[": (args) => namesPlainly(args),
  gh: (args) => readingGh(args),
};

const npmReads = /^(ls|list|ll|la|view|info|show|outdated|explain|why|root|prefix|bin|search|query|fund|help)$/;
const pipReads = /^(list|show|freeze|check|inspect|index)$/;

/** Programs that mostly change something, with what they are asked when they only show it. */
const asking: Readonly<Record<string, Check>> = {
  tar: (args) => tarMode(args) === "t" && !tarRuns(args) && !hasOption(args, "x", "index-file"),
  unzip: (args) => hasOption(args, "lvZtp") && !hasOption(args, "d"),
  npm: (args) => readingVerb(args, npmReads),
  pnpm: (args) => readingVerb(args, npmReads),
  yarn: (args) => readingVerb(args, /^(list|info|why|outdated|licenses)$/),
  pip: (args) => readingVerb(args, pipReads),
  pip3: (args) => readingVerb(args, pipReads),
  go: (args) => readingVerb(args, /^(version|env)$/) && !hasOption(args, "wu"),
  docker: (args) => readingVerb(args, /^(ps|images|logs|inspect|version|info|stats|top|port)$/),
  curl: onlyFetches,
};

/** Of a program that does many things, one that only shows something. */
function readingVerb(args: readonly ShellWord[], verbs: RegExp): boolean {
  const [verb] = args;
  return verb !== undefined && !verb.dynamic && verbs.test(verb.text) && !hasOption(args, "o", "output", "prefix");
}

/** Of `curl`, what asks for a page and prints it. */
function onlyFetches(args: readonly ShellWord[]): boolean {
  for (let at = 0; at < args.length; at++) {
    const { text = "", dynamic = true } = args[at] ?? {};
    const next = args[at + 1]?.text ?? "";
    if (dynamic) return false;
    if (/^(-X|--request)$/.test(text) && /^(GET|HEAD)$/.test(next)) at++;
    else if (/^(-o|--output)$/.test(text) && next === "/dev/null") at++;
    else if (
      /^(-H|--header|-m|--max-time|-A|--connect-timeout|--retry|-w|--write-out)$/.test(text) &&
      !/^@|%output/.test(next)
    )
      at++;
    else if (
      text.startsWith("-") &&
      !/^(-[sSfLiIvkgN46]+|--(silent|show-error|fail|location|include|head|compressed|insecure|no-buffer|get))$/.test(
        text,
      )
    )
      return false;
  }
  return true;
}

const plain: readonly string[] =
  `ls cat head tail wc nl tac rev cut tr comm join paste fold fmt expand unexpand column grep egrep fgrep zgrep
  zcat jq stat du df pwd basename dirname realpath readlink echo printf true false : type which whereis
  printenv env id whoami uname locale ps pgrep lsof free uptime nproc seq expr sleep od hexdump strings cksum
  md5sum sha1sum sha256sum sha512sum cmp numfmt tokei cd pushd popd dirs set export readonly unset
  shift read mapfile wait exit return break continue let exec trap ov overstory sd bd`.split(/\s+/);

/** The shell evaluates the index in what it asks about. */
const namesPlainly: Check = (args) =>
  args.every(({ text }, at) => {
    const next = args[at + 1];
    return !/^-[vR]$/.test(text) || next === undefined || (!next.dynamic && /^(\w+|\]{1,2})$/.test(next.text));
  });

/** The names of all programs by which a role that changes nothing may look. */
export const readOnlyPrograms: readonly string[] = [
  ...plain.filter((name) => /^[a-z]/.test(name)),
  ...Object.keys(careful).filter((name) => /^[a-z]/.test(name)),
].sort();

/** Programs of the system: what lies elsewhere may only be called like one. */
const systemDirs = /^\/(usr\/(local\/)?)?s?bin\/[^/]+$/;

/** Does it change nothing, however it is called? */
export const onlyLooks = ({ name, program }: Invocation): boolean =>
  (!program.includes("/") || systemDirs.test(program)) && plain.includes(name);

/** Does this program, called so, change nothing? */
export function changesNothing({ name, program, args }: Invocation): boolean {
  if (program.includes("/") && !systemDirs.test(program)) return false;
  if (args.length === 1 && asksAbout(name).includes(args[0]?.text ?? "")) return true;
  // A word in braces becomes several, and any of them may be an option.
  for (const table of [careful, asking]) {
    if (Object.hasOwn(table, name)) return !args.some(isSeveral) && table[name]?.(args) === true;
  }
  return plain.includes(name);
}

const asksAbout = (name: string): readonly string[] =>
  /^(node|npm|pnpm|yarn|bun|tsc|ruby|php|perl)$/.test(name) ? ["--version", "--help", "-v"] : ["--version", "--help"];

const isSeveral = ({ text, pattern }: ShellWord): boolean => pattern && /\{.*(,|\.\.).*\}/.test(text);

/** Of the forge's own program, what only shows. */
export function readingGh(args: readonly ShellWord[]): boolean {
  const [topic, verb] = operands(args);
  if (topic === undefined || topic.dynamic || verb?.dynamic === true) return false;
  return topic.text === "status" || ["view", "list", "diff", "checks", "status"].includes(verb?.text ?? "");
}
