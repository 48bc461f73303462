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
  ["pytest -q", "pytest.toml"],
  ["python3 -m pytest", ".pytest.toml"],
  ["cargo test", "rust-toolchain.toml"],
  ["mvn -q verify", ".mvn/maven.config"],
  ["bazel test //...", "tools/bazel"],
  ["npx vitest run", ".npmrc"],
  ["cd web && npx --no-install eslint .", "web/.npmrc"],
  ["npx tsx tools/check", "tools/check.ts"],
  ["npm exec -- tsx tools/check", "tools/check.ts"],
  ["yarn node tools/check", "tools/check.js"],
  ["pnpx vitest", ".pnpmfile.mjs"],
  ["bunx vitest", "bunfig.toml"],
  ["bunx npm test", ".npmrc"],
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
  // Pattern files and other files that a looking program takes its measure from.
  ["! grep -rn -f words.txt src", "words.txt"],
  ["! grep -rnf words.txt src", "words.txt"],
  ["! grep -rnfwords.txt src", "words.txt"],
  ["! grep --file=words.txt -rn src", "words.txt"],
  ['! grep -rn "$(cat words.txt)" src', "words.txt"],
  ["test $(grep -c bad src/a.js) -le $(cat maxbad)", "maxbad"],
  ["MAX=$(cat maxbad); N=$(grep -c bad src/a.js); [ $N -le $MAX ]", "maxbad"],
  ["diff expected.txt src/a.js", "expected.txt"],
  ["diff <(node src/main.js) expected.txt", "expected.txt"],
  ["node src/main.js | cmp - expected.txt", "expected.txt"],
  // Variables.
  ["F=check.sh; sh $F", "check.sh"],
  ["N=check; sh $N.sh", "check.sh"],
  ["D=tools; sh $D/check.sh", "tools/check.sh"],
  ["for d in ci tools; do sh $d/check.sh; done", "tools/check.sh"],
  ["ALL='check other'; for one in $ALL; do sh $one.sh; done", "check.sh"],
  ["F=$(echo check.py); python3 $F", "check.py"],
  [`sh $\{X:-check.sh}`, "check.sh"],
  [`sh "$\{X:=tools/check.sh}"`, "tools/check.sh"],
  ["set -- check.sh; sh $1", "check.sh"],
  // What programs take from their environment.
  ["BASH_ENV=./env.sh bash check.sh", "env.sh"],
  ["export BASH_ENV=./env.sh; bash check.sh", "env.sh"],
  ['NODE_OPTIONS="--require ./setup.js" node t.js', "setup.js"],
  ["NODE_OPTIONS=--require=./setup node t.js", "setup.js"],
  ["PYTHONPATH=lib python3 t.py", "lib/sitecustomize.py"],
  ["PYTHONPATH=$PWD/lib:vendor python3 -m checks", "vendor/checks/__main__.py"],
  ["NODE_PATH=lib node -r setup t.js", "lib/setup.js"],
  ["PATH=./bin:$PATH; mycheck", "bin/mycheck"],
  ["PATH=$PWD/bin:$PATH mycheck", "bin/mycheck"],
  ['export PATH="$(pwd)/bin:$PATH" && mycheck --all', "bin/mycheck"],
  ["env PATH=bin:/usr/bin mycheck", "bin/mycheck"],
  ["PATH=bin:$PATH; ! grep -q TODO src/a.ts", "bin/grep"],
  ["PATH=bin:$PATH sh -c 'mycheck --all'", "bin/mycheck"],
  // Directories, packages and values that are glued to an option.
  ["env -C sub sh check.sh", "sub/check.sh"],
  ["env --chdir=sub python3 -m checks", "sub/checks.py"],
  ["pushd sub && sh check.sh", "sub/check.sh"],
  ["python3 -m tools.check", "tools/__init__.py"],
  ["python3 -c 'from tools import check; check.run()'", "tools/check.py"],
  ["node -e \"require('./tools/check')\"", "tools/check.js"],
  ["ruby -r./setup t.rb", "setup.rb"],
  ["docker run --mount=type=bind,src=check.sh,dst=/c", "check.sh"],
  ["javac @args.txt", "args.txt"],
  // Text that one command prints and another runs.
  ["printf 'check.sh\\n' | xargs sh", "check.sh"],
  ["sh $(echo check.sh)", "check.sh"],
  ['echo "$(cat check.sh)" | sh', "check.sh"],
  ["grep -v '^#' check.sh | sh", "check.sh"],
  ["eval \"$(grep -v '^#' check.sh)\"", "check.sh"],
  ["echo 'sh check.sh' > /tmp/x; sh /tmp/x", "check.sh"],
  ["cp tools/check.sh . && sh check.sh", "tools/check.sh"],
  ["exit $(cat result)", "result"],
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
  ["! grep -rn -f words.txt src/a.ts", "src/a.ts"],
  ["test $(grep -c bad src/a.ts) -le $(cat maxbad)", "src/a.ts"],
  ['N=$(grep -c bad src/a.ts); awk "BEGIN { exit $N > 3 }"', "src/a.ts"],
  ["F=src/a.ts; ! grep -q TODO $F", "src/a.ts"],
  ["test ! -e broken.txt || { echo 'broken.txt is there'; exit 1; }", "broken.txt"],
  ["grep -n TODO src/a.ts | tee found.log", "src/a.ts"],
  ["T=a.test.ts; bun test $T", "a.test.ts"],
  ["TESTS=test/a.test.js npm test", "test/a.test.js"],
  ["printf 'a.test.js\\n' | xargs node --test", "a.test.js"],
  ["PYTHONPATH=src python3 run_all.py", "src/app.py"],
  ["PATH=bin:$PATH; mycheck", "bin/other"],
  ["python3 -m tools.check", "tools/other.py"],
  ['cp a.txt "$HOME/after"; cp new.a.txt "$HOME/new"', "a.txt"],
])("%p leaves %p to ordinary work", (command, path) => {
  expect(namedByCommand(command).paths).not.toContain(path);
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
