import { type Agent, isSubmitted } from "../../domain/agent/agent.ts";
import { canonical, isIn } from "../../domain/agent/capability.ts";
import type { ChildFacts } from "../../domain/completion/children.ts";
import { branchesIn } from "../../domain/completion/given-branches.ts";
import type { DoneRequest } from "../../domain/completion/request.ts";
import type { CompletionFacts } from "../../domain/completion/rules.ts";
import type { Tx } from "../../ports/store.ts";
import { ownerOfBranch } from "../merge/branch-owner.ts";
import { newestPerName } from "../status/newest-per-name.ts";

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

/** Branches of agents that stand in the assignment: what a merger was given to join. */
export async function givenBranches(tx: Tx, agent: Agent): Promise<readonly string[]> {
  const task = agent.taskId === null ? undefined : await tx.tasks.get(agent.taskId);
  const received = await tx.messages.list({ to: agent.name });
  const orders = received.filter(({ type }) => type === "dispatch" || type === "assign");
  const texts = [
    task?.title ?? null,
    task?.description ?? null,
    agent.instructions,
    ...orders.flatMap(({ body, payload }) => [body, payload]),
  ];
  const known: string[] = [];
  for (const branch of branchesIn(texts)) {
    if (branch !== agent.branch && (await ownerOfBranch(tx, branch)) !== undefined) known.push(branch);
  }
  return known;
}

async function hasReviewed(tx: Tx, agent: Agent): Promise<boolean> {
  const [last] = await tx.messages.list({ from: agent.name, type: "review", limit: 1 });
  return last?.fromAgentId === agent.id;
}

/** As it was named; else the branch it started from, the one its assignment names, or the only one there is to judge. */
async function reviewedBranch(tx: Tx, agent: Agent, { branch }: DoneRequest): Promise<string | null> {
  if (branch !== null) return (await tx.agents.byName(branch))?.branch ?? branch;
  if (agent.baseRef !== null && (await ownerOfBranch(tx, agent.baseRef)) !== undefined) return agent.baseRef;
  const given = await givenBranches(tx, agent);
  if (given.length > 0) return only(given);
  const siblings = newestPerName(await tx.agents.list({ parentName: agent.parentName, runId: agent.runId }));
  const submitted = siblings.filter((one) => isIn("implementation", one.capability) && isSubmitted(one));
  return only(submitted.flatMap((one) => one.branch ?? []));
}

/** Branches of its own run that it was given: where it started, what its assignment names, its task's, its siblings'. */
async function mayReview(tx: Tx, agent: Agent): Promise<readonly string[]> {
  const { runId, taskId, parentName, baseRef } = agent;
  const beside = [
    ...(await tx.agents.list({ parentName, runId })),
    ...(taskId === null ? [] : await tx.agents.list({ taskId, runId })),
  ].filter((one) => isIn("implementation", one.capability));
  const named = [...(baseRef === null ? [] : [baseRef]), ...(await givenBranches(tx, agent))];
  const own: string[] = [];
  for (const branch of named) if ((await ownerOfBranch(tx, branch))?.runId === runId) own.push(branch);
  return [...new Set([...own, ...beside.flatMap(({ branch }) => branch ?? [])])].toSorted();
}

const only = (branches: readonly string[]): string | null => (branches.length === 1 ? (branches[0] ?? null) : null);

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
