import { expect, test } from "bun:test";
import { codexToolUse } from "./tools.ts";

test("a patch names every file that it touches, the one that it moves to as well", () => {
  const command = [
    "*** Begin Patch",
    "*** Add File: src/new.ts",
    "+export {};",
    "*** Update File: src/old.ts",
    "*** Move to: ../outside.ts",
    "*** Delete File: gone.ts",
    "*** End Patch",
  ].join("\n");
  expect(codexToolUse("apply_patch", { command })).toEqual({
    kind: "edit",
    command: null,
    paths: ["src/new.ts", "src/old.ts", "../outside.ts", "gone.ts"],
    changes: true,
  });
});

test("a patch inside a command names its files too", () => {
  const command = "apply_patch <<'X'\n*** Begin Patch\n*** Add File: ../out.txt\n+x\n*** End Patch\nX";
  expect(codexToolUse("Bash", { command })).toEqual({ kind: "execute", command, paths: ["../out.txt"], changes: true });
});

test("a command is read as one text and as words", () => {
  expect(codexToolUse("Bash", { command: "git push" })).toMatchObject({ kind: "execute", command: "git push" });
  expect(codexToolUse("shell", { command: ["bash", "-lc", "git push"] })).toMatchObject({ command: "git push" });
  expect(codexToolUse("exec_command", { cmd: "git push" })).toMatchObject({ kind: "execute", command: "git push" });
});

test("our own tools are known, agents of its own are no tools of a team, and the rest is unknown", () => {
  const kinds = ["mcp__overstory__finish", "mcp__other__finish", "spawn_agent", "whatever"].map(
    (tool) => codexToolUse(tool, {}).kind,
  );
  expect(kinds).toEqual(["own", "other", "delegate", "other"]);
});
