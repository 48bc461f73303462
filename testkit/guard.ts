import { decide } from "../src/domain/guard/decide.ts";
import type { GuardMachine } from "../src/domain/guard/paths.ts";
import { type GuardPolicy, guardPolicyOf } from "../src/domain/guard/policy.ts";
import type { ToolKind, Verdict } from "../src/domain/guard/tool-use.ts";
import type { RoleSpec } from "../src/domain/role/role-spec.ts";
import { parseShell } from "../src/host/syntax/shell.ts";
import { claudeToolUse } from "../src/runtimes/claude/tools.ts";

/** A machine of which only names are known. In its worktrees merges are half done, so that conflicts can be settled. */
export const nowhere: GuardMachine = {
  parse: parseShell,
  places: {
    realPath: lexical,
    isDirectory: () => false,
    isMerging: () => true,
    home: "/home/bob",
    temporary: ["/tmp"],
  },
};

/** Paths without links, for where there is no disk to look at. */
export function lexical(path: string): string {
  const kept: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") kept.pop();
    else if (part !== "" && part !== ".") kept.push(part);
  }
  return `/${kept.join("/")}`;
}

/** The rules for `bob`, who works on `t-1` in `/w/tree` for the project in `/w`. */
export const policyFor = (role: RoleSpec, more: Partial<GuardPolicy> = {}): GuardPolicy => ({
  ...guardPolicyOf(
    role,
    { name: "bob", taskId: "t-1", worktreePath: "/w/tree", scope: [], shares: [] },
    {
      root: "/w",
      state: "/w/.git/ov-state",
      gates: [{ command: "npm test" }],
      steering: [".claude/CLAUDE.md", "**/.claude/settings*.json"],
    },
  ),
  ...more,
});

export interface Attempt {
  readonly kind: ToolKind;
  readonly input?: unknown;
  readonly tool?: string | null;
  readonly attended?: boolean;
}

/** What the guard says when bob tries this. */
export const attempt = (
  policy: GuardPolicy,
  { kind, input = {}, tool = "Tool", attended = false }: Attempt,
  machine: GuardMachine = nowhere,
): Verdict => decide({ ...claudeToolUse("", input), tool, kind, cwd: policy.worktree, attended }, policy, machine);

export const runs = (policy: GuardPolicy, command: string): Verdict =>
  attempt(policy, { kind: "execute", tool: "Bash", input: { command } });

/** The same for a tool by the name that Claude Code has for it. */
export const usesTool = (policy: GuardPolicy, tool: string, input: unknown): Verdict =>
  decide({ ...claudeToolUse(tool, input), tool, cwd: policy.worktree, attended: false }, policy, nowhere);
