import type { Agent } from "../agent/agent.ts";
import type { StoredCheck } from "./check.ts";

/** The facts about an agent that ended its turns and never had a finish accepted. */
export interface UnfinishedFacts {
  readonly agent: Pick<Agent, "branch" | "ahead" | "dirty" | "headCommit" | "worktreePath" | "reminders">;
  /** Every finish that this incarnation asked for. */
  readonly asked: readonly Pick<StoredCheck, "status" | "problem" | "seq">[];
  /** The messages of its commits, newest first. */
  readonly commits: readonly string[];
}

/** Why the agent counts as not finished, for its parent: it never called finish, or what its last finish lacked. */
export function neverFinished({ agent, asked }: UnfinishedFacts): string {
  const last = asked.toSorted((a, b) => a.seq - b.seq).at(-1);
  const reminded =
    agent.reminders === 0 ? "" : `, and was reminded ${agent.reminders === 1 ? "once" : `${agent.reminders} times`}`;
  if (last === undefined) return `it never called finish (ov done)${reminded}`;
  const lacked = last.problem.map(({ message }) => message).join("; ");
  return `its last finish (ov done) was refused${lacked === "" ? "" : ` (${lacked})`}, it did not call it again${reminded}`;
}

const mostSubjects = 10;

/** Says in sentences which commits and files the agent leaves. No gate has checked them. */
export function leftUnfinished({ agent, commits }: UnfinishedFacts): string {
  const { branch, ahead, dirty, headCommit, worktreePath } = agent;
  const place = branch === null ? "its branch" : branch;
  const uncommitted = dirty ? ` Uncommitted changes are in its worktree${at(worktreePath)}.` : "";
  if (headCommit === null) return "It is not known what it committed; its worktree and branch are kept.";
  if (ahead === 0) return `There is no commit of it on ${place}.${uncommitted} Its worktree and branch are kept.`;
  const subjects = commits.map((message) => message.split("\n")[0] ?? "").filter((subject) => subject !== "");
  const named = subjects.slice(0, mostSubjects).map((subject) => `"${subject}"`);
  const more = subjects.length > mostSubjects ? [`${subjects.length - mostSubjects} more`] : [];
  const list = named.length === 0 ? "" : `: ${[...named, ...more].join(", ")}`;
  const count = ahead === 1 ? "1 commit" : `${ahead} commits`;
  return `It leaves ${count} on ${place} (${headCommit.slice(0, 10)})${list}; no gate was run on them.${uncommitted} Its worktree and branch are kept.`;
}

const at = (path: string | null): string => (path === null ? "" : ` (${path})`);
