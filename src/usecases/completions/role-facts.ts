import { type Agent, isSubmitted, newestPerName } from "../../domain/agent/agent.ts";
import { canonical, isIn } from "../../domain/agent/capability.ts";
import { type ChildFacts, isHandedOver } from "../../domain/completion/children.ts";
import type { GivenUp } from "../../domain/completion/report.ts";
import { branchesIn, type DoneRequest } from "../../domain/completion/request.ts";
import type { CompletionFacts } from "../../domain/completion/rules.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import type { Message } from "../../domain/mail/types.ts";
import { isLastReviewer } from "../../domain/run/run.ts";
import { isUntaken } from "../../domain/task/dependency.ts";
import type { Tx } from "../../ports/store.ts";
import { newestWorkOn } from "../agents/find-agent.ts";
import { landedNowhere } from "../agents/held-agents.ts";
import { ownerOfBranch } from "../merge/branch-owner.ts";
import { detailsOf } from "../tasks/task-detail.ts";

type RoleFacts = Pick<
  CompletionFacts,
  | "mailSubjects"
  | "explained"
  | "reviewed"
  | "reviewedBranch"
  | "readsWholeRun"
  | "mayReview"
  | "children"
  | "openParts"
>;

/** What the store knows that decides about a completion; only what the agent's capability is asked about is read. */
export async function roleFacts(tx: Tx, agent: Agent, request: DoneRequest): Promise<RoleFacts> {
  const capability = canonical(agent.capability);
  const reviews = capability === "reviewer";
  const sent = agent.scope.length === 0 ? [] : await tx.messages.list({ from: agent.name });
  return {
    mailSubjects: sent.map(({ subject }) => subject),
    explained: explainedIn(sent, agent),
    reviewed: reviews && (await hasReviewed(tx, agent)),
    reviewedBranch: reviews ? await reviewedBranch(tx, agent, request) : null,
    readsWholeRun: reviews && (await wholeWork(tx, agent)) !== null,
    mayReview: reviews && request.branch !== null ? await mayReview(tx, agent) : [],
    children: capability === "lead" ? await childrenOf(tx, agent) : [],
    openParts: capability === "lead" ? await openPartsOf(tx, agent) : [],
  };
}

/** What its newest report with a reason said. Only the engine writes that field, from what was accepted. */
function explainedIn(sent: readonly Message[], agent: Agent): CompletionFacts["explained"] {
  for (const { type, payload } of sent) {
    if (type !== "worker_done" && type !== "merged") continue;
    const { branch, expansionReason: reason, filesModified: files } = payloadFields(payload);
    if (branch !== agent.branch || typeof reason !== "string" || !Array.isArray(files)) continue;
    return { reason, files: files.filter((file) => typeof file === "string") };
  }
  return null;
}

/** A verdict on the whole of a run is given with the completion alone: no message of the reviewer's replaces it. */
async function hasReviewed(tx: Tx, agent: Agent): Promise<boolean> {
  if ((await wholeWork(tx, agent)) !== null) return false;
  const [last] = await tx.messages.list({ from: agent.name, type: "review", limit: 1 });
  return last?.fromAgentId === agent.id;
}

async function childrenOf(tx: Tx, lead: Agent): Promise<readonly ChildFacts[]> {
  const children = newestPerName(await tx.agents.list({ parentName: lead.name }));
  const facts: ChildFacts[] = [];
  const joined = await joinedBy(tx, children);
  for (const agent of children) {
    if (!isIn("implementation", agent.capability)) continue;
    const task = agent.taskId === null ? undefined : await tx.tasks.get(agent.taskId);
    const entries = agent.branch === null ? [] : await tx.merges.list({ branch: agent.branch });
    const accepted = (await tx.checks.completionsOf(agent.id)).filter(({ status }) => status === "done");
    const finished = accepted.length > 0;
    const gaveReason = accepted.some(({ request }) => request.kind === "completion" && hasReason(request.done));
    const isJoined = agent.branch !== null && joined.has(agent.branch);
    facts.push({ agent, finished, gaveReason, entries, abandoned: task?.mergeState === "abandoned", isJoined });
  }
  return facts;
}

/**
 * Branches of the lead's children in this run that landed nowhere and were let go, each with the reason on record. What a
 * merger joined lands with the branch of the merger.
 */
export async function givenUpBelow(tx: Tx, { name, runId, capability }: Agent): Promise<readonly GivenUp[]> {
  if (canonical(capability) !== "lead") return [];
  const children = newestPerName(await tx.agents.list({ parentName: name, runId }));
  const joined = await joinedBy(tx, children);
  const found: GivenUp[] = [];
  for (const child of children) {
    const { branch, releasedAt } = child;
    if (releasedAt === null || branch === null || joined.has(branch) || !(await landedNowhere(tx, child))) continue;
    const [event] = await tx.events.newest({ agents: [child.name], types: ["released"] }, 1);
    const reason = event === undefined ? undefined : payloadFields(event.data).reason;
    found.push({ branch, reason: typeof reason === "string" ? reason : "no reason is on record" });
  }
  return found;
}

const hasReason = ({ noCode, noCodeReason = null }: DoneRequest): boolean => noCode && noCodeReason !== null;

/** The branches that mergers among these children were given to join, where the branch of the merger was handed over. */
async function joinedBy(tx: Tx, children: readonly Agent[]): Promise<ReadonlySet<string>> {
  const joined = new Set<string>();
  for (const merger of children) {
    if (merger.capability !== "merger" || merger.branch === null) continue;
    const last = (await tx.merges.list({ branch: merger.branch })).at(-1);
    if (last === undefined || !isHandedOver(last)) continue;
    for (const branch of await givenBranches(tx, merger)) joined.add(branch);
  }
  return joined;
}

async function openPartsOf(tx: Tx, { taskId }: Agent): Promise<CompletionFacts["openParts"]> {
  if (taskId === null) return [];
  const unclosed = await tx.tasks.list({ unclosed: true });
  const parts = unclosed.filter((task) => task.parentId === taskId && isUntaken(task));
  return (await detailsOf(tx, parts)).map(({ task: { id, title }, waitsFor }) => ({ id, title, waitsFor }));
}

/**
 * The agent whose work a reviewer was seated to judge: the owner of the branch its worktree started from, else the
 * newest on its task.
 */
export async function workUnderReview(tx: Tx, { baseRef, taskId }: Agent): Promise<Agent | undefined> {
  const start = baseRef === null ? undefined : await ownerOfBranch(tx, baseRef);
  if (start !== undefined) return start;
  return taskId === null ? undefined : newestWorkOn(tx, taskId);
}

/**
 * As it was named; else what its seat says, else the one branch of its run that its assignment names. Only where a
 * single agent could be meant at all, and that one has finished, it need not be said.
 */
export async function reviewedBranch(tx: Tx, agent: Agent, { branch }: DoneRequest): Promise<string | null> {
  if (branch !== null) return (await tx.agents.byName(branch))?.branch ?? branch;
  const whole = await wholeWork(tx, agent);
  if (whole !== null) return whole;
  const seated = await workUnderReview(tx, agent);
  if (seated !== undefined) return seated.branch;
  const given = await ofItsRun(tx, agent, await givenBranches(tx, agent));
  if (given.length > 0) return only(given);
  const siblings = newestPerName(await tx.agents.list({ parentName: agent.parentName, runId: agent.runId }));
  const builders = siblings.filter((one) => isIn("implementation", one.capability) && one.releasedAt === null);
  return builders.every(isSubmitted) ? only(builders.flatMap((one) => one.branch ?? [])) : null;
}

/**
 * Branches that a reviewer was given to judge: the one it started on, those of its assignment, of its task and of its
 * siblings. A reviewer of a whole run judges nothing else.
 */
export async function mayReview(tx: Tx, agent: Agent): Promise<readonly string[]> {
  const { runId, taskId, parentName } = agent;
  const whole = await wholeWork(tx, agent);
  if (whole !== null) return [whole];
  const beside = [
    ...(await tx.agents.list({ parentName, runId })),
    ...(taskId === null ? [] : await tx.agents.list({ taskId, runId })),
  ].filter((one) => isIn("implementation", one.capability));
  const seated = await workUnderReview(tx, agent);
  const named = await ofItsRun(tx, agent, await givenBranches(tx, agent));
  const branches = [seated?.branch, ...named, ...beside.map(({ branch }) => branch)];
  return [...new Set(branches.filter((branch) => branch != null))].toSorted();
}

/** The branch where a run lands, for the reviewer that reads the whole of it. */
async function wholeWork(tx: Tx, agent: Agent): Promise<string | null> {
  const run = await tx.runs.get(agent.runId);
  return run !== undefined && isLastReviewer(run, agent) ? agent.baseRef : null;
}

/** Branches of agents that stand in the assignment: what a reviewer was given to judge, or a merger to join. */
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

/** Only branches of the agent's own run: a text may name any branch. */
async function ofItsRun(tx: Tx, { runId }: Agent, branches: readonly string[]): Promise<readonly string[]> {
  const own: string[] = [];
  for (const branch of branches) if ((await ownerOfBranch(tx, branch))?.runId === runId) own.push(branch);
  return own;
}

const only = (branches: readonly string[]): string | null => (branches.length === 1 ? (branches[0] ?? null) : null);
