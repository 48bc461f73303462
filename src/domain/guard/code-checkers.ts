import type { TestRunner } from "./test-runners.ts";

interface CodeCheckers {
  readonly codeCheckers: Readonly<Record<string, readonly TestRunner[]>>;
  /** Those that an interpreter is given as a module: `python -m mypy`. */
  readonly moduleCheckers: Readonly<Record<string, readonly TestRunner[]>>;
}

let known: CodeCheckers | undefined;

/** Made when it is first asked for, as the test runners are. */
export function knownCheckers(): CodeCheckers {
  known ??= makeCheckers();
  return known;
}

function makeCheckers(): CodeCheckers {
  const name = /^[\w.,:/@*-]+$/;
  const takenBack = /--(noEmit|showConfig|listFilesOnly) (false|null)\b/;

  const ruff: readonly TestRunner[] = [
    {
      begins: [/^check$/],
      flags: /^(-q|--(quiet|no-cache|no-fix|diff|statistics|show-fixes|preview))$/,
      values: ["--select", "--ignore", "--extend-select", "--output-format"],
      form: { value: name },
    },
    { begins: [/^format$/], flags: /^(-q|--(quiet|check|diff|no-cache))$/, values: [], needs: /^--(check|diff)$/ },
  ];
  const onlyShows = (flags: RegExp, needs: RegExp): TestRunner => ({ begins: [], flags, values: ["-l"], needs });
  const black = onlyShows(/^(-q|--(check|diff|quiet|color|no-color))$/, /^--(check|diff)$/);
  const isort = onlyShows(/^(-c|-q|--(check|check-only|diff|quiet))$/, /^(-c|--(check|check-only|diff))$/);
  const plain = (flags: RegExp, ...values: readonly string[]): TestRunner => ({
    begins: [],
    flags,
    values,
    form: { value: name },
  });
  const mypy = plain(
    /^(-v|--(strict|pretty|no-pretty|show-error-codes|show-error-context|no-error-summary|ignore-missing-imports|no-incremental|check-untyped-defs))$/,
    "--python-version",
    "--follow-imports",
  );
  const flake8 = plain(
    /^(-q|--(statistics|count|show-source|benchmark))$/,
    "--select",
    "--ignore",
    "--max-line-length",
  );
  const pylint = plain(
    /^(-E|--errors-only|--(score|reports)=\w+)$/,
    "--disable",
    "--enable",
    "-d",
    "-e",
    "--jobs",
    "-j",
  );

  const cargoFlags =
    /^(-q|--|-v|--(quiet|workspace|all|all-targets|all-features|no-default-features|release|lib|bins|tests|offline|locked|frozen|no-deps|message-format=\w+))$/;

  /**
   * Programs that check code and print what they found, with the options by which they change nothing. They may leave a cache
   * where they stand, as tests do.
   */
  const codeCheckers: Readonly<Record<string, readonly TestRunner[]>> = {
    tsc: [
      {
        begins: [],
        flags:
          /^--(noEmit|pretty|skipLibCheck|strict|listFiles|listFilesOnly|showConfig|incremental=false|pretty=false)$/,
        values: ["-p", "--project"],
        needs: /^--(noEmit|showConfig|listFilesOnly)$/,
        unless: takenBack,
      },
    ],
    eslint: [
      plain(
        /^--(quiet|no-color|color|max-warnings=\d+|no-warn-ignored|no-error-on-unmatched-pattern|format=(stylish|json|unix))$/,
        "--ext",
        "--max-warnings",
      ),
    ],
    oxlint: [plain(/^--(quiet|deny-warnings)$/)],
    prettier: [
      onlyShows(/^(-[cl]|--(check|list-different|no-color|ignore-unknown))$/, /^(-[cl]|--(check|list-different))$/),
    ],
    stylelint: [plain(/^--(quiet|no-color)$/)],
    biome: [
      { begins: [/^(check|lint|ci|format)$/], flags: /^--(no-errors-on-unmatched|colors=off|changed)$/, values: [] },
    ],
    standard: [plain(/^--verbose$/)],
    xo: [plain(/^--quiet$/)],
    "vue-tsc": [
      {
        begins: [],
        flags: /^--(noEmit|skipLibCheck)$/,
        values: ["-p", "--project"],
        needs: /^--noEmit$/,
        unless: takenBack,
      },
    ],
    "svelte-check": [plain(/^--(fail-on-warnings|no-tsconfig)$/, "--tsconfig", "--threshold", "--output")],
    knip: [plain(/^--(production|strict|include-libs|no-progress)$/)],
    markdownlint: [plain(/^(-q|--quiet)$/)],
    ruff,
    black: [black],
    isort: [isort],
    mypy: [mypy],
    pyright: [plain(/^--(stats|warnings|outputjson)$/, "-p", "--project")],
    basedpyright: [plain(/^--(stats|warnings|outputjson)$/, "-p", "--project")],
    flake8: [flake8],
    pylint: [pylint],
    pyflakes: [plain(/^$/)],
    pycodestyle: [plain(/^--(statistics|show-source)$/, "--max-line-length")],
    bandit: [plain(/^-[rqlix]+$/)],
    shellcheck: [plain(/^(-[xaC]+|--norc)$/, "-s", "-S", "-e", "-i", "-f")],
    shfmt: [onlyShows(/^-[dl]+$/, /^-[dl]+$/)],
    yamllint: [plain(/^(-s|--strict)$/, "-f")],
    hadolint: [plain(/^--no-color$/)],
    actionlint: [plain(/^-(no-color|verbose)$/)],
    gofmt: [{ begins: [], flags: /^-[ldes]+$/, values: [] }],
    goimports: [{ begins: [], flags: /^-[lde]+$/, values: [] }],
    staticcheck: [{ begins: [], flags: /^-(f=\w+|tests=\w+)$/, values: [], form: { word: /^\.($|\/)/ } }],
    "golangci-lint": [
      { begins: [/^run$/], flags: /^(-v|--fast|--new)$/, values: ["--timeout"], form: { word: /^\.($|\/)/ } },
    ],
    go: [
      { begins: [/^vet$/], flags: /^(-v|-json)$/, values: ["-tags"], form: { word: /^\.($|\/)/ } },
      { begins: [/^(list|doc)$/], flags: /^-(m|json|deps|test|all|short|u)$/, values: ["-f"], words: "names" },
      { begins: [/^list$/], flags: /^-(json|deps|test)$/, values: [], form: { word: /^\.($|\/)/ } },
      { begins: [/^mod$/, /^(graph|why|verify)$/], flags: /^-m$/, values: [], words: "names" },
    ],
    cargo: [
      {
        begins: [/^(check|clippy)$/],
        flags: cargoFlags,
        values: ["-p", "--package", "--features", "-D", "-W", "-A", "--bin", "--example", "--test"],
        words: "none",
        form: { value: /^[\w:,./-]+$/ },
      },
      { begins: [/^fmt$/], flags: /^(--|--all|--check|-v|-q)$/, values: ["-p"], words: "none", needs: /^--check$/ },
      {
        begins: [/^(tree|metadata)$/],
        flags: /^(-[ied]|--(no-deps|format-version=1|duplicates|offline|locked|all-features|workspace))$/,
        values: ["-p", "--package", "-i", "--invert", "--depth", "--format-version"],
        words: "none",
      },
    ],
    rubocop: [plain(/^(--parallel|--lint|-L|--display-cop-names|--no-color)$/, "--only", "--except")],
    phpstan: [{ begins: [/^analy[sz]e$/], flags: /^--(no-progress|no-interaction)$/, values: ["-l", "--level"] }],
    psalm: [plain(/^--(no-cache|no-progress|show-info=\w+)$/)],
    phpcs: [plain(/^-[psnv]+$/)],
    swiftlint: [{ begins: [/^lint$/], flags: /^--(strict|quiet)$/, values: [] }],
    ktlint: [plain(/^--relative$/)],
    "clang-tidy": [plain(/^--quiet$/)],
    cppcheck: [plain(/^(-q|--quiet|--enable=[\w,]+|--std=[\w+]+)$/)],
    terraform: [
      { begins: [/^validate$/], flags: /^-(no-color|json)$/, values: [] },
      { begins: [/^fmt$/], flags: /^-(check|diff|no-color|recursive)$/, values: [], needs: /^-check$/ },
    ],
    deno: [
      { begins: [/^check$/], flags: /^(-q|--(quiet|all))$/, values: [] },
      { begins: [/^lint$/], flags: /^(-q|--(quiet|json|compact))$/, values: [] },
      { begins: [/^fmt$/], flags: /^(-q|--(quiet|check))$/, values: [], needs: /^--check$/ },
    ],
    mix: [
      { begins: [/^format$/], flags: /^--check-formatted$/, values: [], needs: /^--check-formatted$/ },
      { begins: [/^(credo|dialyzer)$/], flags: /^--(strict|quiet)$/, values: [] },
    ],
    dotnet: [
      { begins: [/^format$/], flags: /^--(verify-no-changes|no-restore)$/, values: [], needs: /^--verify-no-changes$/ },
    ],
  };

  /** Those that an interpreter is given as a module: `python -m mypy`. */
  const moduleCheckers: Readonly<Record<string, readonly TestRunner[]>> = {
    mypy: [mypy],
    flake8: [flake8],
    pylint: [pylint],
    black: [black],
    isort: [isort],
    ruff,
  };
  return { codeCheckers, moduleCheckers };
}
