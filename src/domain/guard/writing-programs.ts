import { archivers } from "./archive-programs.ts";
import { awayIn, downloaders, formatters, installed, last, mounted, outputs } from "./building-programs.ts";
import { isTrackerCall, readOnlyPrograms } from "./read-only-programs.ts";
import { awkWrites, sedWrites } from "./sed-and-awk.ts";
import { findRoots, findsAnything } from "./shell/find.ts";
import {
  clusteredValues,
  hasOption,
  isOption,
  literal,
  operands,
  operandsBeside,
  type ShellWord,
  valuesOf,
} from "./shell/syntax.ts";
import { shells } from "./shell/wrappers.ts";

type Targets = (args: readonly ShellWord[]) => readonly ShellWord[];

/** Everything that could be a path: words, and what is glued to an option. */
const everything: Targets = (args) => [...operands(args), ...glued(args)];

const glued: Targets = (args) =>
  args.filter(isOption).flatMap((word) => {
    const value = /^(?:--[a-z-]+=|-[A-Za-z](?=[/.~]))(.+)$/.exec(word.text)?.[1];
    return value === undefined ? [] : [{ ...word, text: value }];
  });

/** Copies read from anywhere; they write to the last of their words, or where an option says, by the names they had. */
const destination: Targets = (args) => {
  const told = intoDirectory(args);
  const words = operands(args).filter((word) => !told.includes(word));
  const into = told.length > 0 ? told : words.slice(-1);
  const [only] = into;
  // The directory itself is there; what is written are the files of these names in it.
  if (words.length > 1 && isScratchDirectory.test(only?.text ?? "")) {
    return words.slice(0, -1).map((word) => (only === undefined ? word : below(only, word)));
  }
  return [...into, ...into.flatMap((directory) => words.map((word) => below(directory, word)))];
};

const isScratchDirectory = /^\$(OVERSTORY_SCRATCH|\{OVERSTORY_SCRATCH\})\/?$/;

const intoDirectory: Targets = (args) => [...valuesOf(args, "-t", "--target-directory"), ...clusteredValues(args, "t")];

/** The file of this name in a directory. */
function below(directory: ShellWord, file: ShellWord): ShellWord {
  const name = file.text.replace(/\/+$/, "").split("/").at(-1) ?? "";
  return file === directory || name === ".." || file.dynamic || (file.pattern && directory.dynamic)
    ? directory
    : {
        ...directory,
        text: `${directory.text.replace(/\/$/, "")}/${name}`,
        pattern: directory.pattern || file.pattern,
      };
}

/** What a link leads to counts as written, for it can be written through. From a link a relative path begins beside it. */
const linked: Targets = (args) => {
  const [from, to, ...more] = operands(args);
  if (from === undefined || to === undefined || more.length > 0 || !hasOption(args, "s", "symbolic"))
    return operands(args);
  const beside = to.text.slice(0, to.text.lastIndexOf("/") + 1);
  const isFixed = from.dynamic || from.home || from.text.startsWith("/");
  const led = isFixed ? from : { ...from, text: `${beside}${from.text}`, dynamic: to.dynamic, home: to.home };
  // What steers agents in a directory could be written by the other name.
  const within = ["settings.json", "mcp.json", "hooks"].map((name) => ({ ...led, text: `${led.text}/${name}` }));
  return [led, to, ...settingsIn([to]), ...(from.dynamic ? [] : within)];
};

/** What would lie in a directory that comes from elsewhere, under the name that it gets. */
const settingsIn: Targets = (words) => words.map((word) => ({ ...word, text: `${word.text}/settings.json` }));

/** What loses its place: all but the last of the words, or all of them. */
const moved: Targets = (args) => {
  const told = intoDirectory(args);
  const words = operands(args).filter((word) => !told.includes(word));
  return told.length > 0 ? words : words.slice(0, -1);
};

/** The first word says how, unless an option does; the others on what. A mode such as -x looks like an option. */
const withMode: Targets = (args) => {
  if (args.length === 1 && /^--(help|version)$/.test(args[0]?.text ?? "")) return [];
  const rest = args.filter(({ text }) => text !== "--");
  const words = rest.filter((word) => !isOption(word) || isMode(word));
  return hasOption(args, "", "reference") ? words.filter((word) => !isMode(word)) : words.slice(1);
};

const isMode = ({ text }: ShellWord): boolean => /^-[rwxXst]+([,+=-]|$)/.test(text) || /^-[ugo]$/.test(text);

const afterFirst: Targets = (args) => {
  const words = operands(args);
  return [...(hasOption(args, "", "reference") ? words : words.slice(1)), ...glued(args).filter(leadsSomewhere)];
};

const leadsSomewhere = ({ text }: ShellWord): boolean => text.includes("/");

const options =
  (...names: readonly string[]): Targets =>
  (args) =>
    valuesOf(args, ...names);

const inPlace: Targets = (args) => (hasOption(args, "i", "inplace", "in-place") ? operands(args).slice(1) : []);

const removers: Readonly<Record<string, Targets>> = {
  rm: everything,
  rmdir: everything,
  unlink: everything,
  shred: everything,
  trash: everything,
  "trash-put": everything,
  gio: (args) => (args[0]?.text === "trash" ? operands(args).slice(1) : []),
  mv: moved,
  find: (args) => (args.some(({ text }) => text === "-delete") && findsAnything(args) ? findRoots(args) : []),
  rsync: (args) => (args.some(({ text }) => /^--(del|remove)/.test(text)) ? operands(args).slice(-1) : []),
};

/** Programs that put hooks into the repository, with what they are told to. All worktrees share the hooks. */
const hookInstallers: Readonly<Record<string, Targets>> = Object.fromEntries(
  Object.entries({
    lefthook: /^(install|uninstall|add)$/,
    "pre-commit": /^(install|uninstall)$/,
    "simple-git-hooks": /^(?!-)/,
    overcommit: /^(-i|-u|--install|--uninstall)$/,
  }).map(([name, installs]) => [
    name,
    (args: readonly ShellWord[]) => (installs.test(args[0]?.text ?? "") ? [literal(".git/hooks/pre-commit")] : []),
  ]),
);

const targets: Readonly<Record<string, Targets>> = {
  ...removers,
  ...hookInstallers,
  ...archivers,
  mkdir: everything,
  mkfifo: everything,
  mknod: (args) => operands(args).slice(0, 1),
  touch: everything,
  truncate: everything,
  tee: everything,
  sponge: everything,
  mv: (args) => [...everything(args), ...destination(args), ...settingsIn(operands(args).slice(-1))],
  ln: (args) => [...linked(args), ...glued(args), ...destination(args)],
  // A file with a second name can be written by both.
  cp: (args) => [
    ...destination(args),
    ...(hasOption(args, "rRa", "recursive", "archive") ? settingsIn(operands(args).slice(-1)) : []),
    ...(hasOption(args, "ls", "link", "symbolic-link") ? operands(args).slice(0, -1) : []),
  ],
  link: everything,
  install: destination,
  // With a slash behind it a directory is copied without its name, with files of any name.
  rsync: (args) => [
    ...destination(args),
    ...(args.some(({ text }) => /^--remove-s/.test(text)) ? operands(args) : []),
    ...valuesOf(args, "--backup-dir", "--log-file", "--partial-dir", "--temp-dir", "--write-batch", "--link-dest"),
    ...(operands(args).some(({ text }) => /[^/]\/$/.test(text))
      ? operands(args)
          .slice(-1)
          .map((word) => ({ ...word, text: `${word.text.replace(/\/$/, "")}/settings.json` }))
      : []),
  ],
  scp: destination,
  chmod: withMode,
  chown: afterFirst,
  chgrp: afterFirst,
  chattr: (args) => operands(args).filter(({ text }) => !/^[+=]/.test(text)),
  setfacl: (args) => operandsBeside(args, ["-m", "-x", "-M", "-X", "--modify", "--remove", "--set"]),
  dd: (args) =>
    args
      .filter(({ text }) => text.startsWith("of="))
      // Bash replaces a tilde behind an equals sign, too.
      .map((word) => ({ ...word, text: word.text.slice(3), home: /^of=~(\/|$)/.test(word.text) })),
  sed: sedWrites,
  awk: awkWrites,
  gawk: awkWrites,
  mawk: awkWrites,
  nawk: awkWrites,
  find: (args) => [
    ...(args.some(({ text }) => text === "-delete") ? findRoots(args) : []),
    ...valuesOf(args, "-fprint", "-fprint0", "-fprintf", "-fls"),
  ],
  sort: (args) => [...valuesOf(args, "-o", "--output"), ...clusteredValues(args, "o")],
  shuf: (args) => [...valuesOf(args, "-o", "--output"), ...clusteredValues(args, "o")],
  uniq: (args) => operandsBeside(args, ["-f", "-s", "-w"]).slice(1, 2),
  xxd: (args) => operandsBeside(args, ["-c", "-g", "-l", "-o", "-s"]).slice(1, 2),
  yq: inPlace,
  perl: inPlace,
  patch: (args) => [
    ...operandsBeside(args, ["-i", "-p", "-d", "-o", "-r", "-B", "-F", "--input", "--strip", "--directory"]).slice(
      0,
      1,
    ),
    ...valuesOf(args, "-d", "--directory", "-o", "--output", "-r", "--reject-file"),
    ...clusteredValues(args, "dor"),
  ],
  ...downloaders,
  pandoc: options("-o", "--output"),
  protoc: (args) => [
    ...valuesOf(args, "-o"),
    ...args.flatMap((word) => {
      const path = /^--(?:\w+_out|descriptor_set_out)=(?:[^:]*:)?(.+)$/.exec(word.text)?.[1];
      return path === undefined ? [] : [{ ...word, text: path }];
    }),
  ],
  xmllint: options("-o", "--output"),
  xmlstarlet: (args) => (hasOption(args, "L", "inplace") ? operands(args).slice(-1) : []),
  base64: options("-o", "--output"),
  scc: options("-o", "--output"),
  diffstat: options("-o"),
  cmake: (args) => awayIn(valuesOf(args, "-B", "--prefix")),
  coverage: (args) => awayIn(valuesOf(args, "-d", "--directory", "-o")),
  aria2c: (args) => awayIn(valuesOf(args, "-d", "--dir", "-o", "--out")),
  // Without a second name it writes beside the first.
  pdftotext: (args) =>
    operands(args)
      .slice(-1)
      .filter(({ text }) => text !== "-"),
  mktemp: (args) =>
    [...valuesOf(args, "-p", "--tmpdir"), ...operandsBeside(args, ["-p", "--suffix"])].filter(
      ({ dynamic }) => !dynamic,
    ),
  fallocate: (args) => operandsBeside(args, ["-l", "-o", "--length", "--offset"]).slice(-1),
  rename: (args) => operands(args).slice(1),
  prename: (args) => operands(args).slice(1),
  history: (args) => (hasOption(args, "anrw") ? operands(args) : []),
  split: last,
  csplit: options("-f", "--prefix"),
  // Where it is not the tracker's program it replaces text in files.
  sd: (args) => (isTrackerCall(args) ? [] : operands(args).slice(2)),
  openssl: options("-out", "-keyout"),
  sudoedit: everything,
  ed: operands,
  ex: editors,
  vi: editors,
  vim: editors,
  nvim: editors,
  view: () => [],
  nano: operands,
  pico: operands,
  micro: operands,
  emacs: editors,
  // Files that say what was done, or keep others out.
  strace: options("-o", "--output"),
  ltrace: options("-o", "--output"),
  flock: (args) =>
    operandsBeside(args, ["-w", "--timeout", "-E"])
      .slice(0, 1)
      .filter(({ text }) => !/^\d+$/.test(text)),
  // Writes below the directory it is called in.
  make: (args) => valuesOf(args, "-C", "--directory"),
  npm: (args) => [...valuesOf(args, "--prefix", "-C"), ...awayIn(valuesOf(args, "--pack-destination"))],
  cargo: (args) => [...outputs(args), ...valuesOf(args, "--root")],
  pip: installed,
  pip3: installed,
  docker: mounted,
  podman: mounted,
  ...formatters,
};

/** The files, without what the editor is told to do. */
function editors(args: readonly ShellWord[]): readonly ShellWord[] {
  return operandsBeside(args, ["-c", "--cmd", "-sc", "-esc", "-S", "-s", "-u", "-i", "--eval", "-l"]).filter(
    ({ text }) => !text.startsWith("+"),
  );
}

/** What this program, called so, would write to, delete or move. */
export function targetsOf(called: string, args: readonly ShellWord[]): readonly ShellWord[] {
  const name = plainName(called);
  if (Object.hasOwn(targets, name)) return targets[name]?.(args) ?? [];
  return readOnlyPrograms.includes(name) ? [] : outputs(args);
}

/** What would be gone afterwards, with everything in it. */
export function removedBy(called: string, args: readonly ShellWord[]): readonly ShellWord[] {
  const name = plainName(called);
  return (Object.hasOwn(removers, name) ? removers[name]?.(args) : undefined) ?? [];
}

/** Programs that change who may use what: the worktree may be named whole, what steers agents may not. */
export const setsModes = (name: string): boolean => ["chmod", "chown", "chgrp", "chattr", "setfacl"].includes(name);

/** Is it known which words of this program are files that it writes? For other programs any word may be one. */
export const hasOwnTargets = (name: string): boolean =>
  Object.hasOwn(targets, plainName(name)) && !takeAny.includes(name);

const takeAny = [
  "make",
  "npm",
  "cargo",
  "pip",
  "pip3",
  "terraform",
  "cmake",
  "coverage",
  "aria2c",
  "xmlstarlet",
  ...Object.keys(hookInstallers),
];

/** Where a system has tools of its own, those of GNU have a letter before their names. */
const plainName = (name: string): string =>
  /^g(sed|awk|rm|rmdir|cp|mv|ln|install|tee|touch|mkdir|dd|truncate|chmod|chown|chgrp|find|shred|unlink|link|split|sort|shuf|uniq|mktemp)$/.test(
    name,
  )
    ? name.slice(1)
    : name;

/** Is it known what this program writes to? */
export const isKnownWriter = (name: string): boolean => Object.hasOwn(targets, name) && !carriers.includes(name);

const carriers = [
  "strace",
  "ltrace",
  "flock",
  "cargo",
  "docker",
  "podman",
  "cmake",
  "coverage",
  "lefthook",
  "pre-commit",
];

/** Whatever else it is told, it writes there: nothing may be added to what is known of it. */
export const writesWhereTold = (name: string): boolean =>
  name === "git" || (Object.hasOwn(targets, name) && !builders.includes(name));

const builders = ["make", "npm", "cargo", "pip", "pip3", "docker", "podman", ...Object.keys(formatters)];

/** Programs that make something new where they are told to, and take nothing away. */
export const onlyAdds = (name: string): boolean => ["mkdir", "touch", "tee", "cp", "install"].includes(name);

/** Files that it reads commands from. They must be files that can be looked at. */
export function scriptFiles(name: string, args: readonly ShellWord[]): readonly ShellWord[] {
  if (/^g?make$/.test(name)) return valuesOf(args, "-f", "--file", "--makefile");
  if (/^([gmn]?awk|g?sed)$/.test(name)) return valuesOf(args, "-f", "--file");
  if (/^(just|ninja|rake|ant)$/.test(name)) return valuesOf(args, "-f", "--justfile", "--rakefile", "-buildfile");
  if (/^(task|cmake)$/.test(name)) return valuesOf(args, name === "task" ? "-t" : "-P");
  return readsScript(name) ? [args.find(({ text }) => !/^[-+]/.test(text)) ?? literal("/")] : [];
}

/** Is it a shell, to which its words are a script and what that takes? */
export const readsScript = (name: string): boolean => shells.includes(name) || name === "source" || name === ".";
