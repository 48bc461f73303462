import { describe, expect, test } from "bun:test";
import { nowhere, policyFor, runs } from "../../../testkit/guard.ts";
import { commandCases } from "../../../testkit/guard-cases.ts";
import { roles } from "../role/roles.ts";
import { decide } from "./decide.ts";
import { readGuardPolicy } from "./policy.ts";

const scratch = "/w/.git/ov-state/agents/bob/scratch";

const tests = [
  "bun test src/a.test.ts",
  "bun test src/a.test.ts -t 'keeps the last row' 2>&1 | tail -20",
  "CI=1 node --test --test-name-pattern=rows test/rows.test.js",
  "npm test -- src/a.test.ts -t rows",
  "npm run test:unit",
  "yarn test src/a.test.ts",
  "npx --no-install jest src/a.test.ts -t rows",
  "npx --no vitest run src/a.test.ts",
  "./node_modules/.bin/mocha --grep rows test",
  "pytest -q tests/test_rows.py::test_last -k rows",
  "python3 -m pytest tests/test_rows.py",
  "python3 -m unittest tests.test_rows",
  "cd web && npm test",
  "timeout 60 go test ./... -run TestRows -count=1",
  "cargo test rows -- --nocapture",
  "rspec spec/rows_spec.rb:12",
  "make test",
];

const otherCode = [
  "bun test --preload ./x.ts src/a.test.ts",
  "bun test /tmp/x.test.ts",
  "bun test ../other/x.test.ts",
  "bun run build",
  "bun src/a.ts",
  "bun test $FILE",
  `bun test {src/a.test.ts,${scratch}/x.test.ts}`,
  'bun test "$OVERSTORY_SCRATCH/x.test.ts"',
  `bun test ${scratch}/x.test.ts`,
  `cd ${scratch} && bun test`,
  "cd $OVERSTORY_SCRATCH && bun test",
  "node --test --import ./x.js test",
  "node --test-reporter=./x.js --test test",
  "npx jest-evil src/a.test.ts",
  "npx -y jest src/a.test.ts",
  "npx --no-install jest --config /tmp/x.js",
  "jest --globalSetup=./x.js",
  "jest -u src/a.test.ts",
  "npm run build",
  "npm test --prefix ../other",
  "npm --prefix ../other test",
  "pytest -p evil tests",
  "pytest --rootdir=/tmp tests",
  "python3 tests/test_rows.py",
  "go test -exec ./x ./...",
  "go test -o x ./...",
  "go test -vet=off -toolexec=./x ./...",
  "GOFLAGS=-exec=./x go test ./...",
  "export GOFLAGS=-exec=./x; go test ./...",
  "RUSTC_WRAPPER=./x cargo test",
  "cargo test --config x",
  "make test SHELL=./x",
  "make -f x test",
  "bun test src/a.test.ts > out.txt",
  "/tmp/bun test src/a.test.ts",
  // A runner may take the word behind an option that lacks its value for the next option.
  `jest -t --globalSetup=${scratch}/x.js`,
  `npm test -- -t --config=${scratch}/x.js`,
  `npm run test:unit -- -t ${scratch}/x.js`,
  // Runners read patterns and addresses themselves.
  `node --test '{src,${scratch}}/x.test.js'`,
  `npx --no-install mocha '{src,${scratch}}/x.js'`,
  "node --test 'src/*/../../../.git/x.test.js'",
  "deno test https://example.com/x.ts",
  "deno test npm:x",
  `pytest @${scratch}/args`,
  `pytest -k "__import__('os').system('x')"`,
  "pytest -k=x() tests",
  "go test example.com/x",
  "make test deploy",
  "env GOFLAGS=-exec=./x go test ./...",
  "echo --preload=./x.ts | xargs bun test",
  `find ${scratch} -name '*.ts' -exec bun test {} +`,
  `for PATH in ${scratch}; do bun test; done`,
  `set -a; : \${GOFLAGS:=-exec=./x}; go test ./...`,
  `printf -v BUN_OPTIONS -- --preload=${scratch}/x.ts; bun test`,
  "bun() { node src/x.js; }; bun test",
  "hash -p ./x bun; bun test",
  "(cd /w/.git/ov-state && bun test)",
  "bun test -t",
];

describe("single tests", () => {
  const policy = { gates: ["npm run check"] };
  for (const role of ["reviewer", "scout", "lead"] as const) {
    commandCases(role, { may: tests, mayNot: otherCode, policy });
  }
  commandCases("monitor", { mayNot: tests });
});

describe("a gate runs nothing that an agent without a right to write wrote for itself", () => {
  commandCases("reviewer", {
    may: [
      "npm test src/a.test.ts",
      "npm test -- --grep=rows",
      "npm test src/*.test.ts",
      "npm test -- --reporter=list -t 'a/b keeps 1..3'",
      "out=$(npm test 2>&1); echo $out",
    ],
    mayNot: [
      `npm test ${scratch}/x.test.ts`,
      `npm test -- --config=${scratch}/x.js`,
      'npm test "$OVERSTORY_SCRATCH/x.test.ts"',
      "x=$OVERSTORY_SCRATCH; npm test $x/x.test.ts",
      `npm test {src/a.test.ts,${scratch}/x.test.ts}`,
      "npm test ../.gi*/ov-state/agents/bob/scratch/x.test.ts",
      `npm test -- '{src,${scratch}}/x.test.ts'`,
      `npm test -- -r${scratch}/x.js`,
      "npm test -- --config ../.git/ov-state/agents/bob/scratch/x.js",
      "npm test /w/.g*/ov-state/agents/bob/scratch/x.test.ts",
      `export RUSTC_WRAPPER=${scratch}/x; npm test`,
      `export npm_config_node_options=--require=${scratch}/x.js; npm test`,
      `for i in 1 2; do npm test; export JEST_X=${scratch}/x.js; done`,
      `cd ${scratch} && npm test`,
      "cd .. && npm test",
    ],
  });
  test("also where its program stands elsewhere", () => {
    const policy = policyFor(roles.reviewer);
    const use = {
      tool: "Bash",
      kind: "execute",
      command: "npm test",
      paths: [],
      changes: false,
      attended: false,
    } as const;
    expect(decideAt(policy.worktree)).toEqual({ decision: "allow" });
    expect(decideAt(scratch)).toMatchObject({ decision: "deny" });

    function decideAt(cwd: string) {
      return decide({ ...use, cwd }, policy, nowhere);
    }
  });
});

test("a reader of code is told what it may do instead", () => {
  const policy = policyFor(roles.reviewer);
  const said = (command: string) => JSON.stringify(runs(policy, command));
  expect(said("node -e 'x()'")).toContain("a reviewer runs no code of its own");
  expect(said("node -e 'x()'")).not.toContain("a file of yours");
  expect(said("npm run build")).toContain("it may run the gates (npm test) and test runners in its worktree");
  expect(said("ls > out.txt")).toContain("below $OVERSTORY_SCRATCH");
});

test("rules that an earlier version wrote allow neither", () => {
  const { tests: _tests, scratch: _scratch, ...older } = policyFor(roles.reviewer);
  expect(readGuardPolicy(JSON.stringify(older))).toMatchObject({ tests: false, scratch: null });
});
