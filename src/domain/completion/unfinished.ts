import type { Agent } from "../agent/agent.ts";
import { type Capability, canonical, isIn } from "../agent/capability.ts";
import { type OffBranch, offBranchPlace, subjectsOf } from "../worktree/change.ts";
import type { StoredCheck } from "./check.ts";

/** The facts about an agent that ended its turns and never had a finish accepted. */
export interface UnfinishedFacts {
  readonly agent: Pick<
    Agent,
    "capability" | "generation" | "branch" | "ahead" | "dirty" | "headCommit" | "worktreePath" | "reminders"
  >;
  /** Every finish that this incarnation asked for. */
  readonly asked: readonly Pick<StoredCheck, "status" | "problem" | "seq" | "commitId">[];
  /** The messages of its commits, newest first. */
  readonly commits: readonly string[];
  /** Null when its branch holds all its commits. */
  readonly offBranch: OffBranch | null;
}

interface Reminded {
  readonly agent: Pick<Agent, "generation" | "reminders">;
}

const sinceWords = ({ generation }: Reminded["agent"]): string =>
  generation === 1 ? "" : " since it was started again";

/** Why the agent counts as not finished, for its parent: it never called finish, or what its last finish lacked. */
export function neverFinished({ agent, asked }: Pick<UnfinishedFacts, "asked"> & Reminded): string {
  const last = asked.toSorted((a, b) => a.seq - b.seq).at(-1);
  const reminded =
    agent.reminders === 0 ? "" : `, and was reminded ${agent.reminders === 1 ? "once" : `${agent.reminders} times`}`;
  if (last === undefined) return `it never called finish (ov done)${sinceWords(agent)}${reminded}`;
  const lacked = last.problem.map(({ message }) => message).join("; ");
  return `its last finish (ov done) was refused${lacked === "" ? "" : ` (${lacked})`}, it did not call it again${reminded}`;
}

/** Says in sentences which commits and files the agent leaves, and what the gates said of the commits on its branch. */
export function leftUnfinished({ agent, asked, commits, offBranch }: UnfinishedFacts): string {
  const { capability, branch, ahead, dirty, headCommit, worktreePath } = agent;
  const uncommitted = dirty ? ` Uncommitted changes are in its worktree${at(worktreePath)}.` : "";
  if (headCommit === null) return "It is not known what it committed; its worktree and branch are kept.";
  if (ahead === 0 && offBranch === null && !isIn("implementation", capability)) {
    return `It was to commit nothing; ${owed(capability)} did not come.${uncommitted} Its worktree and branch are kept.`;
  }
  const onBranch =
    offBranch === null
      ? { tip: headCommit, count: ahead, messages: commits }
      : { tip: offBranch.branchTip, count: offBranch.branchMessages.length, messages: offBranch.branchMessages };
  const proof = gateWords({ agent, asked }, onBranch.tip);
  const held = `${onBranchWords(branch ?? "its branch", onBranch, proof)}${offBranchWords(offBranch, worktreePath)}`;
  return `${held}${uncommitted} Its worktree and branch are kept.`;
}

/** What an agent that writes no code gives its parent. */
function owed(capability: Capability): string {
  if (canonical(capability) === "lead") return "its report, and the handing over of what its agents built,";
  return capability === "reviewer" ? "its verdict" : "its report";
}

interface Committed {
  readonly tip: string | null;
  readonly count: number;
  readonly messages: readonly string[];
}

function onBranchWords(place: string, { tip, count, messages }: Committed, proof: string): string {
  if (count === 0 || tip === null) return `There is no commit of it on ${place}.`;
  const counted = count === 1 ? "1 commit" : `${count} commits`;
  return `It leaves ${counted} on ${place} (${tip.slice(0, 10)})${subjectList(messages)}; ${proof}.`;
}

/** A finish that was refused may have had the gates run on exactly this commit. */
function gateWords({ agent, asked }: Pick<UnfinishedFacts, "asked"> & Reminded, tip: string | null): string {
  const looked = asked.filter(({ commitId }) => commitId === tip);
  if (looked.length === 0) return `no gate was run on them${sinceWords(agent)}`;
  const failed = looked.some(({ problem }) => problem.some(({ kind }) => kind === "gate"));
  return failed ? "the gates do not pass on them" : "no finish was accepted with them";
}

function offBranchWords(offBranch: OffBranch | null, worktreePath: string | null): string {
  if (offBranch === null) return "";
  const { messages } = offBranch;
  const [counted, are, them] =
    messages.length === 1 ? ["1 commit", "is", "it"] : [`${messages.length} commits`, "are", "them"];
  return ` ${counted} of it ${are} not on that branch, so landing the branch would leave ${them} out${subjectList(messages)} (${offBranchPlace(offBranch)}, in its worktree${worktreePath === null ? "" : ` ${worktreePath}`}).`;
}

function subjectList(messages: readonly string[]): string {
  const list = subjectsOf(messages);
  return list === "" ? "" : `: ${list}`;
}

const at = (path: string | null): string => (path === null ? "" : ` (${path})`);
