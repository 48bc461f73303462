import { tarMode, tarRuns } from "./archive-programs.ts";
import { awkOnlyPrints, sedOnlyPrints } from "./sed-and-awk.ts";
import type { Invocation } from "./shell/invocations.ts";
import { hasOption, isOption, operands, operandsBeside, type ShellWord } from "./shell/syntax.ts";

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

const unpackers = "gzip gunzip xz unxz bzip2 bunzip2 zstd unzstd lz4".split(" ");

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
  tee: (args) => operands(args).every(({ text }) => /^\/dev\/(null|stderr|stdout)$/.test(text)),
  shuf: without("o", "output"),
  scc: without("o", "output", "format-multi"),
  diffstat: without("oO"),
  iconv: without("o", "output"),
  top: (args) => hasOption(args, "b") && !hasOption(args, "", "write"),
  xmllint: noneOf(/^--?(o|output|shell|save\w*)(=|$)/),
  ...Object.fromEntries(unpackers.map((name) => [name, unpacksToOutput])),
  // With -K it ends connections.
  ss: without("KD", "kill", "diag"),
  // With -i bash evaluates every later value of the variable as arithmetic, too.
  declare: without("i"),
  local: without("i"),
  test: (args) => namesPlainly(args),
  "[": (args) => namesPlainly(args),
  gh: (args) => readingGh(args),
  sd: (args) => isTrackerCall(args),
  dig: isWrittenOut,
  host: isWrittenOut,
  nslookup: isWrittenOut,
  // Jobs of its own shell.
  kill: (args) => args.every(({ text }) => /^(-\w+|%[\w%+-]*|\$!)$/.test(text)),
};

/** The name that is asked for reaches servers that anybody may run. */
function isWrittenOut(args: readonly ShellWord[]): boolean {
  return !args.some(({ dynamic }) => dynamic);
}

/** Does the program unpack to its output, and write no file? */
function unpacksToOutput(args: readonly ShellWord[]): boolean {
  return hasOption(args, "clt", "stdout", "to-stdout", "list", "test") && !hasOption(args, "o", "output", "rm");
}

/** Another program of this name replaces text in files: what it takes first is no verb of the tracker. */
export function isTrackerCall(args: readonly ShellWord[]): boolean {
  const [verb, ...rest] = args.filter((word, at) => !isOption(word) && !/^--\w[\w-]*$/.test(args[at - 1]?.text ?? ""));
  if (verb === undefined) return args.length <= 1;
  return trackerVerbs.test(verb.text) && (!listing.test(verb.text) || rest.every(({ text }) => !/[./]/.test(text)));
}
const trackerVerbs =
  /^(create|show|list|ls|ready|update|close|done|start|reopen|delete|dep|block|unblock|blocked|label|comment|search|stats|sync|prime|init|doctor|onboard|plan|tpl|template|export|import|config|help|version|upgrade|completions|schema|archive|edit|assign|migrate\S*)$/;
const listing = /^(list|ls|ready|blocked|stats|sync|prime|doctor|version|help)$/;

const npmReads = /^(audit|ls|list|ll|la|view|info|show|outdated|explain|why|root|prefix|bin|search|query|fund|help)$/;
const pipReads = /^(list|show|freeze|check|inspect|index)$/;

/** Programs that mostly change something, with what they are asked when they only show it. */
const asking: Readonly<Record<string, Check>> = {
  tar: (args) => tarMode(args) === "t" && !tarRuns(args) && !hasOption(args, "x", "index-file"),
  unzip: (args) => hasOption(args, "lvZtp") && !hasOption(args, "d"),
  npm: (args) => listsScripts(args) || showsSettings(args) || (readingVerb(args, npmReads) && !mends(args)),
  pnpm: (args) => listsScripts(args) || showsSettings(args) || (readingVerb(args, npmReads) && !mends(args)),
  bun: (args) => listsScripts(args) || readingVerb(args, /^(outdated|why)$/) || /^pm ls( --all)?$/.test(textOf(args)),
  yarn: (args) => readingVerb(args, /^(list|info|why|outdated|licenses)$/),
  pip: (args) => readingVerb(args, pipReads),
  pip3: (args) => readingVerb(args, pipReads),
  go: readingGo,
  cargo: readingCargo,
  // Without a count it would not end.
  ping: (args) => hasOption(args, "c", "count") && !hasOption(args, "f") && isWrittenOut(args),
  docker: readingDocker,
  podman: readingDocker,
  kubectl: (args) => readingVerb(args, /^(get|describe|logs|top|explain|version|api-resources|cluster-info)$/),
  poetry: (args) => readingVerb(args, /^(show|check|version)$/) && args.length < 4,
  uv: (args) =>
    readingVerb(args, /^(tree|version)$/) || (args[0]?.text === "pip" && readingVerb(args.slice(1), pipReads)),
  gem: (args) => readingVerb(args, /^(list|info|search|dependency|environment|env|which|outdated)$/),
  bundle: (args) => readingVerb(args, /^(list|show|info|outdated|version)$/),
  composer: (args) => readingVerb(args, /^(show|info|outdated|licenses|why|depends|diagnose)$/),
  openssl: readingOpenssl,
  curl: onlyFetches,
  python: printsJson,
  python3: printsJson,
};

const textOf = (args: readonly ShellWord[]): string => args.map(({ text }) => text).join(" ");

const showsSettings: Check = (args) => /^(config (get|list|ls)|pkg get)( [\w:.-]+)*$/.test(textOf(args));

function readingDocker(args: readonly ShellWord[]): boolean {
  const [verb, ...rest] = args;
  if (verb?.text === "compose") return readingVerb(rest, /^(ps|config|logs|ls|images|top|port|version)$/);
  return readingVerb(args, /^(ps|images|logs|inspect|version|info|stats|top|port)$/);
}

/** Does openssl only print a certificate or the digest of a file? */
function readingOpenssl(args: readonly ShellWord[]): boolean {
  if (!/^(x509|dgst|verify|version|asn1parse|crl|ciphers)$/.test(args[0]?.text ?? "")) return false;
  return !args.some(({ text }) =>
    /^-(out\w*|keyout|sign\w*|engine|provider.*|config|CA(create\w*|serial)|writerand)$/.test(text),
  );
}

/** Without a name of a script these programs print which ones there are. */
const listsScripts: Check = (args) => args.length === 1 && /^(run|run-script)$/.test(args[0]?.text ?? "");

/** What Go tells of modules and packages. Other options build something, or run a program on the way. */
function readingGo(args: readonly ShellWord[]): boolean {
  const [verb, ...rest] = args;
  if (/^(version|env)$/.test(verb?.text ?? "")) return readingVerb(args, /./) && !hasOption(args, "wu");
  if (verb?.text === "mod") return /^(graph|why|verify)$/.test(rest[0]?.text ?? "") && rest.slice(1).every(isPlainOfGo);
  return /^(list|doc)$/.test(verb?.text ?? "") && rest.every(isPlainOfGo);
}

const isPlainOfGo = ({ text, dynamic }: ShellWord): boolean =>
  !dynamic && (!text.startsWith("-") || /^-(m|json|deps|test|all|short|u|e|find|versions|f|f=.*)$/.test(text));

/** What Cargo tells of packages. */
function readingCargo(args: readonly ShellWord[]): boolean {
  const [verb, ...rest] = args;
  if (!/^(tree|metadata|pkgid|search|info|locate-project|--list)$/.test(verb?.text ?? "")) return false;
  return rest.every(
    ({ text, dynamic }) =>
      !dynamic &&
      (!text.startsWith("-") ||
        /^(-[ipFqv]|--(no-deps|format-version(=1)?|duplicates|depth|invert|package|offline|locked|frozen|all-features|no-default-features|features|workspace|edges|prefix|limit|target))$/.test(
          text,
        )),
  );
}

/** A second file would be written to. */
function printsJson([option, module, ...rest]: readonly ShellWord[]): boolean {
  if (option?.text !== "-m" || module?.text !== "json.tool" || rest.some(({ dynamic }) => dynamic)) return false;
  return operandsBeside(rest, ["--indent"]).length <= 1;
}

/** An audit changes packages only with the word or option `fix`. */
const mends = (args: readonly ShellWord[]): boolean =>
  args.some(({ text }) => /^(--)?fix$|^--audit-level=.*\//.test(text));

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
  md5sum sha1sum sha256sum sha512sum b2sum cmp numfmt tokei netstat cal lscpu lsblk lsb_release arch groups
  getconf vmstat help bc factor tsort pr tput tty nm readelf objdump bzcat xzcat zstdcat tldr cd pushd popd dirs set export readonly unset
  shift read mapfile wait exit return break continue let exec trap xargs jobs ov overstory bd`.split(/\s+/);

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

const asksAbout = (name: string): readonly string[] => {
  if (/^(node|npm|pnpm|yarn|bun|tsc|ruby|php|perl|mvn|gradle|clang|gcc|g\+\+)$/.test(name))
    return ["--version", "--help", "-v"];
  if (/^javac?$/.test(name)) return ["--version", "--help", "-version"];
  return /^(rustc|cargo|python[\d.]*|pip3?|ssh|tmux|ruff|mypy|kotlinc)$/.test(name)
    ? ["--version", "--help", "-V"]
    : ["--version", "--help"];
};

const isSeveral = ({ text, pattern }: ShellWord): boolean => pattern && /\{.*(,|\.\.).*\}/.test(text);

/** Of the forge's own program, what only shows. */
export function readingGh(args: readonly ShellWord[]): boolean {
  const [topic, verb] = operands(args);
  if (topic === undefined || topic.dynamic || verb?.dynamic === true) return false;
  // An address that is asked for; a field or a body would be sent there.
  if (topic.text === "api")
    return verb?.text !== "graphql" && !hasOption(args, "XfF", "method", "field", "raw-field", "input");
  return (
    ["status", "search"].includes(topic.text) || ["view", "list", "diff", "checks", "status"].includes(verb?.text ?? "")
  );
}
