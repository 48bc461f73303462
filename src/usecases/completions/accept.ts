import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import { canonical, isIn } from "../../domain/agent/capability.ts";
import type { StoredCheck } from "../../domain/completion/check.ts";
import type { ChildFacts } from "../../domain/completion/children.ts";
import type { Missing } from "../../domain/completion/missing.ts";
import { type Proof, reportMail } from "../../domain/completion/report.ts";
import type { DoneRequest } from "../../domain/completion/request.ts";
import { type CompletionFacts, hasCode, missingFrom, type WorkSeen } from "../../domain/completion/rules.ts";
import type { Receipt } from "../../domain/gate/gate.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { touched } from "../../domain/task/change.ts";
import { isCodeTask } from "../../domain/task/rights.ts";
import type { Task } from "../../domain/task/task.ts";
import { Rollback, type Tx } from "../../ports/store.ts";
import { endAgent } from "../agents/end-agent.ts";
import { releaseIfDue } from "../agents/release-agent.ts";
import { record } from "../events/record.ts";
import { submit } from "../mail/submit.ts";
import { askToLand } from "../merge/ask-to-land.ts";
import { notify } from "../merge/notify.ts";
import { newestPerName } from "../status/newest-per-name.ts";
import { closeAndFollow } from "../tasks/close-task.ts";
import { isLeadTaskOver } from "../tasks/lead-task.ts";
import type { Context } from "../usecase.ts";
import { reportComposition, sendReview, speakerOf } from "./send-review.ts";
import { mayReview, reviewedBranch } from "./under-review.ts";

/** Work that was looked at and whose gates have passed. */
export interface ProvedWork {
  readonly check: StoredCheck;
  readonly request: DoneRequest;
  readonly work: WorkSeen | null;
  readonly unmerged: readonly string[];
  /** Null where there is no code to prove. */
  readonly proved: { readonly proof: Proof; readonly receipt: Receipt } | null;
}

/** Rejects the transaction of a completion that cannot be accepted after all: nothing of it was sent. */
export const lacking = (missing: readonly Missing[]): Rollback<readonly Missing[]> => new Rollback(missing);

/**
 * The completion itself, in one transaction: the rules are asked once more on what is true now, then receipt, task,
 * verdict and the mail that ends the agent are stored together. Throws `lacking` when something is missing.
 */
export async function acceptCompletion(tx: Tx, context: Context, proved: ProvedWork): Promise<void> {
  const { check, request, work, unmerged } = proved;
  const agent = await liveAgent(tx, check);
  const facts = await roleFacts(tx, agent, request);
  const missing = missingFrom({ agent, request, work, unmerged, ...facts });
  if (missing.length > 0) throw lacking(missing);
  const { receipt = null, proof = null } = proved.proved ?? {};
  if (work?.head != null) await tx.agents.inspected(agent.id, seenOf(work));
  if (receipt !== null) await tx.receipts.add(receipt);
  await settleTask(tx, context, { agent, code: hasCode(work), summary: firstLine(request.summary) });
  await sendReport(tx, context, { ...proved, proof }, agent, facts.reviewedBranch);
  await recordCompletion(tx, context, agent, proved);
  await tx.checks.change(check.id, ["running"], {
    status: "done",
    commitId: work?.head ?? null,
    verdict: proof?.verdict ?? null,
    receiptId: receipt?.id ?? null,
    problem: [],
    progress: null,
    updatedAt: context.now,
  });
  if ((await tx.turns.runningFor(agent.id)) === undefined) await endAtOnce(tx, context, agent.id);
}

async function liveAgent(tx: Tx, { agentId }: StoredCheck): Promise<Agent> {
  const agent = agentId === null ? undefined : await tx.agents.get(agentId);
  if (agent !== undefined && !hasEnded(agent) && agent.stopRequestedBy === null) return agent;
  const message = "the agent has ended or was asked to stop";
  throw lacking([{ kind: "ended", message, fix: "see what became of it: ov status --all" }]);
}

const seenOf = ({ head, ahead, dirty }: WorkSeen) => ({ headCommit: head, ahead, dirty });

async function sendReport(
  tx: Tx,
  context: Context,
  { check, request, work, proof }: Omit<ProvedWork, "proved"> & { readonly proof: Proof | null },
  agent: Agent,
  branch: string | null,
): Promise<void> {
  const verified = check.requestedBy === agent.name;
  const { verdict } = request;
  if (verdict !== null && branch !== null) {
    const review = { reviewer: agent, request: { ...request, verdict }, branch, verified };
    const reviewed = await sendReview(tx, context, review);
    if (!reviewed.ok) throw lacking([unsent("the verdict", reviewed.refusal)]);
  }
  const mail = reportMail({ agent, request, work, proof, reviewedBranch: branch });
  const dedupeKey = `done:${agent.id}:${work?.head ?? ""}`;
  const to = agent.parentName;
  const sent = await submit(tx, context, speakerOf(agent, { verified }), reportComposition(mail, { to, dedupeKey }));
  if (!sent.ok) throw lacking([unsent("the report", sent.refusal)]);
}

const unsent = (what: string, refusal: Refusal): Missing => ({
  kind: "mail",
  message: `${what} could not be sent (${refusal.kind}): ${JSON.stringify(refusal)}`,
  fix: refusal.kind === "rate-limited" ? "wait a minute, then run ov done again" : "see who is there: ov status",
});

async function recordCompletion(
  tx: Tx,
  { now }: Context,
  agent: Agent,
  { request, work, proved }: ProvedWork,
): Promise<void> {
  const { learned, summary, expansionReason, noCode } = request;
  const data = {
    taskId: agent.taskId,
    commit: work?.head ?? null,
    verdict: proved?.proof.verdict ?? null,
    receiptId: proved?.receipt.id ?? null,
    summary,
    ...(expansionReason === null ? {} : { expansionReason }),
    ...(noCode ? { noCode } : {}),
  };
  await record(tx, now, { source: "engine", agent, type: "completion_accepted", data });
  if (learned === null) return;
  await record(tx, now, { source: "engine", agent, type: "learned", data: { taskId: agent.taskId, note: learned } });
}

/** Where no turn is running, none will be settled: who is finished has ended now. */
async function endAtOnce(tx: Tx, context: Context, agentId: string): Promise<void> {
  const agent = await tx.agents.get(agentId);
  if (agent === undefined) return;
  const end = { state: "completed", outcome: "done", actor: "engine", reason: "verified completion" } as const;
  await endAgent(tx, context, agent, { ...end, death: null, turnId: null });
  const ended = await tx.agents.get(agentId);
  if (ended === undefined) return;
  await askToLand(tx, context, ended);
  await releaseIfDue(tx, context, ended);
}

const firstLine = (text: string): string => text.split("\n")[0] ?? "";

interface FinishedWork {
  readonly agent: Agent;
  /** There are commits to land. */
  readonly code: boolean;
  readonly summary: string;
}

/** What a verified completion means for the task: code waits for its landing, anything else is over. */
async function settleTask(tx: Tx, context: Context, { agent, code, summary }: FinishedWork): Promise<void> {
  const task = agent.taskId === null ? undefined : await tx.tasks.get(agent.taskId);
  if (task === undefined || task.status === "closed") return;
  if (canonical(agent.capability) === "lead") {
    if (await isLeadTaskOver(tx, agent)) await closeAndFollow(tx, context, task, summary);
    else await tx.tasks.update({ ...touched(task, context.now), status: "in_review" });
    return;
  }
  if (isIn("implementation", agent.capability)) {
    if (code) await tx.tasks.update({ ...touched(task, context.now), status: "in_review", mergeState: "pending" });
    else await closeAndFollow(tx, context, { ...task, mergeState: "none" }, summary);
    return;
  }
  if (await isItsOwn(tx, agent, task)) await closeAndFollow(tx, context, task, summary);
}

/** Readers look at tasks without taking them: one that somebody else works on, or will land, is not theirs to end. */
async function isItsOwn(tx: Tx, agent: Agent, task: Task): Promise<boolean> {
  if (isCodeTask(task) || (task.claimedBy !== null && task.claimedBy !== agent.name)) return false;
  const others = await tx.agents.list({ taskId: task.id });
  return others.every(({ name }) => name === agent.name);
}

type RoleFacts = Pick<CompletionFacts, "mailSubjects" | "reviewed" | "reviewedBranch" | "mayReview" | "children">;

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

/**
 * A refused completion is told by mail where nobody waits for the answer any more: the agent's turn ended before its
 * gates did, so it must be woken to mend what is missing.
 */
export async function tellMissing(
  tx: Tx,
  context: Context,
  { kind, agentId, id }: StoredCheck,
  missing: readonly Missing[],
): Promise<void> {
  const agent = kind !== "completion" || agentId === null ? undefined : await tx.agents.get(agentId);
  if (agent === undefined || hasEnded(agent) || (await tx.turns.runningFor(agent.id)) !== undefined) return;
  const lines = missing.flatMap(({ message, fix, logTail, logPath }) => [
    `- ${message}`,
    `  ${fix}`,
    ...(logPath === undefined ? [] : [`  whole output: ${logPath}`]),
    ...(logTail === undefined ? [] : [logTail]),
  ]);
  await notify(tx, context, [agent.name], {
    type: "error",
    priority: "high",
    runId: agent.runId,
    subject: "Your work is not complete yet",
    body: ["ov done was refused after your turn had ended. What is missing:", ...lines].join("\n"),
    payload: JSON.stringify({ checkId: id, missing }),
    wake: [agent.name],
  });
}
