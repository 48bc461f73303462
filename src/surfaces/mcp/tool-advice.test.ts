import { expect, test } from "bun:test";
import { toolFor } from "../../contract/tools/tools.ts";
import { roles } from "../../domain/role/roles.ts";
import { asToolAdvice } from "./tool-advice.ts";

const advice = (tool: string, role: keyof typeof roles, text: string): string => {
  const made = toolFor(tool, roles[role]);
  if (made === undefined) throw new Error(`there is no tool ${tool}`);
  return asToolAdvice(text, made);
};

test("advice for the command line becomes a call of the tool, with the names of its arguments", () => {
  const cases: readonly (readonly [keyof typeof roles, string, string])[] = [
    ["builder", "if it needs no change: ov done --no-code", "if it needs no change: call finish with no_code: true"],
    ["builder", "leave --no-code out", "leave no_code out"],
    [
      "builder",
      'or say why: ov done --expansion-reason "<why>"',
      'or say why: call finish with expansion_reason: "<why>"',
    ],
    [
      "reviewer",
      "give one: ov done --verdict pass|fail|needs_changes --findings <what you found>",
      "give one: call finish with verdict: pass|fail|needs_changes, findings: <what you found>",
    ],
    [
      "reviewer",
      "if it is so: ov done --verdict fail; if not, leave it out",
      "if it is so: call finish with verdict: fail; if not, leave it out",
    ],
    ["reviewer", "name it: ov done --branch <branch>", "name it: call finish with branch: <branch>"],
    ["builder", "wait a minute, then run ov done again", "wait a minute, then run finish again"],
  ];
  for (const [role, typed, told] of cases) expect(advice("finish", role, typed)).toBe(told);
});

test("a command that the tool does not stand for, or with a flag that it lacks, stays what one types", () => {
  expect(advice("finish", "lead", "give it up: ov release b1")).toBe("give it up: ov release b1");
  expect(advice("spawn", "lead", "force it: ov sling <task> --force-hierarchy")).toBe(
    "force it: ov sling <task> --force-hierarchy",
  );
  expect(advice("spawn", "lead", 'share them: ov sling <task> --shares "CHANGELOG.md"')).toBe(
    'share them: call spawn with shares: "CHANGELOG.md"',
  );
  expect(advice("send", "lead", "allowed (--type): status")).toBe("allowed (type): status");
});
