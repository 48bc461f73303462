import { describe } from "bun:test";
import { commandCases } from "../../../../testkit/guard-cases.ts";

/** As configuration files hold them, and as overlays list them. */
const gates = [
  "CI=true npm test",
  "NODE_ENV=test npx jest",
  'test -z "$(gofmt -l .)"',
  "rm -rf dist && npm run build > build.log",
  "cd web && npm run lint",
  '$LINTER "$HOME"',
];

const may = [
  ...gates,
  "  CI=true   npm test\n",
  "CI=true npm test -- --grep x",
  "CI=true npm test 2>&1 | tail -20",
  "npm test -- --reporter=verbose",
  "npm test -- -v",
  "npm test -- --verbose",
  "npm test -- --runInBand",
  "npm test -- -k name -x",
  "npm test -- --maxWorkers=2",
  "npm test -- --testPathPattern=auth",
  "npm test",
  "CI=1 NO_COLOR=1 npm test",
  "env CI=true npm test",
  "timeout 600 npm test",
  "NODE_ENV=test npx jest src/a.test.ts",
  "npx jest",
  'test -z "$(gofmt -l .)" && echo formatted',
  "cd web && npm run lint && cd ..",
  "npm run lint",
  "rm -rf dist",
];

const mayNot = [
  "CI=true npm test -- -u",
  "npm test -- --outputFile=README.md",
  "NODE_ENV=production npx jest",
  "NODE_OPTIONS=--require=./x.js npm test",
  "PATH=. npm test",
  'test -z "$(gofmt -w .)"',
  'test -z "$(gofmt -l . && touch x)"',
  'test -z "$(gofmt -l .)" > out',
  'test -z "$(gofmt -l .)" "$(touch x)"',
  'npm test "$(touch x)"',
  'CI="$(touch x)" npm test',
  "CI=true npm test > out",
  "CI=true npm tests",
  "CI=true npm ci",
  "rm -rf dist src",
  "npm run build > other.log",
  'LINTER=rm; $LINTER "$HOME"',
  "gofmt -w src",
];

describe("gates", () => {
  for (const role of ["reviewer", "scout", "lead"] as const) commandCases(role, { may, mayNot, policy: { gates } });
  // Where a gate goes to, the commands behind it are.
  commandCases("builder", {
    may: ["cd web && rm -rf ../dist"],
    mayNot: ["cd web && rm -rf ../../other", "rm -rf dist /etc/x"],
    policy: { gates },
  });
  commandCases("monitor", { mayNot: gates.slice(0, 4), policy: { gates: [] } });
});
