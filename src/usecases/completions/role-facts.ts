import type { Agent } from "../../domain/agent/agent.ts";
import { canonical, isIn } from "../../domain/agent/capability.ts";
import type { ChildFacts } from "../../domain/completion/children.ts";
import type { DoneRequest } from "../../domain/completion/request.ts";
import type { CompletionFacts } from "../../domain/completion/rules.ts";
import type { Tx } from "../../ports/store.ts";
import { newestPerName } from "../status/newest-per-name.ts";
import { mayReview, reviewedBranch } from "./under-review.ts";

export type RoleFacts = Pick<
  CompletionFacts,
  "mailSubjects" | "reviewed" | "reviewedBranch" | "mayReview" | "children"
>;

/** What the store knows that decides about a completion; only what the agent's capability is asked about is read. */
export async function roleFacts(tx: Tx, agent: Agent, request: DoneRequest): Promise<RoleFacts> {
  const capability = canonical(agent.capability);
  const reviews = capability === "reviewer";
  const sent = agent.scope.length === 0 ? [] : await tx.messages.list({ from: agent.name });
  return {
    mailSubjects: sent.map(({ subject }) => subject),
    reviewed: reviews && (await hasReviewed(tx, agent)),
    reviewedBranch: reviews ? await reviewedBranch(tx, agent, request) : null,
    mayReview: reviews && request.branch !== null ? await mayReview(tx, agent) : [],
    children: capability === "lead" ? await childrenOf(tx, agent) : [],
  };
}

async function hasReviewed(tx: Tx, agent: Agent): Promise<boolean> {
  const [last] = await tx.messages.list({ from: agent.name, type: "review", limit: 1 });
  return last?.fromAgentId === agent.id;
}

async function childrenOf(tx: Tx, lead: Agent): Promise<readonly ChildFacts[]> {
  const children = newestPerName(await tx.agents.list({ parentName: lead.name }));
  const facts: ChildFacts[] = [];
  for (const agent of children) {
    if (!isIn("implementation", agent.capability)) continue;
    const task = agent.taskId === null ? undefined : await tx.tasks.get(agent.taskId);
    const entries = agent.branch === null ? [] : await tx.merges.list({ branch: agent.branch });
    const finished = (await tx.checks.completionsOf(agent.id)).some(({ status }) => status === "done");
    facts.push({ agent, finished, entries, abandoned: task?.mergeState === "abandoned" });
  }
  return facts;
}
