import { expect, test } from "bun:test";
import fc from "fast-check";
import { detectGates, gateFiles } from "./gates.ts";

type Files = Readonly<Record<string, string>>;

const brief = (files: Files): string[] =>
  detectGates(new Map(Object.entries(files))).map(({ name, command, from }) => `${name}: ${command} (${from})`);

const pkg = (scripts: unknown, more: object = {}): Files => ({ "package.json": JSON.stringify({ scripts, ...more }) });

const cases: readonly (readonly [promise: string, files: Files, gates: readonly string[]])[] = [
  ["nothing known is no gate", { "README.md": "npm test" }, []],
  ["npm is assumed without a lock file", pkg({ test: "vitest run" }), ["Tests: npm test (package.json)"]],
  [
    "only scripts that exist become gates, in a fixed order",
    pkg({ "check-types": "tsc", lint: "eslint .", start: "node ." }),
    ["Lint: npm run lint (package.json)", "Typecheck: npm run check-types (package.json)"],
  ],
  [
    "a lock file decides the package manager: pnpm",
    { ...pkg({ test: "jest", typecheck: "tsc" }), "pnpm-lock.yaml": "" },
    ["Tests: pnpm run test (package.json)", "Typecheck: pnpm run typecheck (package.json)"],
  ],
  [
    "yarn",
    { ...pkg({ test: "jest", lint: "x" }), "yarn.lock": "" },
    ["Tests: yarn run test (package.json)", "Lint: yarn run lint (package.json)"],
  ],
  [
    "bun, whose own `bun test` would not run the script",
    { ...pkg({ test: "jest" }), "bun.lock": "" },
    ["Tests: bun run test (package.json)"],
  ],
  [
    "the manifest's word counts more than a lock file",
    { ...pkg({ test: "jest" }, { packageManager: "pnpm@9.1.0+sha512.x" }), "package-lock.json": "" },
    ["Tests: pnpm run test (package.json)"],
  ],
  [
    "npm's lock file is often left over beside another",
    { ...pkg({ test: "jest" }), "package-lock.json": "", "yarn.lock": "" },
    ["Tests: yarn run test (package.json)"],
  ],
  [
    "the placeholder of npm init is no test",
    pkg({ test: 'echo "Error: no test specified" && exit 1', lint: "eslint" }),
    ["Lint: npm run lint (package.json)"],
  ],
  ["a script that waits for changes never ends", pkg({ test: "jest --watch", lint: "" }), []],
  ["switched off it does", pkg({ test: "jest --watchAll=false" }), ["Tests: npm test (package.json)"]],
  [
    "a build is a gate only when nothing else is",
    pkg({ build: "vite build" }),
    ["Build: npm run build (package.json)"],
  ],
  ["beside a test it is not", pkg({ build: "tsc", test: "jest" }), ["Tests: npm test (package.json)"]],
  [
    "nor beside a makefile's test",
    { ...pkg({ build: "tsc" }), Makefile: "test:\n\tgo" },
    ["Tests: make test (Makefile)"],
  ],
  ["a broken manifest vouches for nothing", { "package.json": "{" }, []],
  ["nor does one of another shape", { "package.json": "[1]", "composer.json": '{"scripts": "x"}' }, []],
  ["scripts that are no texts are left out", pkg({ test: 1, lint: null, typecheck: {} }), []],
  ["a name every object has is no script", { "package.json": '{"scripts": "test"}' }, []],
  ["cargo tests", { "Cargo.toml": '[package]\nname = "x"\n' }, ["Tests: cargo test (Cargo.toml)"]],
  [
    "a cargo workspace is tested whole, with clippy where it is configured",
    { "Cargo.toml": '[workspace]\nmembers = ["a"]\n[workspace.lints.clippy]\nall = "deny"\n' },
    ["Tests: cargo test --workspace (Cargo.toml)", "Lint: cargo clippy --all-targets --workspace (Cargo.toml)"],
  ],
  ["go tests and vets", { "go.mod": "module x" }, ["Tests: go test ./... (go.mod)", "Lint: go vet ./... (go.mod)"]],
  [
    "a configured linter replaces vet",
    { "go.mod": "module x", ".golangci.yml": "" },
    ["Tests: go test ./... (go.mod)", "Lint: golangci-lint run (.golangci.yml)"],
  ],
  ["a bare pyproject says nothing about tests", { "pyproject.toml": '[project]\nname = "x"\n' }, []],
  [
    "configured python tools",
    { "pyproject.toml": "[tool.pytest.ini_options]\n[tool.ruff]\n[tool.mypy]\n" },
    ["Tests: pytest (pyproject.toml)", "Lint: ruff check (pyproject.toml)", "Typecheck: mypy . (pyproject.toml)"],
  ],
  [
    "a dependency on pytest, in the locked environment",
    { "pyproject.toml": '[dependency-groups]\ndev = ["pytest>=8", "x"]\n', "uv.lock": "" },
    ["Tests: uv run pytest (pyproject.toml)"],
  ],
  [
    "in Poetry's notation",
    { "pyproject.toml": '[tool.poetry.group.dev.dependencies]\npytest = "^8"\n', "poetry.lock": "" },
    ["Tests: poetry run pytest (pyproject.toml)"],
  ],
  ["a plugin of pytest is not pytest, nor is a comment", { "pyproject.toml": 'x = ["pytest-cov"]\n# "pytest"\n' }, []],
  ["tox", { "tox.ini": "[tox]\n[testenv:py]\ncommands = x\n" }, ["Tests: tox (tox.ini)"]],
  [
    "pytest is preferred to a matrix of environments",
    { "tox.ini": "[testenv]\n[pytest]\n[flake8]\n", "poetry.lock": "" },
    ["Tests: poetry run pytest (tox.ini)", "Lint: poetry run flake8 (tox.ini)"],
  ],
  [
    "targets of a makefile",
    { Makefile: ".PHONY: lint\nall: x\nlint test: deps\n\tdo\nvar := 1\n" },
    ["Tests: make test (Makefile)", "Lint: make lint (Makefile)"],
  ],
  [
    "check gathers the others",
    { Makefile: "check: test lint\ntest:\nlint:\n" },
    ["Tests: make test (Makefile)", "Lint: make lint (Makefile)"],
  ],
  ["and stands alone", { makefile: "check:\n\tx\n" }, ["Checks: make check (makefile)"]],
  [
    "a variable or a recipe is no target",
    { Makefile: "test := 1\nlint::= 2\ncheck = 3\n#test:\nall:\n\ttest: x\n" },
    [],
  ],
  [
    "a makefile only adds what the language lacks",
    { ...pkg({ test: "jest" }), Makefile: "test:\nlint:\ncheck:\n" },
    ["Tests: npm test (package.json)", "Lint: make lint (Makefile)"],
  ],
  ["gradle", { "build.gradle.kts": "", gradlew: "" }, ["Tests: ./gradlew check (build.gradle.kts)"]],
  ["gradle without its wrapper", { "build.gradle": "" }, ["Tests: gradle check (build.gradle)"]],
  ["maven", { "pom.xml": "<project/>" }, ["Tests: mvn --batch-mode test (pom.xml)"]],
  ["maven's wrapper", { "pom.xml": "", mvnw: "" }, ["Tests: ./mvnw --batch-mode test (pom.xml)"]],
  ["elixir", { "mix.exs": "" }, ["Tests: mix test (mix.exs)"]],
  [
    "php",
    { "composer.json": '{"scripts": {"test": ["@phpunit", "x"], "lint": []}}' },
    ["Tests: composer run-script test (composer.json)"],
  ],
  [
    "two languages have two kinds of tests, told apart by name",
    { ...pkg({ test: "jest" }), "Cargo.toml": "" },
    ["Tests: npm test (package.json)", "Tests (Cargo.toml): cargo test (Cargo.toml)"],
  ],
];

test.each(cases)("%s", (_promise, files, gates) => {
  expect(brief(files)).toEqual([...gates]);
});

test("every gate says what it proves", () => {
  const [gate] = detectGates(new Map([["Cargo.toml", ""]]));
  expect(gate?.description).toBe("All tests pass");
});

test("whatever stands in the files, gates have names of their own and come from a file that is there", () => {
  const texts = fc.dictionary(
    fc.constantFrom(...gateFiles),
    fc.oneof(fc.string(), fc.json(), fc.constant("[testenv]")),
  );
  fc.assert(
    fc.property(texts, (files) => {
      const gates = detectGates(new Map(Object.entries(files)));
      expect(new Set(gates.map(({ name }) => name)).size).toBe(gates.length);
      for (const { from, command } of gates) {
        expect(Object.keys(files)).toContain(from);
        expect(command).toMatch(/^[\w./ :-]+$/);
      }
    }),
  );
});
