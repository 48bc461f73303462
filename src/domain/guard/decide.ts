import { outsideScope } from "../turn/scope.ts";
import { checkCommand } from "./commands.ts";
import type { GuardMeans, Places } from "./means.ts";
import { checkWrite, joined } from "./paths.ts";
import type { GuardPolicy } from "./policy.ts";
import type { ToolKind } from "./tool-kind.ts";
import { allow, type Denial, deny, type Verdict } from "./verdict.ts";

/** One use of a tool that an agent is about to make. */
export interface GuardRequest {
  /** Null when that was not told. */
  readonly tool: string | null;
  readonly kind: ToolKind;
  readonly input: unknown;
  /** Where the agent's program stands. */
  readonly cwd: string | null;
  /** A person sits in front of the agent and can answer. */
  readonly attended: boolean;
}

/**
 * May this tool be used so? One answer for every program that asks. It makes mistakes visible at once and says what to
 * do instead; it is no wall: a program that an agent wrote itself is not looked into.
 */
export function decide(request: GuardRequest, policy: GuardPolicy, means: GuardMeans): Verdict {
  const { tool, kind, attended } = request;
  if (tool === null) return deny("unreadable", "the hook was not told which tool is used");
  switch (kind) {
    case "own":
    case "read":
    case "search":
    case "think":
    case "fetch":
      return allow;
    case "delegate":
      return deny("team-tools", `${tool} starts or steers agents that nobody here knows; delegate with: ov sling`);
    case "ask":
    case "switch_mode":
      return attended ? allow : deny("person-tools", `${tool} waits for a person, and none is here; ${askByMail}`);
    case "execute":
      return checkExecution(request, policy, means) ?? allow;
    case "edit":
    case "delete":
    case "move":
      return checkEdit(request, policy, means);
    case "other":
      return checkUnknown(request, policy, means);
  }
}

const askByMail = "ask by mail: ov mail send --to <parent> --type question --subject <what> --body <text>";

function checkExecution(
  { tool, input, cwd }: GuardRequest,
  policy: GuardPolicy,
  means: GuardMeans,
): Denial | undefined {
  const command = textIn(input, ["command"]);
  if (command === undefined) return deny("unreadable", `the hook was not told what ${tool} is to run`);
  return checkCommand(command, cwd ?? policy.worktree, policy, means);
}

/** Fields in which programs name the file that a tool works on. */
const pathFields = ["file_path", "notebook_path"];

function checkEdit(
  { tool, input, cwd }: Pick<GuardRequest, "tool" | "input" | "cwd">,
  policy: GuardPolicy,
  { places }: GuardMeans,
): Verdict {
  if (policy.files === "read-only") {
    return deny("read-only", `a ${policy.capability} changes no files; report what should change and who owns it`);
  }
  const path = joined(cwd ?? policy.worktree, textIn(input, pathFields) ?? "");
  if (path === undefined || textIn(input, pathFields) === undefined) {
    return deny("unreadable", `the hook was not told which file ${tool} changes`);
  }
  return checkWrite(path, policy, places) ?? withScope(path, policy, places);
}

/** Leaving one's files needs a reason, not a permission: the completion step asks for it. */
function withScope(path: string, { scope, worktree }: GuardPolicy, places: Places): Verdict {
  const base = places.realPath(worktree);
  const real = places.realPath(path);
  const strays = real.startsWith(`${base}/`) && outsideScope([real.slice(base.length + 1)], scope).length > 0;
  if (!strays) return allow;
  const note = `This file is outside your file scope (${scope.join(", ")}). If the task needs it, say why when you finish.`;
  return { decision: "allow", note };
}

/** Programs get new tools with each version. What one takes tells what it could do. */
function checkUnknown(request: GuardRequest, policy: GuardPolicy, means: GuardMeans): Verdict {
  const { tool, input } = request;
  if (textIn(input, ["command"]) !== undefined) return checkExecution(request, policy, means) ?? allow;
  if (policy.files === "read-only") {
    return deny("unknown-tool", `nobody knows what ${tool} changes, and a ${policy.capability} changes nothing`);
  }
  if (textIn(input, pathFields) !== undefined) return checkEdit(request, policy, means);
  const changes = textIn(input, ["content", "new_string", "new_source", "patch", "diff"]) !== undefined;
  return changes ? deny("unknown-tool", `nobody knows which file ${tool} changes; use the tools for files`) : allow;
}

function textIn(input: unknown, names: readonly string[]): string | undefined {
  if (typeof input !== "object" || input === null) return undefined;
  const fields: Readonly<Record<string, unknown>> = { ...input };
  for (const name of names) {
    const value = fields[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}
