import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { policyFor, runs } from "../../../testkit/guard.ts";
import { guardCorpus } from "../../../testkit/guard-corpus.ts";
import { roleList, roles } from "../role/roles.ts";

describe.each(guardCorpus)("a $role", ({ role, denied, allowed }) => {
  const policy = policyFor(roles[role]);
  test.each(denied.map((command) => [command]))("may not run %j", (command) => {
    expect(runs(policy, command)).toMatchObject({ decision: "deny" });
  });
  test.each(allowed.map((command) => [command]))("may run %j", (command) => {
    expect(runs(policy, command)).toEqual({ decision: "allow" });
  });
});

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const wrappers: readonly ((command: string) => string)[] = [
  (command) => `sh -c ${quoted(command)}`,
  (command) => `env A=b bash -lc ${quoted(command)}`,
  (command) => `timeout -s KILL 5 sh -c ${quoted(command)}`,
  (command) => `nohup nice -n 5 bash -c -- ${quoted(command)} &`,
  (command) => `eval ${quoted(command)}`,
  (command) => `(${command}\n)`,
  (command) => `if true; then\n${command}\nfi`,
  (command) => `echo "$(\n${command}\n)"`,
  (command) => `ls; ${command}`,
  (command) => `f() {\n${command}\n}; f`,
  (command) => `find . -name x -exec sh -c ${quoted(command)} \\;`,
  (command) => `trap ${quoted(command)} EXIT`,
];

test("whatever a denied command is wrapped in, it stays denied", () => {
  const cases = guardCorpus.flatMap(({ role, denied }) => denied.map((command) => ({ role, command })));
  fc.assert(
    fc.property(
      fc.constantFrom(...cases),
      fc.array(fc.constantFrom(...wrappers), { minLength: 1, maxLength: 3 }),
      ({ role, command }, around) => {
        const wrapped = around.reduce((inner, wrap) => wrap(inner), command);
        expect(runs(policyFor(roles[role]), wrapped)).toMatchObject({ decision: "deny" });
      },
    ),
    { numRuns: 2_000 },
  );
}, 60_000);

test("no text makes the guard throw, and none that is no shell is allowed", () => {
  const pieces = fc.array(
    fc.constantFrom(
      "git",
      "push",
      "$(",
      ")",
      "'",
      '"',
      "`",
      "<<",
      "EOF\n",
      "{",
      "}",
      ";",
      "|",
      " ",
      "rm",
      "/etc",
      "\\",
      "${",
      "((",
      "&&",
    ),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        pieces.map((parts) => parts.join("")),
        fc.string({ unit: "binary" }),
      ),
      (text) => {
        for (const role of roleList) expect(["allow", "deny"]).toContain(runs(policyFor(role), text).decision);
      },
    ),
  );
  expect(runs(policyFor(roles.builder), 'echo "x')).toMatchObject({ rule: "syntax" });
  expect(runs(policyFor(roles.builder), "sh -c 'echo $('")).toMatchObject({ rule: "syntax" });
}, 60_000);
