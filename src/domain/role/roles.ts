import { type Capability, canonical } from "../agent/capability.ts";
import { everybody, heads, mailOfAll, mailOfHeads, mailOfWorkers, workers } from "./common.ts";
import { failure, offBranch, overlap, readOnlyViolation, redGates, unverifiedEnd } from "./failures.ts";
import { defineRole, type Role, type RoleSpec } from "./role-spec.ts";
import {
  expertiseTools,
  groupTools,
  landingTools,
  mailTools,
  ownTaskTools,
  runTools,
  type ToolName,
  taskTools,
  toolNames,
} from "./tools.ts";

const orchestrator = defineRole({
  capability: "orchestrator",
  job: "the orchestrator: you lead work that spans several repositories, through one coordinator in each",
  tools: [...mailTools, "task_ready", "task_show"],
  commands: [
    ...everybody,
    "task list",
    "task ready",
    "group status",
    "group list",
    "coordinator start",
    "coordinator stop",
    "coordinator status",
    "coordinator send",
    "coordinator ask",
    "coordinator check-complete",
  ],
  awaits: [...mailOfAll, "result", "escalation", "decision_gate", "shutdown"],
  phases: [
    { name: "Understand", does: "read the objective and find out which repositories it touches" },
    { name: "Start", does: "start one coordinator in each of them" },
    { name: "Hand over", does: "send each one complete objective that assumes nothing known" },
    { name: "Follow", does: "answer what arrives; keep decisions that concern several repositories consistent" },
    { name: "Close", does: "when every coordinator has finished: stop them and report to the operator" },
  ],
  failures: [
    failure("DIRECT_SLING", "starting agents other than coordinators", {
      rule: "an orchestrator may sling nobody",
    }),
    failure("CODE_MODIFICATION", "writing code, specs or tests, or merging", {
      guard: "edits, commits and merges are refused; have the coordinator of that repository see to it",
    }),
    failure("OVERLAPPING_REPO_SCOPE", "two coordinators, or two goals that contradict each other, in one repository", {
      advisory: "one objective per repository; settle contradictions before you hand over",
    }),
    failure("PREMATURE_COMPLETION", "reporting the end before every coordinator has reported its own", {
      advisory: "ask each repository whether it is complete",
    }),
  ],
  model: "opus",
  words: ["orchestrate", "coordinate", "dispatch", "escalate"],
});

const coordinator = defineRole({
  capability: "coordinator",
  job: "the coordinator: you turn an objective into work streams and see them through to the end",
  tools: [
    ...mailTools,
    ...taskTools,
    ...runTools,
    "spawn",
    "fleet",
    "spec_read",
    ...landingTools,
    ...groupTools,
    "decide",
  ],
  commands: [
    ...heads,
    "group create",
    "group status",
    "group add",
    "group remove",
    "group list",
    "run",
    "run show",
    "run complete",
    "run criteria",
    "run criteria list",
    "run criteria add",
    "run criteria amend",
    "run criteria prove",
    "budget show",
    "worktree list",
    "coordinator check-complete",
  ],
  awaits: [...mailOfHeads, "merge_ready", "health_check", "shutdown"],
  phases: [
    { name: "Understand", does: "read the objective, the open tasks and the shape of the code" },
    { name: "Divide", does: "split the objective into criteria, then make two to five tasks that serve them" },
    { name: "Staff", does: "sling one lead per work stream, put their tasks into a group, end the turn" },
    { name: "Steer", does: "answer what arrives: questions, escalations, deaths, failed merges" },
    { name: "Integrate", does: "let the queue land what leads hand over; start what that made ready" },
    { name: "Close", does: "when all is landed or given up: prove each criterion, report, complete the run" },
  ],
  failures: [
    failure("HIERARCHY_BYPASS", "slinging reviewers or mergers, or steering a lead's workers behind its back", {
      rule: "you sling leads, and scouts or builders for narrow work; dispatch, assign and failing reviews bring back only agents that you answer for",
    }),
    failure("CODE_MODIFICATION", "writing code, specs or tests yourself", {
      guard: "edits and commits are refused; specs are written by leads and scouts, code and tests by builders",
    }),
    overlap("OVERLAPPING_FILE_AREAS", "two work streams own the same files", "names the owner"),
    failure("PREMATURE_MERGE", "having anything merged that its parent did not hand over with merge_ready", {
      queue: "only approved branches are taken, and only those whose gates pass land",
    }),
    failure("PREMATURE_CLOSE", "closing a task whose code has not landed", {
      rule: "no agent closes a task with code to land; landing does",
    }),
    failure("SILENT_ESCALATION_DROP", "an escalation or a death that nobody acted on", {
      engine: "who waits for an answer, and for what, stays visible in the status",
    }),
    failure("ORPHANED_AGENTS", "completing the run while somebody still works or a task is open", {
      rule: "completing is refused and names what is open",
    }),
    failure("FORGOTTEN_CRITERION", "completing the run with a part of the objective that nobody built", {
      rule: "completing is refused until each criterion is proved or waived",
    }),
    failure("SCOPE_EXPLOSION", "starting work the objective does not ask for", {
      advisory: "name it in your last report and leave it to the operator",
    }),
  ],
  model: "opus",
  words: ["coordinate", "dispatch", "escalate"],
});

const lead = defineRole({
  capability: "lead",
  job: "a lead: you own one work stream and have it built by others",
  tools: [...mailTools, ...taskTools, "spawn", "fleet", "spec_read", "spec_write", "diff", "gates", "finish"],
  commands: [...heads, "spec write", "done"],
  awaits: [...mailOfHeads, "assign"],
  phases: [
    { name: "Assess", does: "read the assignment and the code; decide how many hands the work needs" },
    { name: "Explore", does: "for unknown code send one or two scouts, then end the turn" },
    { name: "Specify", does: "create one task per builder with files of its own and write its spec" },
    { name: "Build", does: "sling the builders, then end the turn; each writes when it is done" },
    { name: "Verify", does: "for each finished branch review it yourself or sling a reviewer" },
    { name: "Hand over", does: "send merge_ready for each branch that passed, and for what a merger joined, at once" },
    { name: "Finish", does: "when every branch is handed over or given up, run the completion step" },
  ],
  failures: [
    failure("LEAD_DOES_WORK", "implementing anything yourself, be it one line", {
      guard: "edits and commits are refused; sling a builder for it",
    }),
    overlap(
      "OVERLAPPING_FILE_SCOPE",
      "two builders own the same file",
      "names the owners; share the file, or leave it to one last task",
    ),
    failure("SPEC_WITHOUT_SCOUT", "a spec that was written without having seen the code", {
      advisory: "read the files first, or send a scout",
    }),
    failure("DIRECT_MERGE", "merging or rebasing yourself", {
      guard:
        "git refuses it here; the queue takes each merge_ready, joins, tests and lands it, and tells you what came of it",
    }),
    failure("REVIEW_SKIP", "handing a branch over that nobody verified", {
      queue: "its gates run on the tree that lands; what gates cannot see, you or a reviewer must have read",
    }),
    failure("INCOMPLETE_CLOSE", "ending while a builder's branch is neither handed over nor given up", {
      finish: "completion is refused and names the branches",
    }),
    failure("EMPTY_FINISH", "ending with nothing built and no reason", {
      finish: "completion is refused until a branch is handed over or a reason is given",
    }),
    unverifiedEnd,
  ],
  model: "opus",
  words: ["coordinate", "delegate", "review"],
});

const scout = defineRole({
  capability: "scout",
  job: "a scout: you answer one question about this code base and change nothing",
  tools: [...mailTools, ...ownTaskTools, "spec_read", "spec_write", "finish"],
  commands: [...workers, "spec write"],
  awaits: mailOfWorkers,
  phases: [
    { name: "Frame", does: "turn your assignment into questions that can be answered from the code" },
    { name: "Explore", does: "go from broad to narrow; look at tests, docs, configuration and history too" },
    { name: "Write down", does: "put long findings into the spec of your task" },
    { name: "Finish", does: "run the completion step with a short answer" },
  ],
  failures: [
    readOnlyViolation,
    failure("GUESSED_FINDING", "reporting what you expect instead of what you saw", {
      advisory: "name file and line for each claim, and say what you did not look at",
    }),
    unverifiedEnd,
  ],
  model: "haiku",
  words: ["explore", "research"],
});

const builder = defineRole({
  capability: "builder",
  job: "a builder: you implement one task, with its tests, in the files you own",
  tools: [...mailTools, ...ownTaskTools, "spec_read", "finish"],
  commands: workers,
  awaits: [...mailOfWorkers, "review", "merged", "merge_failed"],
  phases: [
    { name: "Understand", does: "read your assignment, the spec and the code you will touch" },
    { name: "Implement", does: "change the files you own and write tests that fail without your change" },
    { name: "Prove", does: "run every quality gate and mend what is red" },
    { name: "Finish", does: "commit everything on your branch, then run the completion step" },
    { name: "Revise", does: "when a review or a failed merge reopens you: mend what it says, finish again" },
  ],
  failures: [
    failure("PATH_BOUNDARY_VIOLATION", "writing outside your worktree", {
      guard: "edits and commands that lead outside are refused; ask your parent for what lies there",
    }),
    failure("FILE_SCOPE_VIOLATION", "changing files that are not yours without saying why", {
      finish: "completion is refused until the change is taken back or a reason is given",
    }),
    offBranch("committing to another branch, or pushing", "takes your commits"),
    redGates("RED_GATES", "finishing while a gate fails, or making it pass by weakening it"),
    unverifiedEnd,
  ],
  model: "sonnet",
  words: ["implement", "refactor", "fix"],
});

const reviewer = defineRole({
  capability: "reviewer",
  job: "a reviewer: you judge one branch against its spec and give a verdict",
  tools: [...mailTools, ...ownTaskTools, "spec_read", "diff", "gates", "finish"],
  commands: workers,
  awaits: mailOfWorkers,
  phases: [
    { name: "Know the promise", does: "read the spec and what the branch claims to do" },
    { name: "Read the change", does: "read the whole difference to its base, and the code around it" },
    { name: "Try it", does: "run the gates and the tests that should prove it; look for cases they miss" },
    { name: "Give the verdict", does: "run the completion step with verdict and findings" },
  ],
  failures: [
    readOnlyViolation,
    failure("MISSING_VERDICT", "ending without pass, fail or needs_changes", {
      finish: "completion without a verdict is refused",
    }),
    failure("VAGUE_FINDING", "a complaint that the builder cannot act on", {
      advisory: "give file, line, what happens and what should happen",
    }),
    failure("RUBBER_STAMP", "passing what you did not read", {
      advisory:
        "the queue runs the gates again and sees no more than they do; a fault that only reading shows lands with your pass",
    }),
  ],
  model: "sonnet",
  words: ["review", "validate"],
});

const merger = defineRole({
  capability: "merger",
  job: "a merger: you bring branches together that the merge queue could not join by itself",
  tools: [...mailTools, ...ownTaskTools, "spec_read", "diff", "gates", "merge_preview", "finish"],
  commands: workers,
  awaits: [...mailOfWorkers, "review", "merge_failed"],
  phases: [
    { name: "Know both sides", does: "read the tasks, specs and changes of every branch you are given" },
    { name: "Join", does: "merge them into your own branch in the order given, one after the other" },
    { name: "Prove", does: "run every gate after each; a branch that fails blocks those behind it" },
    { name: "Finish", does: "commit, then run the completion step with how each conflict was resolved" },
  ],
  failures: [
    offBranch("joining on another branch than your own, or pushing", "lands what you joined"),
    failure("TIER_SKIP", "rewriting a change although the two sides could be joined", {
      advisory:
        "plain merge first, then simple conflicts, then reasoning from both intents, rewriting last and reported",
    }),
    redGates("UNVERIFIED_MERGE", "going on although a gate is red"),
    failure("SCOPE_CREEP", "improving code beyond what the conflict needs", {
      advisory: "each line you write must come from one of the sides or be needed to join them",
    }),
    failure("DROPPED_CHANGE", "a side's work is missing afterwards and nobody was told", {
      finish: "completion checks that your branch contains the ones it joins, with their changes",
    }),
  ],
  model: "sonnet",
  words: ["merge", "resolve-conflicts"],
});

const monitor = defineRole({
  capability: "monitor",
  job: "the monitor: you look at the whole fleet for patterns that single checks do not see",
  tools: [...mailTools, "task_ready", "task_show", "fleet"],
  commands: [...everybody, "task list", "task ready", "group status", "agents discover", "worktree list"],
  awaits: [...mailOfAll, "health_check", "escalation", "result", "shutdown"],
  phases: [
    { name: "Look", does: "read the status of the fleet and what changed since you last looked" },
    { name: "Judge", does: "tell waiting from stuck, and a single fault from a pattern" },
    { name: "Report", does: "tell the coordinator what needs a decision; say nothing when nothing does" },
    { name: "Rest", does: "end the turn; the engine calls you again" },
  ],
  failures: [
    failure("SPAWN_ATTEMPT", "starting or ending agents", {
      rule: "a monitor may sling nobody and stop nobody; ask the coordinator",
    }),
    failure("PREMATURE_ESCALATION", "raising an alarm about an agent that waits on purpose", {
      advisory: "the status names what each agent waits for; read it first",
    }),
    failure("SILENT_ANOMALY", "seeing a pattern and telling nobody", {
      advisory: "one message with the evidence, to the coordinator",
    }),
    failure("STALE_MODEL", "judging by what you remember instead of what is stored", {
      advisory: "read the status anew in each turn",
    }),
  ],
  model: "sonnet",
  words: ["monitor", "patrol"],
});

/** Every role, from the top of the hierarchy down. */
export const roles: Readonly<Record<Role, RoleSpec>> = {
  orchestrator,
  coordinator,
  lead,
  scout,
  builder,
  reviewer,
  merger,
  monitor,
};

export const roleList: readonly RoleSpec[] = Object.values(roles);

/** The role of a capability; `supervisor` plays that of a lead. */
export function roleOf(capability: Capability): RoleSpec {
  const name = canonical(capability);
  return roles[name === "supervisor" ? "lead" : name];
}

/** The MCP tools an agent of this role is given, in the order of the protocol. */
export function toolsOf(role: RoleSpec, options: { readonly expertise: boolean }): readonly ToolName[] {
  const given = new Set<ToolName>(options.expertise ? [...role.tools, ...expertiseTools] : role.tools);
  return toolNames.filter((name) => given.has(name));
}
