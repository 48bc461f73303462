import { expect, test } from "bun:test";
import fc from "fast-check";
import { hookEvents } from "../../domain/hook/hook.ts";
import { hookCommand, hookSettings } from "./hooks.ts";
import { freshSettings, installedEvents, withHooks, withoutHooks } from "./settings-text.ts";

function edited(outcome: ReturnType<typeof withHooks>): string {
  if (!outcome.ok) throw new Error(outcome.problem);
  return outcome.text;
}

test("the user's own lines keep every byte, comments, order and indentation included", () => {
  const users = `{
   // mine
   "model": "opus",   /* keep */
   "hooks": {
      "Stop": [
         { "hooks": [{ "type": "command", "command": "say done" }] } // hear it
      ]
   },
   "permissions": { "allow": ["Bash(ls:*)"] }
}`;
  const after = edited(withHooks(users));
  for (const line of users.split("\n").filter((line) => !line.includes("hear it") && line.trim() !== "]")) {
    expect(after).toContain(line.replace(/^ {3}\},$/, "   },"));
  }
  expect(after).toContain('{ "hooks": [{ "type": "command", "command": "say done" }] }, // hear it\n');
  expect(after).toContain('\n         {\n            "hooks": [\n');
  expect(after.endsWith("}")).toBe(true);
  expect(edited(withoutHooks(after))).toBe(users);
});

test("every event gets one entry, however often they are put in", () => {
  const once = edited(withHooks("{}"));
  expect(edited(withHooks(once))).toBe(once);
  expect(installedEvents(once)).toEqual({ ok: true, events: hookEvents });
  expect(JSON.parse(once)).toEqual(hookSettings({ failClosed: false }));
  expect(JSON.parse(freshSettings())).toEqual(hookSettings({ failClosed: false }));
});

test("a file in one line stays one, and Windows line ends stay", () => {
  expect(edited(withHooks('{"a":1}'))).not.toContain("\n");
  const windows = '{\r\n\t"a": 1\r\n}\r\n';
  const after = edited(withHooks(windows));
  expect(after.replaceAll("\r\n", "")).not.toContain("\n");
  expect(edited(withoutHooks(after))).toBe(windows);
});

test("a command somebody put into our entry survives the removal of ours", () => {
  const mixed = { hooks: { Stop: [{ hooks: [{ command: hookCommand("stop") }, { command: "mine" }] }], Other: [] } };
  const left = edited(withoutHooks(JSON.stringify(mixed, null, 2)));
  expect(JSON.parse(left)).toEqual({ hooks: { Stop: [{ hooks: [{ command: "mine" }] }], Other: [] } });
});

test.each([
  ['{\n  "a": 1,\n  oops\n}', "line 3"],
  ["[]", "the file is not an object"],
  ['{"hooks": []}', "hooks is not an object"],
  ['{"hooks": {"Stop": {}}}', "hooks.Stop is not a list"],
  ["", "line 1"],
])("a file that cannot be understood is refused with its place: %j", (text, problem) => {
  expect(withHooks(text)).toEqual({ ok: false, problem: expect.stringContaining(problem) });
});

test("putting in and taking out gives any settings file back", () => {
  const command = fc.record({ type: fc.constant("command"), command: fc.string() });
  const entry = fc.record({ matcher: fc.string(), hooks: fc.array(command, { maxLength: 2 }) });
  const hooks = fc.dictionary(
    fc.constantFrom("Stop", "PreToolUse", "Custom"),
    fc.array(entry, { minLength: 1, maxLength: 2 }),
  );
  const settings = fc.record(
    {
      model: fc.string(),
      hooks: hooks.filter((map) => Object.keys(map).length > 0),
      env: fc.dictionary(fc.string(), fc.string()),
    },
    { requiredKeys: ["model"] },
  );
  fc.assert(
    fc.property(settings, fc.constantFrom(undefined, 2, "\t"), fc.constantFrom("", "\n"), (value, indent, end) => {
      const text = `${JSON.stringify(value, null, indent)}${end}`;
      const after = edited(withHooks(text));
      expect(installedEvents(after)).toEqual({ ok: true, events: hookEvents });
      expect(edited(withoutHooks(after))).toBe(text);
    }),
  );
});

test("entries that version 0.11 wrote give way to ours, the user's beside them stay", () => {
  const old = {
    hooks: {
      PreToolUse: [
        { matcher: "", hooks: [{ type: "command", command: "ov log tool-start --agent orchestrator --stdin" }] },
      ],
      PostToolUse: [
        {
          matcher: "",
          hooks: [{ command: "export PATH=x; ov mail check --inject --debounce 500" }, { command: "echo a.mov b" }],
        },
      ],
      PreCompact: [{ matcher: "", hooks: [{ command: "ov prime --agent orchestrator --compact" }] }],
    },
  };
  const { hooks } = JSON.parse(edited(withHooks(JSON.stringify(old, null, 2)))) as typeof old;
  const commands = Object.values(hooks).flatMap((entries) =>
    entries.flatMap((entry) => entry.hooks.map(({ command }) => command)),
  );
  expect(commands.filter((command) => /ov (log|mail|prime)/.test(command))).toEqual([]);
  expect(commands).toContain("echo a.mov b");
  expect(commands).toContain(hookCommand("pre-tool"));
});
