import { composerChecks, lockFiles, nodeChecks } from "./node-checks.ts";

/** What a command checks. The kind decides the gate's name, so that the same check is found once. */
export type GateKind = "tests" | "lint" | "types" | "checks" | "build";

/** A sign in the project that a command would check something. */
export interface FoundCheck {
  readonly kind: GateKind;
  readonly command: string;
  /** The file that says so. */
  readonly from: string;
}

/** A quality gate as it would stand in the configuration, with the file it was read from. */
export interface DetectedGate {
  readonly name: string;
  readonly command: string;
  readonly description: string;
  readonly from: string;
}

/** Texts of files at the top of the project, by file name. A file that only has to exist may be empty. */
export type ProjectTexts = ReadonlyMap<string, string>;

/**
 * The quality gates a project already has. Only commands that something in the project vouches for: a gate that cannot
 * pass keeps all work from landing, so none is better than a guess.
 */
export function detectGates(texts: ProjectTexts): readonly DetectedGate[] {
  const native = ecosystems.flatMap((checksIn) => checksIn(texts));
  const covered = new Set(native.filter(({ kind }) => kind !== "build").map(({ kind }) => kind));
  const found = [...native, ...makeChecks(texts, covered)];
  const proving = found.filter(({ kind }) => kind !== "build");
  return named(proving.length > 0 ? proving : found);
}

const ecosystems: readonly ((texts: ProjectTexts) => readonly FoundCheck[])[] = [
  nodeChecks,
  pythonChecks,
  rustChecks,
  goChecks,
  javaChecks,
  mixChecks,
  composerChecks,
];

const words: Readonly<Record<GateKind, { readonly name: string; readonly description: string }>> = {
  tests: { name: "Tests", description: "All tests pass" },
  lint: { name: "Lint", description: "The linter has no complaint" },
  types: { name: "Typecheck", description: "The type checker has no complaint" },
  checks: { name: "Checks", description: "All checks of the project pass" },
  build: { name: "Build", description: "The project builds" },
};

/** In a project of two languages there are two kinds of tests; the file tells them apart. */
function named(found: readonly FoundCheck[]): readonly DetectedGate[] {
  const taken = new Set<string>();
  return found.map(({ kind, command, from }) => {
    const { name, description } = words[kind];
    const own = taken.has(name) ? `${name} (${from})` : name;
    taken.add(own);
    return { name: own, command, description, from };
  });
}

/** Cargo has tests built in; clippy is an extra, so only where the project configures it. */
function rustChecks(texts: ProjectTexts): readonly FoundCheck[] {
  const from = "Cargo.toml";
  const manifest = texts.get(from);
  if (manifest === undefined) return [];
  const scope = /^\[workspace\b/m.test(manifest) ? " --workspace" : "";
  const tests: FoundCheck = { kind: "tests", command: `cargo test${scope}`, from };
  const lints =
    texts.has("clippy.toml") || texts.has(".clippy.toml") || /^\[(workspace\.)?lints\.clippy\b/m.test(manifest);
  return lints ? [tests, { kind: "lint", command: `cargo clippy --all-targets${scope}`, from }] : [tests];
}

/** Go has tests and vet built in. */
function goChecks(texts: ProjectTexts): readonly FoundCheck[] {
  if (!texts.has("go.mod")) return [];
  const linter = [".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"].find((file) =>
    texts.has(file),
  );
  return [
    { kind: "tests", command: "go test ./...", from: "go.mod" },
    linter === undefined
      ? { kind: "lint", command: "go vet ./...", from: "go.mod" }
      : { kind: "lint", command: "golangci-lint run", from: linter },
  ];
}

/** The wrapper a project ships is the version it is built with. `check` of Gradle includes the tests. */
function javaChecks(texts: ProjectTexts): readonly FoundCheck[] {
  const gradle = ["build.gradle", "build.gradle.kts"].find((file) => texts.has(file));
  if (gradle !== undefined) {
    const program = texts.has("gradlew") ? "./gradlew" : "gradle";
    return [{ kind: "tests", command: `${program} check`, from: gradle }];
  }
  if (!texts.has("pom.xml")) return [];
  const program = texts.has("mvnw") ? "./mvnw" : "mvn";
  return [{ kind: "tests", command: `${program} --batch-mode test`, from: "pom.xml" }];
}

function mixChecks(texts: ProjectTexts): readonly FoundCheck[] {
  return texts.has("mix.exs") ? [{ kind: "tests", command: "mix test", from: "mix.exs" }] : [];
}

/** In the order in which make looks for them. */
export const makefileNames = ["GNUmakefile", "makefile", "Makefile"] as const;

const targets: readonly (readonly [kind: GateKind, target: string])[] = [
  ["tests", "test"],
  ["lint", "lint"],
];

/**
 * Targets that check something nothing else checks: a makefile mostly wraps the commands of the language. `check`
 * usually gathers the others, so it stands alone.
 */
function makeChecks(texts: ProjectTexts, covered: ReadonlySet<GateKind>): readonly FoundCheck[] {
  const from = makefileNames.find((name) => texts.has(name));
  if (from === undefined) return [];
  const defined = targetsOf(texts.get(from) ?? "");
  const found = targets
    .filter(([kind, target]) => defined.has(target) && !covered.has(kind))
    .map(([kind, target]) => ({ kind, command: `make ${target}`, from }));
  if (found.length === 0 && covered.size === 0 && defined.has("check")) {
    return [{ kind: "checks", command: "make check", from }];
  }
  return found;
}

/** Names before the colon of a rule; `name := value` is a variable, and a recipe starts with a tab. */
function targetsOf(makefile: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const line of makefile.split("\n")) {
    const rule = /^([^\s:=#][^:=#]*?)\s*(?!:{1,3}=)::?/.exec(line)?.[1];
    for (const name of rule?.split(/\s+/) ?? []) names.add(name);
  }
  return names;
}

const runners: readonly (readonly [file: string, prefix: string])[] = [
  ["uv.lock", "uv run "],
  ["poetry.lock", "poetry run "],
  ["pdm.lock", "pdm run "],
  ["Pipfile.lock", "pipenv run "],
];

const pythonFiles: readonly string[] = [
  "pyproject.toml",
  "setup.cfg",
  "tox.ini",
  "pytest.ini",
  "conftest.py",
  "ruff.toml",
  ".ruff.toml",
  ".flake8",
  "mypy.ini",
  ".mypy.ini",
  "pyrightconfig.json",
  ...runners.map(([file]) => file),
];

type Sign = readonly [file: string, sign?: RegExp];

interface Tool {
  readonly kind: FoundCheck["kind"];
  readonly command: string;
  /** Runs in environments of its own, so no runner goes before it. */
  readonly alone?: boolean;
  /** Any of these says that the project uses it. Without a pattern the file alone does. */
  readonly signs: readonly Sign[];
}

/** A package among the dependencies, in the notation of PEP 508 or of Poetry; `pytest-cov` is not `pytest`. */
const dependency = (name: string): RegExp =>
  new RegExp(`["']${name}(\\[[^\\]]*\\])?\\s*["'<>=!~;@ ]|^${name}\\s*=`, "m");

/** Of several tools for one kind the first that is in use is taken. */
const tools: readonly Tool[] = [
  {
    kind: "tests",
    command: "pytest",
    signs: [
      ["pyproject.toml", /^\[tool\.pytest\b/m],
      ["pyproject.toml", dependency("pytest")],
      ["pytest.ini"],
      ["setup.cfg", /^\[tool:pytest\]/m],
      ["tox.ini", /^\[pytest\]/m],
      ["conftest.py"],
    ],
  },
  {
    kind: "tests",
    command: "tox",
    alone: true,
    signs: [
      ["tox.ini", /^\[testenv\b/m],
      ["pyproject.toml", /^\[tool\.tox\b/m],
    ],
  },
  {
    kind: "lint",
    command: "ruff check",
    signs: [["ruff.toml"], [".ruff.toml"], ["pyproject.toml", /^\[tool\.ruff\b/m]],
  },
  {
    kind: "lint",
    command: "flake8",
    signs: [[".flake8"], ["setup.cfg", /^\[flake8\]/m], ["tox.ini", /^\[flake8\]/m]],
  },
  {
    kind: "types",
    command: "mypy .",
    signs: [["mypy.ini"], [".mypy.ini"], ["setup.cfg", /^\[mypy\]/m], ["pyproject.toml", /^\[tool\.mypy\b/m]],
  },
  {
    kind: "types",
    command: "pyright",
    signs: [["pyrightconfig.json"], ["pyproject.toml", /^\[tool\.(based)?pyright\b/m]],
  },
];

/** The Python tools a project configures, run inside its locked environment when it has one. */
function pythonChecks(texts: ProjectTexts): readonly FoundCheck[] {
  const prefix = runners.find(([file]) => texts.has(file))?.[1] ?? "";
  const found: FoundCheck[] = [];
  for (const { kind, command, alone, signs } of tools) {
    if (found.some((check) => check.kind === kind)) continue;
    const sign = signs.find(([file, pattern]) => shows(texts.get(file), pattern));
    if (sign !== undefined) found.push({ kind, command: alone === true ? command : prefix + command, from: sign[0] });
  }
  return found;
}

function shows(text: string | undefined, pattern: RegExp | undefined): boolean {
  if (text === undefined) return false;
  return pattern === undefined || pattern.test(text.replaceAll(/^\s*[#;].*$/gm, ""));
}

/** The files whose texts decide; everything else in a project is of no interest here. */
export const gateFiles: readonly string[] = [
  "package.json",
  ...lockFiles,
  "composer.json",
  ...pythonFiles,
  "Cargo.toml",
  "clippy.toml",
  ".clippy.toml",
  "go.mod",
  ".golangci.yml",
  ".golangci.yaml",
  ".golangci.toml",
  ".golangci.json",
  "build.gradle",
  "build.gradle.kts",
  "gradlew",
  "pom.xml",
  "mvnw",
  "mix.exs",
  ...makefileNames,
];
