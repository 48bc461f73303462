import { expect, test } from "bun:test";
import { checkPrompt, checkRolePrompt, commandLines } from "./check-prompt.ts";
import { promptBudget } from "./render/prompt.ts";
import { roles } from "./roles.ts";

const everything = () => undefined;

test("commands are found in code spans and code blocks, as a shell would split them", () => {
  const text = [
    'Type `ov status --all`, or `ov mail reply <id> --body "a b"`; ov status in prose is none.',
    "```sh",
    `ov task create "a title" --payload '{"x":1}'  # why`,
    "echo ov status",
    "```",
    "    | `ov stop everybody` was written by somebody else",
  ].join("\n");
  expect(commandLines(text)).toEqual([
    ["status", "--all"],
    ["mail", "reply", "<id>", "--body", "a b"],
    ["task", "create", "a title", "--payload", '{"x":1}'],
  ]);
});

test("a command that does not parse, or is not the role's own, is reported", () => {
  const text = "`ov sling t1` and `ov done --x`";
  expect(checkPrompt(roles.builder, text, ([word]) => (word === "done" ? "unknown-flag" : undefined))).toEqual([
    { kind: "not-its-command", found: "ov sling t1", why: "a builder does not have this command" },
    { kind: "unknown-command", found: "ov done --x", why: "unknown-flag" },
  ]);
});

test("a mail type that is neither sent nor expected is reported, and one that may not be sent", () => {
  expect(checkPrompt(roles.builder, "`worker_died`, `status`, `anything`", everything)).toMatchObject([
    { kind: "not-its-mail", found: "worker_died" },
  ]);
  const sends = "`ov mail send --to x --type review --subject s --body b`";
  expect(checkPrompt(roles.builder, sends, everything)).toMatchObject([{ kind: "not-its-mail", found: "review" }]);
  expect(checkPrompt(roles.reviewer, sends, everything)).toEqual([]);
});

test("a placeholder that survived and a text beyond its budget are reported", () => {
  expect(checkPrompt(roles.scout, "{{X}}", everything)).toMatchObject([{ kind: "placeholder", found: "{{X}}" }]);
  expect(checkRolePrompt(roles.scout, "é".repeat(promptBudget / 2), everything)).toEqual([]);
  expect(checkRolePrompt(roles.scout, `${"é".repeat(promptBudget / 2)}.`, everything)).toMatchObject([
    { kind: "too-long", why: `it takes ${promptBudget + 1} bytes of ${promptBudget}` },
  ]);
});
