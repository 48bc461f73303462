import { expect, test } from "bun:test";
import { attempt, policyFor, runs } from "../../../testkit/guard.ts";
import type { Capability } from "../agent/capability.ts";
import { roleOf } from "../role/roles.ts";
import { guardPolicyOf, readGuardPolicy } from "./policy.ts";

const reviewer = policyFor(roleOf("reviewer"), { runsAnything: true });

test.each([
  "python3 -c 'import sample; print(sample.answer())'",
  "node -e 'console.log(require(\"./lib\").answer)'",
  "npm run build && ./dist/tool --self-check > out.log",
  "make -j4 CFLAGS=-O0",
  "PYTHONPATH=src python3 scripts/measure.py | tee figures.txt",
  "cargo test --no-run; target/debug/app",
])("a reviewer whose copy is thrown away may run %j", (command) => {
  expect(runs(policyFor(roleOf("reviewer")), command).decision).toBe("deny");
  expect(runs(reviewer, command).decision).toBe("allow");
});

test.each([
  ["git commit -am x", "read-only"],
  ["git push origin HEAD", "git-push"],
  ["ov merge --all", "ov-rights"],
  ["claude -p help", "team-tools"],
  ["echo x > /etc/passwd", "boundary"],
  ["echo '{}' > .claude/settings.json", "guard-files"],
  ["OVERSTORY_TOKEN=x ov status", "identity"],
  ["sqlite3 /w/.git/ov-state/overstory.db .dump", "database"],
])("it still may not run %j", (command, rule) => {
  expect(runs(reviewer, command)).toMatchObject({ decision: "deny", rule });
});

test("tools that edit files are for files to throw away, because nothing of the copy comes back", () => {
  const edit = { kind: "edit", tool: "Write", input: { file_path: "/w/tree/src/a.ts", content: "x" } } as const;
  expect(attempt(reviewer, edit)).toMatchObject({ decision: "deny", rule: "read-only" });
});

test("only confined agents that have a copy and change nothing run anything, and older rules do not say so", () => {
  const terms = { root: "/w", state: "/w/.git/ov-state", gates: [], steering: [] };
  const agent = { name: "bob", taskId: null, worktreePath: "/w/tree", scope: [], shares: [], isConfined: true };
  const may = (capability: Capability, more: object = {}): boolean =>
    guardPolicyOf(roleOf(capability), { ...agent, ...more }, terms).runsAnything;
  expect((["scout", "reviewer", "lead"] as const).map((each) => may(each))).toEqual([true, true, true]);
  expect((["builder", "merger"] as const).map((each) => may(each))).toEqual([false, false]);
  expect(may("coordinator", { worktreePath: null })).toBe(false);
  expect(may("reviewer", { isConfined: false })).toBe(false);
  const { runsAnything: _, ...older } = reviewer;
  expect(readGuardPolicy(JSON.stringify(older))?.runsAnything).toBe(false);
  expect(readGuardPolicy(JSON.stringify(reviewer))).toEqual(reviewer);
});
