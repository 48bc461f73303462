import { capabilities, isIn, spawnable } from "../../domain/agent/capability.ts";
import type { Overlap } from "../../domain/agent/scope.ts";
import { tellIdentity } from "../../domain/project/set-up.ts";
import type { AgentRefusal, LimitSource } from "../../domain/refusal.ts";
import { runFlag } from "../../domain/run/run.ts";
import { namedIn } from "../../domain/text/long-list.ts";
import { listed, rejected, unchanged, type Words } from "./description.ts";
import { exits } from "./exits.ts";

/** Refusals about starting, recovering and stopping agents, most of them because an agent gets no seat. */
export function agentWords(refusal: AgentRefusal): Words {
  switch (refusal.kind) {
    case "runtime-unavailable":
      return {
        ...rejected("AGENT_ERROR"),
        exit: exits.setup,
        message: `${refusal.runtime} cannot be started here: ${programTrouble(refusal)}; no agent was started`,
        hint: programHint(refusal),
      };
    case "unconfined":
      return {
        ...rejected("AGENT_ERROR"),
        exit: exits.setup,
        message: `agents cannot be confined here, and sandbox.required says that they must be: ${refusal.problem}; no agent was started`,
        hint: "install bubblewrap and allow user namespaces, or let agents work guarded only: ov config set sandbox.required false",
      };
    case "committer-unknown":
      return {
        ...rejected("AGENT_ERROR"),
        exit: exits.setup,
        message: `agents could not commit anything, because git does not know who commits here (${refusal.said}); no agent was started`,
        hint: tellIdentity,
      };
    case "name-taken":
      if (refusal.leads?.status === "active") return leadingAlready(refusal.name, refusal.leads);
      if (refusal.leads !== undefined) return endingStill(refusal.name, refusal.leads);
      return {
        ...rejected("AGENT_ERROR"),
        message: `an agent named "${refusal.name}" already exists (${refusal.state}); no agent was started`,
        hint: "choose another --name, or see who has this one: ov status --all",
      };
    case "too-deep":
      return {
        ...rejected("HIERARCHY_VIOLATION"),
        message: `this agent would be at depth ${refusal.depth}, and at most ${refusal.limit} is allowed (${limitWords(refusal.limitFrom)}); no agent was started`,
        hint: `start it from an agent nearer the top, or raise the limit: ${raiseWords(refusal.limitFrom)}`,
      };
    case "run-full":
      return {
        ...full,
        message: `run ${refusal.run} has had ${counted(refusal.agents, "agent")} and may have ${refusal.limit} in all, coordinators and ended agents included (${limitWords(refusal.limitFrom)}); no agent was started`,
        hint: `raise the limit: ${raiseWords(refusal.limitFrom)}; or end the run: ov run complete${runFlag(refusal.run)}`,
      };
    case "parent-full":
      return {
        ...full,
        message: `"${refusal.parent}" has ${counted(refusal.children, "live child", "live children")} and may have ${refusal.limit} (${limitWords(refusal.limitFrom)}); no agent was started`,
        hint: `wait until one of them ends (ov status), or raise the limit: ${raiseWords(refusal.limitFrom)}`,
      };
    case "parent-ended":
      return {
        ...rejected("LIFECYCLE_ERROR"),
        message: `the parent "${refusal.parent}" has ended (${refusal.state}); no agent was started`,
        hint: "name a live parent with --parent: ov status",
      };
    case "may-not-spawn":
      return {
        code: "HIERARCHY_VIOLATION",
        exit: exits.permission,
        retryable: false,
        message: `${refusal.parent} may not start ${withArticle(refusal.capability)}; no agent was started`,
        hint: `it may start: ${listed(refusal.may)}${otherParents(refusal)}`,
      };
    case "scope-overlap":
      return {
        ...rejected("AGENT_ERROR"),
        message: `${namedIn(refusal.all.map(overlapWords))}; ${unchanged}`,
        hint: overlapHint(refusal),
      };
    case "not-recoverable":
      return {
        ...rejected("AGENT_ERROR"),
        message: `"${refusal.name}" cannot be recovered: ${refusal.why}; ${unchanged}`,
        hint: refusal.next ?? "see who is there: ov status --all",
      };
    case "agents-live": {
      const { names } = refusal;
      const one = names.length === 1;
      return {
        code: "BUSY_ERROR",
        exit: exits.busy,
        retryable: false,
        message: `${names.join(", ")} ${one ? "is" : "are"} live; ${unchanged}`,
        hint: `stop ${one ? "it" : "them"} first: ov stop ${one ? names[0] : "--all"}`,
      };
    }
  }
}

const withArticle = (noun: string): string => `${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`;

/** Names agents that could start it instead. Only the operator may choose a parent. */
function otherParents({ parent, capability }: Extract<AgentRefusal, { kind: "may-not-spawn" }>): string {
  if (parent !== "operator") return "";
  if (isIn("persistent", capability)) {
    const command = capability === "monitor" ? "ov coordinator start --monitor" : `ov ${capability} start`;
    return `; ${withArticle(capability)} is started with: ${command}`;
  }
  const parents = capabilities.filter(
    (one) => one !== "supervisor" && spawnable(one).some((child) => child === capability),
  );
  if (parents.length === 0) return "";
  const who = parents.map(withArticle).join(" or ");
  return `; ${who} may start ${withArticle(capability)}: ov sling <task> --capability ${capability} --parent <name>`;
}

/** Where a limit was set. */
function limitWords(from: LimitSource): string {
  if ("flag" in from) return `${from.flag} of ${from.of}`;
  return from.source === null ? `${from.key}, by default` : `${from.key} in ${from.source}`;
}

const overlapWords = ({ wanted, owned, owner, shared }: Overlap): string =>
  wanted === owned
    ? `"${owner}" ${shared ? "shares" : "owns"} ${owned}`
    : `${wanted} may touch ${owned}, which "${owner}" ${shared ? "shares" : "owns"}`;

/** Files that the other agent shares may be shared. Files that it owns alone are changed by no other agent while it works. */
function overlapHint({ all, toShare }: Extract<AgentRefusal, { kind: "scope-overlap" }>): string {
  const accept = "accept the conflict: ov sling <task> --allow-overlap";
  const paths = toShare?.own ?? [...new Set(all.map(({ owned }) => owned))];
  const share = `ov sling <task> --shares "${paths.join(",")}"`;
  if (all.every(({ shared }) => shared)) return `share them too: ${share}; or ${accept}`;
  const owners = [...new Set(all.filter(({ shared }) => !shared).map(({ owner }) => owner))];
  const first = (toShare?.others ?? []).map(
    ({ task, shares }) => `ov task update ${task} --shares "${shares.join(",")}"`,
  );
  const sharing = first.length === 0 ? "" : `let all of them share the files: ${first.join(", ")}, then ${share}; or `;
  return `${sharing}choose other files; or leave these to one last task that waits for ${owners.join(", ")}; or ${accept}`;
}

/** How a limit is raised where it was set. `ov go --max-agents` writes to config.local.yaml. */
function raiseWords(from: LimitSource): string {
  if ("flag" in from) return from.of === "this sling" ? `${from.flag} <n>` : "ov sling --max-agents <n>, typed by you";
  const { key, source } = from;
  if (source !== null && !source.includes("/")) return `set ${source} to more`;
  return `ov config set ${key} <n>${source?.endsWith("config.local.yaml") === true ? " --local" : ""}`;
}

const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** Seats become free when agents end, so asking again is not pointless. */
const full = { code: "AGENT_ERROR", exit: exits.busy, retryable: true } as const;

function programTrouble({ program, problem }: Extract<AgentRefusal, { kind: "runtime-unavailable" }>): string {
  switch (problem.kind) {
    case "missing":
      return `there is no program "${program}" on PATH`;
    case "broken":
      return `${problem.at} --version failed (${problem.said})`;
    case "unseen":
      return `sandbox.mode is os, and ${problem.at} --version failed where the system confines it (${problem.said})`;
  }
}

function programHint({ program, problem }: Extract<AgentRefusal, { kind: "runtime-unavailable" }>): string {
  if (problem.kind === "unseen") {
    return "show agents the directories that it needs: ov config set sandbox.readable '[\"<directory>\"]', or install it outside of hidden ones";
  }
  // Every runtime needs it.
  if (program === "git") return 'agents commit with git: make sure that this shell runs "git --version"';
  return `make sure that this shell runs "${program} --version", or choose another runtime: --runtime <name>, or where it was chosen: ov config list runtime`;
}

type LedRun = NonNullable<Extract<AgentRefusal, { kind: "name-taken" }>["leads"]>;

const clipped = (text: string): string => (text.length > 60 ? `${text.slice(0, 59)}…` : text);

/** A second team needs a coordinator with another name. Most often the user wants to write to the first one. */
function leadingAlready(name: string, { runId, objective }: LedRun): Words {
  const about = objective === null ? "" : `, "${clipped(objective)}"`;
  // A message of another kind starts no turn, and `ov stop` alone would leave the run active.
  const which = name === "coordinator" ? "" : ` --name ${name}`;
  return {
    ...rejected("AGENT_ERROR"),
    message: `${name} leads run ${runId} already${about}; nothing was started`,
    hint:
      `tell it more: ov coordinator send --body <text>${which}; ` +
      `begin a second run beside it: the same command with --name <another>; ` +
      `or end the first with its run: ov coordinator stop${which}`,
  };
}

/** Its run was ended while it had a turn or mail left. */
const endingStill = (name: string, { runId, status }: LedRun): Words => ({
  ...full,
  message: `${name} is not done yet with run ${runId}, which is ${status}; nothing was started`,
  hint:
    `it ends by itself after its last turn: type the same command again then; ` +
    `to end it now: ov stop ${name}; or begin beside it: the same command with --name <another>`,
});
