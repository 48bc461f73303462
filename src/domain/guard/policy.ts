import type { Capability } from "../agent/capability.ts";
import { mayPush } from "./git-push.ts";

/** One use of a tool that somebody is about to make. */
export interface GuardRequest {
  /** Null for a person's own session: what they let their model do is theirs to decide. */
  readonly capability: Capability | null;
  /** A person sits in front of the agent and can answer. */
  readonly attended: boolean;
  readonly tool: string | null;
  readonly input: unknown;
}

export type Verdict =
  | { readonly decision: "allow" }
  | { readonly decision: "deny"; readonly rule: string; readonly reason: string };

/** May this tool be used so? The caller brings the facts; a tool call of an agent that names no tool is denied. */
export function decide({ capability, attended, tool, input }: GuardRequest): Verdict {
  if (capability === null) return allow;
  if (tool === null) return deny("unreadable", "the hook was not told which tool is used");
  if (teamTools.includes(tool)) {
    return deny("team-tools", `${tool} starts or steers agents that nobody here knows; delegate with: ov sling`);
  }
  if (!attended && personTools.includes(tool)) {
    const instead = "ov mail send --to <parent> --type question --subject <what> --body <text>";
    return deny("person-tools", `${tool} waits for a person, and none is here; ask by mail: ${instead}`);
  }
  const command = commandOf(input);
  if (command !== undefined && mayPush(command)) {
    return deny(
      "git-push",
      "branches leave this machine by the operator alone; commit, then finish with: ov done --summary <what>",
    );
  }
  return allow;
}

const allow: Verdict = { decision: "allow" };
const deny = (rule: string, reason: string): Verdict => ({ decision: "deny", rule, reason });

/** Delegation goes through `ov sling`, so that everybody's work is seen, limited and conserved. */
const teamTools: readonly string[] = [
  "Agent",
  "Task",
  "TeamCreate",
  "TeamDelete",
  "SendMessage",
  "TaskCreate",
  "TaskUpdate",
  "TaskList",
  "TaskGet",
  "TaskOutput",
  "TaskStop",
];

const personTools: readonly string[] = ["AskUserQuestion", "EnterPlanMode", "EnterWorktree", "ExitWorktree"];

/** Shells go by many names; what they have in common is a command. */
function commandOf(input: unknown): string | undefined {
  if (typeof input !== "object" || input === null || !("command" in input)) return undefined;
  return typeof input.command === "string" ? input.command : undefined;
}
