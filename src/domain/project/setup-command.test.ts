import { expect, test } from "bun:test";
import { setupCommand } from "./setup-command.ts";

const needing = JSON.stringify({ scripts: { test: "vitest run" }, devDependencies: { vitest: "3" } });

function proposed(
  files: Readonly<Record<string, string>>,
  gates: readonly string[],
  has: (program: string) => boolean = () => true,
): string | undefined {
  return setupCommand({ texts: new Map(Object.entries(files)), gates, has })?.command;
}

test.each([
  ["package-lock.json", "", "npm test", "npm ci"],
  ["npm-shrinkwrap.json", "", "npm run lint", "npm ci"],
  ["pnpm-lock.yaml", "", "pnpm run test", "pnpm install --frozen-lockfile"],
  ["bun.lock", "", "bun run test", "bun install --frozen-lockfile"],
  ["bun.lockb", "", "bun test", "bun install --frozen-lockfile"],
  ["yarn.lock", "# yarn lockfile v1\n", "yarn run test", "yarn install --frozen-lockfile"],
])("%s of a project whose gates need its packages", (lock, text, gate, command) => {
  expect(proposed({ "package.json": needing, [lock]: text }, [gate])).toBe(command);
});

test.each([
  [undefined, "npm test", "npm install --no-package-lock"],
  ["pnpm@9.1.0", "pnpm run test", "pnpm install --no-lockfile"],
  ["bun@1.2.0", "bun run test", "bun install --no-save"],
  ["yarn@4.0.0", "yarn run test", undefined],
])("without a lock file (packageManager %p) the gates need packages all the same", (packageManager, gate, command) => {
  const manifest = JSON.stringify({ ...JSON.parse(needing), packageManager });
  expect(proposed({ "package.json": manifest }, [gate])).toBe(command);
});

test("a later yarn is proposed only where it installs into node_modules", () => {
  const files = { "package.json": needing, "yarn.lock": "__metadata:\n  version: 8\n" };
  expect(proposed(files, ["yarn run test"])).toBeUndefined();
  expect(proposed({ ...files, ".yarnrc.yml": "nodeLinker: node-modules\n" }, ["yarn run test"])).toBe(
    "yarn install --immutable",
  );
});

test.each([
  ["uv.lock", "uv run pytest", "uv sync --frozen"],
  ["poetry.lock", "poetry run pytest", "POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction"],
])("%s of a Python project", (lock, gate, command) => {
  expect(proposed({ "pyproject.toml": "", [lock]: "" }, [gate])).toBe(command);
});

test("two languages are installed one after the other", () => {
  const files = { "package.json": needing, "package-lock.json": "", "pyproject.toml": "", "uv.lock": "" };
  expect(proposed(files, ["npm test", "uv run pytest"])).toBe("npm ci && uv sync --frozen");
});

test("a gate behind make counts when the makefile runs the tool", () => {
  const files = { "package.json": needing, "package-lock.json": "", Makefile: "test:\n\tnpx vitest run\n" };
  expect(proposed(files, ["make test"])).toBe("npm ci");
  expect(proposed({ ...files, Makefile: "test:\n\tgo test ./...\n" }, ["make test"])).toBeUndefined();
});

test("nothing is proposed that the gates do not need, or that cannot run", () => {
  const locked = { "package.json": needing, "package-lock.json": "" };
  expect(proposed(locked, [])).toBeUndefined();
  expect(proposed(locked, ["go test ./..."])).toBeUndefined();
  expect(proposed(locked, ["npm test"], (program) => program !== "npm")).toBeUndefined();
  expect(proposed({ "package.json": "{}", "package-lock.json": "" }, ["npm test"])).toBeUndefined();
  expect(proposed({ "Cargo.lock": "", "go.sum": "" }, ["cargo test", "go test ./..."])).toBeUndefined();
});
