import type { MailType } from "../mail/types.ts";
import type { RoleSpec } from "./role-spec.ts";

/** Commands that every agent may type. */
export const everybody: readonly string[] = [
  "mail check",
  "mail send",
  "mail reply",
  "mail list",
  "mail read",
  "mail status",
  "mail why",
  "task show",
  "spec read",
  "status",
  "prime",
];

/** Commands that change nothing: prompts need not list them, and every agent may type them. */
const looking: readonly string[] = [
  ...["task list", "task ready", "group list", "group status", "agents discover", "worktree list", "budget show"],
  ...[
    "logs",
    "diff",
    "gate list",
    "gate log",
    "gate show",
    "run list",
    "run show",
    "run criteria",
    "run criteria list",
  ],
  ...["feed", "trace", "errors", "inspect", "why", "costs", "metrics"],
  ...["merge list", "merge show", "merge plan", "merge radar", "merge diff", "merge log", "merge-file"],
  ...["snapshots list", "snapshots show", "config get", "config list", "config explain", "config validate"],
  ...["engine status", "coordinator status", "orchestrator status", "supervisor status", "hooks status", "trust list"],
  ...["prompt show", "prompt diff", "prompt test", "guard test", "guard explain", "completions"],
];

/**
 * What an agent of this role may type after `ov`: the commands it is told about, what its tools do as well, and what only
 * looks. Each command checks its caller by itself, too.
 */
export const commandsOf = (role: RoleSpec): readonly string[] => [
  ...role.commands,
  ...looking,
  // What our own messages tell them to type.
  "mail retry",
  ...(role.tools.includes("spawn") ? ["task reopen"] : []),
  ...(role.access.gates ? ["gate run", "gate verify"] : []),
  ...(role.tools.includes("merge") ? ["merge", "merge add"] : []),
];

/** Commands of agents that end with their task. */
export const workers: readonly string[] = [...everybody, "task update", "done"];

/** Commands of agents that divide work among others. */
export const heads: readonly string[] = [
  ...everybody,
  "task create",
  "task list",
  "task ready",
  "task update",
  "task close",
  "task drop",
  "task dep add",
  "task dep rm",
  "sling",
  "nudge",
  "stop",
  "release",
  "recover",
  "agents discover",
];

/** Mail that every agent must know what to do with. */
export const mailOfAll: readonly MailType[] = ["dispatch", "question", "status", "decision", "error"];

/** Mail to agents that end with their task. */
export const mailOfWorkers: readonly MailType[] = [...mailOfAll, "assign"];

/** Mail to agents that divide work among others: what those tell, and what becomes of their branches. */
export const mailOfHeads: readonly MailType[] = [
  ...mailOfAll,
  "worker_done",
  "worker_died",
  "escalation",
  "review",
  "merged",
  "merge_failed",
  "decision_gate",
  "result",
  "spec_ready",
];
