import { expect, test } from "bun:test";
import { unusableGates } from "./unusable-gates.ts";

interface Here {
  readonly files?: Readonly<Record<string, string>>;
  readonly missing?: readonly string[];
}

function why(command: string, { files = {}, missing = [] }: Here = {}): string | undefined {
  const [found] = unusableGates([{ name: "Tests", command }], {
    has: (program) => !missing.includes(program),
    read: (path) => files[path],
    exists: (path) => path in files,
  });
  return found?.why;
}

const scripts = (names: object): Record<string, string> => ({ "package.json": JSON.stringify({ scripts: names }) });

test("the gates that 0.11 wrote everywhere cannot run where the project is not made for them", () => {
  expect(why("bun test", { missing: ["bun"] })).toBe("there is no program bun on PATH");
  expect(why("bun test", { files: scripts({ test: "vitest" }) })).toBe("this is no Bun project");
  expect(why("bun test")).toBe("this is no Bun project");
  expect(why("bun run lint", { files: scripts({ test: "vitest" }) })).toBe("package.json has no script lint");
  expect(why("bun run typecheck")).toBe("package.json is not there");
});

test("in a Bun project they stay", () => {
  expect(why("bun test", { files: { "bun.lock": "" } })).toBeUndefined();
  expect(why("bun test", { files: { "package.json": '{"devDependencies":{"@types/bun":"1"}}' } })).toBeUndefined();
  expect(why("bun run lint", { files: scripts({ lint: "biome check" }) })).toBeUndefined();
  expect(why("bun run tsc", { files: { ...scripts({}), "node_modules/.bin/tsc": "" } })).toBeUndefined();
});

test("a script that npm does not find, a program or a file that is not there", () => {
  expect(why("npm test", { files: scripts({ lint: "x" }) })).toBe("package.json has no script test");
  expect(why("npm --prefix web run build", { files: scripts({ build: "x" }) })).toBe("web/package.json is not there");
  expect(why("mage check", { missing: ["mage"] })).toBe("there is no program mage on PATH");
  expect(why("CI=1 ./ci/test.sh --all")).toBe("there is no file ./ci/test.sh");
});

test("a gate counts as unusable only when that is certain", () => {
  for (const command of ["if true; then nope; fi", "$RUNNER test", "test -f a && nope", "/opt/tool/run", "(nope)"]) {
    expect([command, why(command, { missing: command === "(nope)" ? [] : ["nope"] })]).toEqual([command, undefined]);
  }
  expect(why("npm ci && npm test", { files: scripts({ test: "x" }) })).toBeUndefined();
  expect(why("./ci/test.sh", { files: { "./ci/test.sh": "" } })).toBeUndefined();
});
