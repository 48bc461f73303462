import { clusteredValues, literal, operands, type ShellWord, valuesOf } from "./shell/syntax.ts";

/** The words of a call that are files which it writes to. */
type Targets = (args: readonly ShellWord[]) => readonly ShellWord[];

export const last: Targets = (args) => operands(args).slice(1).slice(-1);

const curlFiles = `-o --output --output-dir -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --etag-save
  --hsts --alt-svc --libcurl`.split(/\s+/);
const wgetFiles = `-O --output-document -P --directory-prefix -o --output-file -a --append-output --save-cookies
  --warc-file --rejected-log`.split(/\s+/);

/** Files in the text by which curl says what to print at the end. */
const shownByCurl: Targets = (args) =>
  valuesOf(args, "-w", "--write-out").flatMap(({ text }) =>
    [...text.matchAll(/%output\{(?:>>)?([^}]*)\}/g)].map(([, path = ""]) => literal(path)),
  );

/** A line of the settings file of wget. */
const wgetSettings: Targets = (args) =>
  valuesOf(args, "-e", "--execute").map((word) => ({
    ...word,
    text: word.text.slice(word.text.indexOf("=") + 1).trim(),
  }));

/** Addresses of socat that are files. */
const socatFiles: Targets = (args) =>
  args.flatMap((word) => {
    const path = /^(?:FILE|OPEN|GOPEN|CREATE|CREAT|PIPE|UNIX-L(?:ISTEN)?|UNIX-RECV\w*):([^,]+)/i.exec(word.text)?.[1];
    return path === undefined ? [] : [{ ...word, text: path }];
  });

/** Programs that bring something from elsewhere, with what they write to. */
export const downloaders: Readonly<Record<string, Targets>> = {
  curl: (args) =>
    [...valuesOf(args, ...curlFiles), ...clusteredValues(args, "oDc"), ...shownByCurl(args)].filter(
      ({ text }) => text !== "-",
    ),
  wget: (args) => [...valuesOf(args, ...wgetFiles), ...clusteredValues(args, "OPoa"), ...wgetSettings(args)],
  socat: socatFiles,
};

/** Only what leads away from where it stands: everything else is in the worktree. */
export const awayIn = (words: readonly ShellWord[]): readonly ShellWord[] =>
  words.filter(({ text, home }) => home || /^\/|(^|\/)\.\.(\/|$)/.test(text));

/** Programs that bring files into shape where they lie: always, or when they are told to. */
const formats =
  (told?: RegExp): Targets =>
  (args) => {
    const isTold =
      told === undefined ? !args.some(({ text }) => onlyChecks.test(text)) : args.some(({ text }) => told.test(text));
    return [...outputs(args), ...(isTold ? awayIn(operands(args)) : [])];
  };
const onlyChecks = /^(--(check|check-only|diff|dry-run|stdout|list-different|output)(=.*)?|-c|-n)$/;
const inPlaceOption = /^(-[a-zA-Z]*[iw]|--(in-?place|write|fix|autocorrect(-all)?|fix-only|auto-correct))(=|$)/;

const formatsBy: Readonly<Record<string, RegExp>> = {
  ruff: /^(format|--fix)$/,
  terraform: /^fmt$/,
  rubocop: /^(-[aAx]|--(auto-?correct|autocorrect-all|fix-layout))/,
};

export const formatters: Readonly<Record<string, Targets>> = Object.fromEntries([
  ...`black isort rustfmt autoflake pyupgrade strip jpegoptim optipng stylua csharpier swiftformat astyle`
    .split(" ")
    .map((name) => [name, formats()] as const),
  ...`golangci-lint prettier eslint biome gofmt goimports gofumpt shfmt clang-format autopep8 yapf stylelint rubocop standard xo oxlint ruff
    markdownlint ktlint uncrustify google-java-format scalafmt ormolu terraform cmake-format taplo dprint`
    .split(/\s+/)
    .map((name) => [name, formats(formatsBy[name] ?? inPlaceOption)] as const),
  ...["convert", "magick", "ffmpeg", "sox", "pngquant"].map((name) => [name, last] as const),
  // With -n the second of two names is written.
  ...["dos2unix", "unix2dos"].map((name) => [name, (args: readonly ShellWord[]) => awayIn(operands(args))] as const),
]);

/** The options by which many programs are told which file to write. Only files outside of the directory of the command count. */
export const outputs: Targets = (args) =>
  valuesOf(
    args,
    "-o",
    "--output",
    "--out",
    "--outfile",
    "--output-file",
    "--out-dir",
    "--outDir",
    "--output-dir",
    ...reports,
  ).filter(({ text, home }) => home || /^\/|(^|\/)\.\.(\/|$)/.test(text));

const reports =
  `--target-dir --outputFile --junitxml --junit-xml --export-json --export-csv --export-markdown --basetemp --dest
  --destination --outdir --out_dir --install-dir --cpu-prof-dir --diagnostic-dir --report-dir --report-directory
  --redirect-warnings --html-report`.split(/\s+/);

/** Where packages are to lie, beside the place that is meant for them. */
export function installed(args: readonly ShellWord[]): readonly ShellWord[] {
  const fetched = /^(download|wheel)$/.test(args[0]?.text ?? "")
    ? valuesOf(args, "-d", "--dest", "-w", "--wheel-dir")
    : [];
  return [...valuesOf(args, "-t", "--target", "--prefix", "--root"), ...fetched];
}

/** Directories of this machine that a container may write to; other names are volumes of its own. */
export function mounted(args: readonly ShellWord[]): readonly ShellWord[] {
  const bound = valuesOf(args, "--mount").flatMap((word) => {
    const source = /(?:^|,)(?:source|src)=([^,]+)/.exec(word.text)?.[1];
    return source === undefined ? [] : [{ ...word, text: source }];
  });
  const volumes = valuesOf(args, "-v", "--volume")
    .filter(({ text }) => !/:ro(,|$)/.test(text))
    .map((word) => ({ ...word, text: word.text.replace(/:.*$/s, "") }));
  const packed = /^(save|export|build|buildx)$/.test(args[0]?.text ?? "") ? valuesOf(args, "-o", "--output") : [];
  const written = packed.map((word) => ({ ...word, text: word.text.replace(/^.*\bdest=([^,]*).*$/, "$1") }));
  const copied = args[0]?.text === "cp" ? operands(args).slice(2).slice(-1) : [];
  return [...bound, ...volumes, ...copied, ...written]
    .map(atHome)
    .filter(({ text, dynamic, home }) => !dynamic && (home || /^[./]/.test(text)));
}

/** The home by its variable is the home by its tilde. */
function atHome(word: ShellWord): ShellWord {
  const [whole] = /^\$(?:HOME|\{HOME\})(?=\/|$)/.exec(word.text) ?? [];
  return whole === undefined
    ? word
    : { ...word, text: `~${word.text.slice(whole.length)}`, dynamic: false, home: true };
}
