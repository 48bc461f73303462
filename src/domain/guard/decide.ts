import { outsideScope } from "../agent/scope.ts";
import { checkCommand } from "./commands.ts";
import { checkWrite, type GuardMachine, isScratch, joined, lookedUpOnce, type Places, scratchHint } from "./paths.ts";
import type { GuardPolicy } from "./policy.ts";
import { isSecret, secret } from "./secrets.ts";
import { allow, type Denial, deny, type ToolUse, type Verdict } from "./tool-use.ts";

/** One use of a tool that an agent is about to make. */
export interface GuardRequest extends ToolUse {
  /** What its program calls it; null when that was not told. */
  readonly tool: string | null;
  /** Where the agent's program stands. */
  readonly cwd: string | null;
  /** A person sits in front of the agent and can answer. */
  readonly attended: boolean;
}

/**
 * May this tool be used so? One answer for every program that asks. It makes mistakes visible at once and says what to
 * do instead; it is no wall: a program that an agent wrote itself is not looked into.
 */
export function decide(request: GuardRequest, policy: GuardPolicy, { parse, places }: GuardMachine): Verdict {
  const { tool, kind, attended } = request;
  const machine: GuardMachine = { parse, places: lookedUpOnce(places) };
  if (policy.off) return allow;
  if (tool === null) return deny("unreadable", "the hook was not told which tool is used");
  switch (kind) {
    case "own":
    case "think":
    case "fetch":
      return allow;
    case "read":
    case "search":
      return checkRead(request, policy, machine);
    case "delegate":
      return deny("team-tools", `${tool} starts or steers agents that nobody here knows; delegate with: ov sling`);
    case "ask":
    case "switch_mode":
      return attended ? allow : deny("person-tools", `${tool} waits for a person, and none is here; ${askByMail}`);
    case "execute":
      // Some programs take a patch out of a command and apply it themselves.
      return (
        checkExecution(request, policy, machine) ?? (request.changes ? checkEdit(request, policy, machine) : allow)
      );
    case "edit":
    case "delete":
    case "move":
      return checkEdit(request, policy, machine);
    case "other":
      return checkUnknown(request, policy, machine);
  }
}

const askByMail =
  "ask by mail: your parent for facts (ov mail send --to <parent> --type question --subject <what> --body <text>), the operator for decisions of taste or scope (--to operator --type decision_gate, with the options in --payload)";

/** No system takes a longer argument of a program, and a shell gets its command as one. */
const longestCommand = 128 * 1024;

function checkExecution(
  { tool, command, cwd }: GuardRequest,
  policy: GuardPolicy,
  machine: GuardMachine,
): Denial | undefined {
  if (command === null) return deny("unreadable", `the hook was not told what ${tool} is to run`);
  if (command.length > longestCommand)
    return deny("unreadable", "this is too long to be read; put it into a file of yours");
  return checkCommand(command, cwd ?? policy.worktree, policy, machine);
}

function checkEdit(
  { tool, paths, cwd }: Pick<GuardRequest, "tool" | "paths" | "cwd">,
  policy: GuardPolicy,
  { places }: GuardMachine,
): Verdict {
  const keepsOut = policy.files === "read-only";
  const named = filesNamed(paths, cwd ?? policy.worktree, places);
  if (keepsOut && (named.length === 0 || !named.every((path) => isScratch(path, policy, places)))) {
    const instead = `report what should change and who owns it${scratchHint(policy)}`;
    return deny("read-only", `a ${policy.capability} changes no files; ${instead}`);
  }
  if (paths.length === 0) return deny("unreadable", `the hook was not told which file ${tool} changes`);
  let verdict: Verdict = allow;
  for (const path of named) {
    const denied = checkWrite(path, policy, places);
    if (denied !== undefined) return denied;
    const scoped = withScope(path, policy, places);
    if (scoped !== allow) verdict = scoped;
  }
  return verdict;
}

/** The files that these names may mean to the program that was given them. */
const filesNamed = (paths: readonly string[], cwd: string, places: Places): readonly string[] =>
  paths.flatMap((path) => [
    joined(cwd, path) ?? path,
    // Some programs replace a tilde as a shell does. Which ones do is not known here, so both files count.
    ...(/^~(\/|$)/.test(path) ? [`${places.home ?? "/"}${path.slice(1)}`] : []),
  ]);

/** Everything may be read but what is secret. */
function checkRead({ paths, cwd }: GuardRequest, policy: GuardPolicy, { places }: GuardMachine): Verdict {
  const isHidden = filesNamed(paths, cwd ?? policy.worktree, places).some((path) => isSecret(path, policy, places));
  return isHidden ? secret : allow;
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
function checkUnknown(request: GuardRequest, policy: GuardPolicy, machine: GuardMachine): Verdict {
  const { tool, command, paths, changes } = request;
  if (command !== null) return checkExecution(request, policy, machine) ?? allow;
  if (policy.files === "read-only") {
    return deny("unknown-tool", `nobody knows what ${tool} changes, and a ${policy.capability} changes nothing`);
  }
  if (sendsAway.test(tool ?? "")) return deny("publish", `${tool} would send something away; report that it is ready`);
  if (paths.length > 0) return checkEdit(request, policy, machine);
  return changes || changesBy.test(tool ?? "")
    ? deny("unknown-tool", `nobody knows which file ${tool} changes; use the tools for files`)
    : allow;
}

/** Names of tools by what they do, as servers of tools have them: `mcp__forge__create_issue`, `forge.createIssue`. */
const verb = (verbs: string): RegExp => new RegExp(`(?:^|[_.:/-])(?:${verbs})(?=$|[_.:/A-Z-])`, "");
const sendsAway = verb("push|publish|deploy|merge|release|send|upload|post");
const changesBy = verb(
  "write|create|update|delete|remove|edit|move|rename|insert|add|set|put|apply|patch|exec|execute|run|eval|evaluate|kill|drop|reset|commit|fork|close|save|install",
);
