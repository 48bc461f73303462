import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import { canonical, isIn } from "../../domain/agent/capability.ts";
import type { Missing, StoredCheck } from "../../domain/completion/check.ts";
import { type Proof, reportMail, unshownLines } from "../../domain/completion/report.ts";
import { type DoneRequest, sendsBack } from "../../domain/completion/request.ts";
import { hasCode, missingFrom, reasonBeyondScope, type WorkSeen } from "../../domain/completion/rules.ts";
import type { Receipt } from "../../domain/gate/gate.ts";
import { type Criterion, criterionStatus } from "../../domain/run/checklist.ts";
import { touched } from "../../domain/task/change.ts";
import { isCodeTask } from "../../domain/task/rights.ts";
import type { Task } from "../../domain/task/task.ts";
import { namedIn } from "../../domain/text/long-list.ts";
import { Rollback, type Tx } from "../../ports/store.ts";
import { endAgent } from "../agents/end-agent.ts";
import { releaseIfDue } from "../agents/release-agent.ts";
import { isAnyAtWorkBelow } from "../agents/turns-ahead.ts";
import { record } from "../events/record.ts";
import { unreadBeforeFinish, unreadMail } from "../mail/before-finish.ts";
import { submit } from "../mail/submit.ts";
import { notify } from "../merge/notify.ts";
import { askToLand } from "../merge/queue/ask-to-land.ts";
import { endAfterReview, type LandedLook, runEndedBy } from "../runs/end-after-review.ts";
import { takeProofsBack } from "../runs/verdict-on-whole.ts";
import { closeAndFollow, isLeadTaskOver } from "../tasks/close-task.ts";
import { readyByOwner } from "../tasks/task-detail.ts";
import type { Context } from "../usecase.ts";
import { reportKey } from "./checks.ts";
import { reportComposition, speakerOf, unsent } from "./report-mail.ts";
import { givenUpBelow, roleFacts } from "./role-facts.ts";
import { sendReview, type ToldReview, tellFindings } from "./tell-verdict.ts";

/** Work that was looked at and whose gates have passed. */
export interface ProvedWork {
  readonly check: StoredCheck;
  readonly request: DoneRequest;
  readonly work: WorkSeen | null;
  readonly unmerged: readonly string[];
  /** Null where there is no code to prove. */
  readonly proved: { readonly proof: Proof; readonly receipt: Receipt } | null;
  /** For a last reviewer that passed the whole of its run: the landed work at that moment. */
  readonly landedLook?: LandedLook | undefined;
}

/** Rejects the transaction of a completion that cannot be accepted after all: nothing of it was sent. */
export const lacking = (missing: readonly Missing[]): Rollback<readonly Missing[]> => new Rollback(missing);

/**
 * The completion itself, in one transaction: asks the rules once more on the facts of now, then stores receipt, task,
 * verdict and the mail that ends the agent. Throws `lacking` with the missing points.
 */
export async function acceptCompletion(tx: Tx, context: Context, proved: ProvedWork): Promise<void> {
  const { check, request, work, unmerged } = proved;
  const agent = await liveAgent(tx, check);
  const facts = await roleFacts(tx, agent, request);
  const missing = missingFrom({ agent, request, work, unmerged, ...facts });
  if (missing.length > 0) throw lacking(missing);
  // Mail may have come while the gates ran. In this transaction none can come any more.
  if ((await unreadBeforeFinish(tx, agent, check, context.now)).length > 0) throw lacking([unreadMail]);
  const { receipt = null, proof = null } = proved.proved ?? {};
  if (work?.head != null) await tx.agents.inspected(agent.id, seenOf(work));
  if (receipt !== null) await tx.receipts.add(receipt);
  const ready = await settleTask(tx, context, { agent, code: hasCode(work), summary: firstLine(request.summary) });
  const unshown = request.noCode && !hasCode(work) ? await unshownBy(tx, agent) : [];
  const over = await runEndedBy(tx, { reviewer: agent, verdict: request.verdict, look: proved.landedLook });
  const said = { ...request, expansionReason: reasonBeyondScope({ agent, request, work, unmerged, ...facts }) };
  await sendReport(
    tx,
    context,
    { ...proved, request: said, proof, endsRun: over !== undefined, ready, unshown },
    agent,
    facts.reviewedBranch,
  );
  await recordCompletion(tx, context, agent, { ...proved, request: said });
  await tx.checks.change(check.id, ["running"], {
    status: "done",
    commitId: work?.head ?? null,
    verdict: proof?.verdict ?? null,
    receiptId: receipt?.id ?? null,
    problem: [],
    progress: null,
    updatedAt: context.now,
  });
  if (over !== undefined) await endAfterReview(tx, context, over);
  if ((await tx.turns.runningFor(agent.id)) === undefined) await endAtOnce(tx, context, agent.id);
}

/**
 * Mails a refusal to an agent whose command no longer waits for the answer: its turn ended before its gates did, so it
 * must be woken to add the missing points.
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

async function liveAgent(tx: Tx, { agentId }: StoredCheck): Promise<Agent> {
  const agent = agentId === null ? undefined : await tx.agents.get(agentId);
  if (agent !== undefined && !hasEnded(agent) && agent.stopRequestedBy === null) return agent;
  const message = "the agent has ended or was asked to stop";
  throw lacking([{ kind: "ended", message, fix: "see what became of it: ov status --all" }]);
}

const seenOf = ({ head, ahead, dirty }: WorkSeen) => ({ headCommit: head, ahead, dirty });

interface SentReport extends Omit<ProvedWork, "proved"> {
  readonly proof: Proof | null;
  /** Tasks that can be started now, because that of the agent is closed. */
  readonly ready: readonly Task[];
  /** Criteria of its task that nothing shows, when nothing was built. */
  readonly unshown: readonly Criterion[];
  /** The run of the last reviewer ends with its verdict. */
  readonly endsRun: boolean;
}

async function sendReport(
  tx: Tx,
  context: Context,
  { check, request, work, proof, endsRun, ready, unshown, landedLook }: SentReport,
  agent: Agent,
  branch: string | null,
): Promise<void> {
  const verified = check.requestedBy === agent.name;
  const { verdict } = request;
  let told: ToldReview | null = null;
  if (verdict !== null && branch !== null) {
    const review = { reviewer: agent, request: { ...request, verdict }, branch, verified, endsRun, look: landedLook };
    const reviewed = await sendReview(tx, context, review);
    if (!reviewed.ok) throw lacking([unsent("the verdict", reviewed.refusal)]);
    told = reviewed.value;
  }
  const owners = await readyByOwner(tx, ready, agent.parentName);
  const own = owners.get(agent.parentName) ?? [];
  const givenUp = await givenUpBelow(tx, agent);
  const mail = reportMail({ agent, request, work, proof, review: told, ready: own, unshown, givenUp });
  const dedupeKey = await keyOfReport(tx, agent, request, work?.head ?? null);
  const composed = reportComposition(mail, { to: agent.parentName, dedupeKey, written: request.mail });
  // The parent has nothing to decide while the builder mends the findings, other work goes on, or the run is over. What a
  // lead handed over lands by itself; that it did not, or what can be started then, is told.
  const isNews = isLead(agent) && !request.noCode && own.length === 0 && givenUp.length === 0;
  const goesOn = isNews && (await isAnyAtWorkBelow(tx, agent.parentName, [agent.name]));
  const report = told?.asksNothing === true || endsRun || goesOn ? { ...composed, wake: false } : composed;
  const sent = await submit(tx, context, speakerOf(agent, { verified }), report);
  if (!sent.ok) throw lacking([unsent("the report", sent.refusal)]);
  for (const [name, ids] of owners) if (name !== agent.parentName) await tellReady(tx, context, agent, name, ids);
  await tellUnshown(tx, context, agent, { request, unshown });
  if (verdict === null || !sendsBack(verdict)) return;
  await takeProofsBack(tx, context, agent, request.findings);
  await tellFindings(tx, context, agent, { ...mail, verdict });
}

const isLead = ({ capability }: Agent): boolean => canonical(capability) === "lead";

/** The parent reads it in the report. Any other agent that decides when such a task starts gets a message. */
async function tellReady(
  tx: Tx,
  context: Context,
  { name, runId, taskId }: Agent,
  owner: string,
  ready: readonly string[],
): Promise<void> {
  await notify(tx, context, [owner], {
    type: "status",
    priority: "normal",
    runId,
    subject: `Ready to be started: ${namedIn(ready)}`,
    body: `${name} has finished ${taskId}. Ready to be started now: ${namedIn(ready)}`,
    payload: JSON.stringify({ readyTasks: ready }),
    wake: [owner],
  });
}

/** The open criteria of the agent's task. */
async function unshownBy(tx: Tx, { taskId, runId }: Agent): Promise<readonly Criterion[]> {
  const served = (await tx.criteria.tasksOf(runId)).filter((one) => one.taskId === taskId).map(({ number }) => number);
  const all = served.length === 0 ? [] : await tx.criteria.of(runId);
  return all.filter((criterion) => served.includes(criterion.number) && criterionStatus(criterion) === "open");
}

/** The coordinator keeps the checklist. It reads of its own agents in their reports; this is for those of its leads. */
async function tellUnshown(
  tx: Tx,
  context: Context,
  { name, runId, taskId, parentName }: Agent,
  { request, unshown }: Pick<SentReport, "request" | "unshown">,
): Promise<void> {
  const coordinator = (await tx.runs.get(runId))?.coordinatorName ?? null;
  if (unshown.length === 0 || coordinator === null || coordinator === parentName) return;
  await notify(tx, context, [coordinator], {
    type: "status",
    priority: "normal",
    runId,
    subject: `Nothing built for criterion ${unshown.map(({ number }) => number).join(", ")}: ${taskId}`,
    body: [
      `${name} closed ${taskId} without code, because: ${request.noCodeReason ?? "no reason was given"}`,
      ...unshownLines(unshown),
    ].join("\n"),
    payload: JSON.stringify({ taskId, openCriteria: unshown.map(({ number }) => number) }),
  });
}

/** The agent's own key, unless another message has it: the report of an accepted completion is always sent. */
async function keyOfReport(tx: Tx, { id, name }: Agent, { mail }: DoneRequest, commit: string | null): Promise<string> {
  const own = mail?.dedupeKey ?? null;
  const isFree = own !== null && (await tx.messages.byDedupeKey(name, own)) === undefined;
  return isFree ? own : reportKey(id, commit);
}

async function recordCompletion(
  tx: Tx,
  { now }: Context,
  agent: Agent,
  { request, work, proved }: ProvedWork,
): Promise<void> {
  const { learned, summary, expansionReason, noCode, noCodeReason = null } = request;
  const data = {
    taskId: agent.taskId,
    commit: work?.head ?? null,
    verdict: proved?.proof.verdict ?? null,
    receiptId: proved?.receipt.id ?? null,
    summary,
    ...(expansionReason === null ? {} : { expansionReason }),
    ...(noCode ? { noCode, noCodeReason } : {}),
  };
  await record(tx, now, { source: "engine", agent, type: "completion_accepted", data });
  if (learned === null) return;
  await record(tx, now, { source: "engine", agent, type: "learned", data: { taskId: agent.taskId, note: learned } });
}

/** Ends the agent now: no turn of it runs whose end would do so. */
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

/**
 * Moves the task of a verified completion: a task with code waits for its landing, any other is closed. Returns the
 * tasks that can be started now.
 */
async function settleTask(tx: Tx, context: Context, { agent, code, summary }: FinishedWork): Promise<readonly Task[]> {
  const task = agent.taskId === null ? undefined : await tx.tasks.get(agent.taskId);
  if (task === undefined || task.status === "closed") return [];
  const closed = async (over: Task) => (await closeAndFollow(tx, context, over, summary)).ready;
  const waits = async (change: Partial<Task> = {}) => {
    await tx.tasks.update({ ...touched(task, context.now), status: "in_review", ...change });
    return [];
  };
  if (canonical(agent.capability) === "lead") return (await isLeadTaskOver(tx, agent)) ? closed(task) : waits();
  if (isIn("implementation", agent.capability)) {
    return code ? waits({ mergeState: "pending" }) : closed({ ...task, mergeState: "none" });
  }
  return (await isItsOwn(tx, agent, task)) ? closed(task) : [];
}

/** Read-only agents close only a task of their own: never a task of another agent, nor one with code to land. */
async function isItsOwn(tx: Tx, agent: Agent, task: Task): Promise<boolean> {
  if (isCodeTask(task) || (task.claimedBy !== null && task.claimedBy !== agent.name)) return false;
  const others = await tx.agents.list({ taskId: task.id });
  return others.every(({ name }) => name === agent.name);
}
