import {
  clusteredValues,
  hasOption,
  literal,
  operands,
  operandsBeside,
  type ShellWord,
  valuesOf,
} from "./shell/syntax.ts";

type Targets = (args: readonly ShellWord[]) => readonly ShellWord[];

/** What `tar` is told to do: by letters with or without a dash, or by a long option. */
export function tarMode(args: readonly ShellWord[]): "c" | "x" | "t" | undefined {
  const [first] = args;
  const bundle = first !== undefined && !first.text.startsWith("-") && /^[a-zA-Z]+$/.test(first.text) ? first.text : "";
  for (const letter of ["x", "t", "c"] as const) if (bundle.includes(letter)) return letter;
  if (hasOption(args, "x", "extract", "get")) return "x";
  if (hasOption(args, "t", "list", "diff")) return "t";
  return hasOption(args, "crAu", "create", "append", "update", "concatenate") ? "c" : undefined;
}

/** `tar` writes the archive, or unpacks it, in its own directory or in the one behind `-C`. */
const tar: Targets = (args) => {
  const [first] = args;
  const bundle = first !== undefined && /^[a-zA-Z]*f[a-zA-Z]*$/.test(first.text) && !first.text.startsWith("-");
  const glued = args.flatMap((word, at) => (/^-[a-zA-Z]*f$/.test(word.text) ? [args[at + 1] ?? literal("/")] : []));
  const archive = [...bundled(args, "f"), ...glued, ...valuesOf(args, "--file", "-f"), ...clusteredValues(args, "f")];
  const where = [
    ...bundled(args, "C"),
    ...valuesOf(args, "-C", "--directory", "--one-top-level"),
    ...clusteredValues(args, "C"),
  ];
  if (tarMode(args) === "t") return [];
  const isTaken = args.some(({ text }) => /^--remove/.test(text));
  if (tarMode(args) === "c") return [...archive, ...(isTaken ? [...where, ...operands(args)] : [])];
  // Names in the archive that begin with a slash would lead anywhere.
  const anywhere =
    hasOption(args, "P", "absolute-names") ||
    (bundle && first.text.includes("P")) ||
    valuesOf(args, "--transform", "--xform").some(({ text }) => climbs.test(text));
  // The archive's contents are unknown: where settings of agents may lie, it may hold some.
  return anywhere ? [literal("/")] : where.flatMap(withSettings);
};

/** A replacement that puts files at the root, or above where they are unpacked. */
const climbs = /s([^\w\s\\]).*?\1(\/|.*\.\.)/;

const withSettings = (word: ShellWord): readonly ShellWord[] => [word, { ...word, text: `${word.text}/settings.json` }];

/** Letters without a dash take their values from the words behind them, in the order of the letters. */
function bundled(args: readonly ShellWord[], letter: string): readonly ShellWord[] {
  const [first, ...rest] = args;
  if (first === undefined || !/^[a-zA-Z]+$/.test(first.text)) return [];
  const at = [...first.text].filter((each) => "fCbTXIKgFHLNV".includes(each)).indexOf(letter);
  return at < 0 ? [] : rest.slice(at, at + 1);
}

/** Options of `tar` with which it runs another program. */
export const tarRuns = (args: readonly ShellWord[]): boolean =>
  args.some(({ text }, at) => {
    if (/^(-F|--(to-c|checkpoint-a|info-s|new-v|rsh|rmt))/.test(text)) return true;
    const filter = /^(-[a-zA-Z]*I|--use-c[a-z-]*)$/.test(text)
      ? (args[at + 1]?.text ?? "")
      : (/^(?:-I|--use-c[a-z-]*=)(.+)$/.exec(text)?.[1] ?? "");
    return filter !== "" && !/^(gzip|pigz|bzip2|pbzip2|xz|pixz|zstd|zstdmt|lz4)( -[\w-]+)*$/.test(filter);
  });

/** They put a file into the place of another, with a name of their own beside it. */
const compress: Targets = (args) => {
  const told = valuesOf(args, "-o", "--output-dir-flat");
  const prints = hasOption(args, "clt", "stdout", "to-stdout", "list", "test");
  return [...told, ...(prints ? [] : operandsBeside(args, ["-o", "-S", "--suffix", "-T", "-B"]))];
};

const sevenZip: Targets = (args) => {
  const [verb, archive] = operands(args);
  if (/^[lt]$/.test(verb?.text ?? "")) return [];
  const out = args
    .filter(({ text }) => /^-o./.test(text))
    .map((word) => ({ ...word, text: word.text.slice(2), home: false }))
    .flatMap(withSettings);
  if (args.some(({ text }) => text === "-sdel")) return [...out, ...operands(args).slice(1)];
  return /^[ex]$/.test(verb?.text ?? "") ? out : [...out, ...(archive === undefined ? [] : [archive])];
};

/** Programs that pack and unpack, with what they write to. */
export const archivers: Readonly<Record<string, Targets>> = {
  tar,
  gtar: tar,
  bsdtar: tar,
  gzip: compress,
  gunzip: compress,
  bzip2: compress,
  bunzip2: compress,
  xz: compress,
  unxz: compress,
  zstd: compress,
  unzstd: compress,
  lz4: compress,
  compress,
  uncompress: compress,
  // With -m the files are gone afterwards.
  zip: (args) =>
    hasOption(args, "", "show-files") ? [] : hasOption(args, "m", "move") ? operands(args) : operands(args).slice(0, 1),
  // With a colon among its letters it also follows names in the archive that lead out.
  unzip: (args) =>
    hasOption(args, "lptvZ")
      ? []
      : [
          ...[...valuesOf(args, "-d"), ...clusteredValues(args, "d")].flatMap(withSettings),
          ...(args.some(({ text }) => /^-\w*:/.test(text)) ? [literal("/")] : []),
        ],
  "7z": sevenZip,
  "7za": sevenZip,
  "7zz": sevenZip,
  cpio: (args) => [
    ...valuesOf(args, "-D", "--directory", "-O", "-F", "--file"),
    // Which files would get second names stands on the input.
    ...(hasOption(args, "p", "pass-through") && hasOption(args, "l", "link") ? [literal("/")] : []),
    ...(hasOption(args, "p", "pass-through") ? operandsBeside(args, ["-D", "-O", "-F", "-H", "-R"]) : []),
  ],
  ar: (args) => [...valuesOf(args, "--output"), ...(/^-?\w*[tpx]/.test(args[0]?.text ?? "") ? [] : args.slice(1, 2))],
  unrar: (args) => (/^[lvtp]/.test(args[0]?.text ?? "") ? [] : operands(args).slice(2)),
  jar: tar,
  pax: (args) => (hasOption(args, "w") ? valuesOf(args, "-f") : operands(args).slice(hasOption(args, "r") ? 99 : 0)),
  unar: (args) => valuesOf(args, "-o", "-output-directory"),
};
