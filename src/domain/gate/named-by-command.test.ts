import { expect, test } from "bun:test";
import { namedByCommand } from "./named-by-command.ts";

const scriptsOf = (command: string): string[] =>
  namedByCommand(command).scripts.map(({ manifest, name }) => `${manifest}: ${name}`);

test.each([
  ["sh tools/check.sh", "tools/check.sh"],
  ["./run-tests --all", "run-tests"],
  ["cd web && node ./scripts/test.mjs", "web/scripts/test.mjs"],
  ["CI=1 bash -e 'my gate.sh'", "my gate.sh"],
  ["sh -c 'set -e; python tools/lint.py src'", "tools/lint.py"],
  ["vitest run --config=ci/vitest.config.ts", "ci/vitest.config.ts"],
  ["make -C lib test", "lib/Makefile"],
  ["make -f ci/gates.mk all", "ci/gates.mk"],
  ["make", "Makefile"],
  ["npm test", ".npmrc"],
  ["just test", "justfile"],
  ["cat <tools/list | tools/check", "tools/check"],
  ["make -Clib -fgates.mk", "lib/gates.mk"],
  ['test "$(sh tools/check.sh)" = ok', "tools/check.sh"],
  ['[ "$(cd tools && test -n "$(./check.sh)")" ]', "tools/check.sh"],
  ["X=$(sh tools/check.sh) true", "tools/check.sh"],
  ["test `sh tools/check.sh` = ok", "tools/check.sh"],
  ['"$PWD"/tools/check.sh', "tools/check.sh"],
  [`sh $\{ROOT:-.}/tools/check.sh`, "tools/check.sh"],
  ["sh $(pwd)/tools/check.sh", "tools/check.sh"],
  ["node tools/check", "tools/check.js"],
  ["node tools/check --all", "tools/check/index.mjs"],
  ["bun run tools/check", "tools/check.ts"],
  ["python3 tools/check", "tools/check/__main__.py"],
  ["python3 -m tools.check", "tools/check.py"],
  ["python3.12 -m tools", "tools/__main__.py"],
  ["cargo test", ".cargo/config.toml"],
  ["pytest -q", "pytest.ini"],
  ["head -n 9 check.sh | sh", "check.sh"],
  ['"$(git rev-parse --show-toplevel)/tools/check.sh"', "tools/check.sh"],
  ['cd web && sh "$(git rev-parse --show-toplevel)/tools/check.sh"', "tools/check.sh"],
  ["`pwd`/check.sh", "check.sh"],
  ["bash <(cat check.sh)", "check.sh"],
  ['eval "$(cat check.sh)"', "check.sh"],
  ['X=$(cat check.sh); sh -c "$X"', "check.sh"],
  ["cp check.sh /tmp/x && sh /tmp/x", "check.sh"],
  ["cp tools/check.sh /tmp && sh /tmp/check.sh", "tools/check.sh"],
  ["cat check.sh > /tmp/x; sh /tmp/x", "check.sh"],
  ["python3 test.py", "test.py"],
  ["node test.js", "test.js"],
])("%p names %p", (command, path) => {
  expect(namedByCommand(command).paths).toContain(path);
});

test.each([
  ["npm test", ["package.json: pretest", "package.json: test", "package.json: posttest"]],
  ["npm t -- --runInBand", ["package.json: pretest", "package.json: test", "package.json: posttest"]],
  ["npm run -s lint", ["package.json: prelint", "package.json: lint", "package.json: postlint"]],
  ["cd web && pnpm check", ["web/package.json: precheck", "web/package.json: check", "web/package.json: postcheck"]],
  ["yarn --cwd web test", ["web/package.json: pretest", "web/package.json: test", "web/package.json: posttest"]],
  ["bun run e2e", ["package.json: pree2e", "package.json: e2e", "package.json: poste2e"]],
  ["bun test src", []],
  ["npm --loglevel error test", ["package.json: pretest", "package.json: test", "package.json: posttest"]],
  ["npx vitest", []],
  ["npm exec vitest", []],
] as const)("%p runs the entries %p", (command, entries) => {
  expect(scriptsOf(command)).toEqual([...entries]);
});

test("installing runs what the project itself has to be run then", () => {
  for (const command of ["npm ci", "yarn", "pnpm install --frozen-lockfile", "bun install"])
    expect(scriptsOf(command)).toContain("package.json: postinstall");
});

test("what leads out of the project is no path of it, and directories are not their files", () => {
  expect(namedByCommand("/usr/bin/make ../other/check.sh").paths).not.toContain("usr/bin/make");
  expect(namedByCommand("pytest tests").paths).not.toContain("tests/test_a.py");
});

test("files that a command only looks at are what the gate is about, not what it runs", () => {
  for (const command of [
    "test ! -e broken.txt",
    "! grep -q TODO src/a.ts",
    "if [ -e a.txt ]; then exit 1; fi",
    "cat a.txt",
    '[ "$(cat version.txt)" = 1 ]',
    'V=$(cat version.txt); test "$V" = 1',
    "cp a.txt b.txt",
  ]) {
    expect([command, namedByCommand(command).paths]).toEqual([command, []]);
  }
  expect(namedByCommand("test -e a.txt && sh check.sh").paths).toContain("check.sh");
  expect(namedByCommand("cat a.txt > /dev/null").paths).not.toContain("a.txt");
  expect(namedByCommand("cat check.sh | sh").paths).toContain("check.sh");
});

test.each([
  "pytest test_a.py",
  "python3 -m pytest test_a.py",
  "bun test a.test.ts",
  "node --test a.test.js",
  "npx jest a.test.js",
])("in %p the file of tests is what the runner looks at, not what the gate runs", (command) => {
  expect(namedByCommand(command).paths.filter((path) => /^(test_a\.py|a\.test\.[jt]s)$/.test(path))).toEqual([]);
});
