import type { FoundCheck, ProjectTexts } from "../gate.ts";

const runners: readonly (readonly [file: string, prefix: string])[] = [
  ["uv.lock", "uv run "],
  ["poetry.lock", "poetry run "],
  ["pdm.lock", "pdm run "],
  ["Pipfile.lock", "pipenv run "],
];

export const pythonFiles: readonly string[] = [
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
export function pythonChecks(texts: ProjectTexts): readonly FoundCheck[] {
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
