import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import { canonical, isIn } from "../../domain/agent/capability.ts";
import type { Missing, StoredCheck } from "../../domain/completion/check.ts";
import {
  type Proof,
  type ReportMail,
  type ReviewTold,
  reportMail,
  reviewMail,
} from "../../domain/completion/report.ts";
import {
  type DoneRequest,
  escalates,
  type FinishMail,
  failsInARow,
  mostFailedReviews,
  type ReviewVerdict,
  sendsBack,
} from "../../domain/completion/request.ts";
import { hasCode, missingFrom, type WorkSeen } from "../../domain/completion/rules.ts";
import type { Receipt } from "../../domain/gate/gate.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import { verdicts } from "../../domain/mail/payload-shapes.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { ok, type Result } from "../../domain/result.ts";
import { isLastReviewer } from "../../domain/run/run.ts";
import { touched } from "../../domain/task/change.ts";
import { isCodeTask } from "../../domain/task/rights.ts";
import type { Task } from "../../domain/task/task.ts";
import { Rollback, type Tx } from "../../ports/store.ts";
import { endAgent } from "../agents/end-agent.ts";
import { releaseIfDue } from "../agents/release-agent.ts";
import { record } from "../events/record.ts";
import { unreadBeforeFinish, unreadMail } from "../mail/before-finish.ts";
import type { Composition } from "../mail/compose.ts";
import { noteUndelivered, post, tellOperator } from "../mail/post.ts";
import type { Sender } from "../mail/sender.ts";
import { submit } from "../mail/submit.ts";
import { ownerOfBranch } from "../merge/branch-owner.ts";
import { notify } from "../merge/notify.ts";
import { askToLand } from "../merge/queue/ask-to-land.ts";
import { closeAndFollow, isLeadTaskOver } from "../tasks/close-task.ts";
import type { Context } from "../usecase.ts";
import { reportKey } from "./checks.ts";
import { roleFacts } from "./role-facts.ts";

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
  // Mail may have come while the gates ran. In this transaction none can come any more.
  if ((await unreadBeforeFinish(tx, agent, check, context.now)).length > 0) throw lacking([unreadMail]);
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
  let told: ToldReview | null = null;
  if (verdict !== null && branch !== null) {
    const review = { reviewer: agent, request: { ...request, verdict }, branch, verified };
    const reviewed = await sendReview(tx, context, review);
    if (!reviewed.ok) throw lacking([unsent("the verdict", reviewed.refusal)]);
    told = reviewed.value;
  }
  const mail = reportMail({ agent, request, work, proof, review: told });
  const dedupeKey = await keyOfReport(tx, agent, request, work?.head ?? null);
  const composed = reportComposition(mail, { to: agent.parentName, dedupeKey, written: request.mail });
  // The parent has nothing to decide while the builder mends what was found.
  const report = told?.reopened === true ? { ...composed, wake: false } : composed;
  const sent = await submit(tx, context, speakerOf(agent, { verified }), report);
  if (!sent.ok) throw lacking([unsent("the report", sent.refusal)]);
  if (verdict !== null && sendsBack(verdict)) await tellFindings(tx, context, agent, { ...mail, verdict });
}

/** What a last review found concerns the operator too, who may end the run with it as it is. */
async function tellFindings(
  tx: Tx,
  context: Context,
  reviewer: Agent,
  { verdict, body }: ReportMail & { readonly verdict: ReviewVerdict },
): Promise<void> {
  const run = await tx.runs.get(reviewer.runId);
  if (run === undefined || !isLastReviewer(run, reviewer)) return;
  const next = `${run.coordinatorName} was told, and has it mended. To end the run as it is: ov run complete`;
  await tellOperator(tx, context, {
    runId: run.id,
    subject: `last review of ${run.id}: ${verdict}`,
    body: `${body}\n\n${next}`,
    type: "status",
    priority: "normal",
    payload: JSON.stringify({ findingsOf: reviewer.id, verdict }),
  });
}

/** The agent's own key, unless another message has it: the report of an accepted completion is always sent. */
async function keyOfReport(tx: Tx, { id, name }: Agent, { mail }: DoneRequest, commit: string | null): Promise<string> {
  const own = mail?.dedupeKey ?? null;
  const isFree = own !== null && (await tx.messages.byDedupeKey(name, own)) === undefined;
  return isFree ? own : reportKey(id, commit);
}

/** What the agent reads when its report is refused: the report's words are the engine's, the way out is its own. */
function unsent(what: string, refusal: Refusal): Missing {
  const told = (why: string, fix: string): Missing => ({
    kind: "mail",
    message: `${what} could not be sent: ${why}`,
    fix,
  });
  switch (refusal.kind) {
    case "rate-limited":
      return told(
        `you sent more than ${refusal.limit} messages per ${refusal.per}`,
        "wait a minute, then run ov done again",
      );
    case "invalid":
      return told(
        `its ${refusal.field} ${refusal.problem}`,
        "say less in --summary, --findings and --expansion-reason, then run ov done again",
      );
    case "type-not-yours":
      return told(`a ${refusal.capability} may not send mail of type ${refusal.type}`, askOperator);
    case "recipient-ended":
      return told(`${refusal.name} has ended (${refusal.state})`, askOperator);
    case "no-recipients":
      return told(`"${refusal.address}" reaches no agent: ${refusal.why}`, askOperator);
    case "not-found":
      return told(`there is no ${refusal.noun} "${refusal.id}"`, askOperator);
    case "not-allowed":
      return told(`${refusal.caller} may not ${refusal.action}: ${refusal.why}`, askOperator);
    default:
      return told(`mail refused it (${refusal.kind.replaceAll("-", " ")})`, askOperator);
  }
}

const askOperator = "tell the operator: ov mail send --to operator --type error --subject <what> --body <why>";

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

/** Read-only agents close only a task of their own: not one that another agent works on, nor one with code to land. */
async function isItsOwn(tx: Tx, agent: Agent, task: Task): Promise<boolean> {
  if (isCodeTask(task) || (task.claimedBy !== null && task.claimedBy !== agent.name)) return false;
  const others = await tx.agents.list({ taskId: task.id });
  return others.every(({ name }) => name === agent.name);
}

interface Review {
  readonly reviewer: Agent;
  readonly request: DoneRequest & { readonly verdict: ReviewVerdict };
  readonly branch: string;
  /** False: the operator speaks for the reviewer. */
  readonly verified: boolean;
}

interface ToldReview extends ReviewTold {
  /** The builder was started again with it. */
  readonly reopened: boolean;
}

/**
 * Sends a verdict to whom it concerns: the builder when it has to go on, which reopens it, else whoever answers for the
 * builder. When it was sent back too often, or cannot be reopened, somebody above them has to decide. The reviewer's
 * parent gets the same words in the report, so it gets no second message.
 */
async function sendReview(tx: Tx, context: Context, review: Review): Promise<Result<ToldReview, Refusal>> {
  const { request, branch } = review;
  const owner = await ownerOfBranch(tx, branch);
  const commit = owner?.headCommit ?? null;
  const told = (next: string, reopened = false) => ok({ branch, commit, next, reopened });
  const back = sendsBack(request.verdict);
  if (await wasSaid(tx, review)) return told("The verdict was sent by mail before.");
  const mail = reviewMail(request, branch, commit);
  if (owner === undefined || !back) {
    const sent = await tellAbove(tx, context, review, mail, owner);
    if (!sent.ok) return sent;
    return told(back ? "No agent is known that owns the branch." : afterPass(review, owner));
  }
  const before = await verdictsOn(tx, branch);
  const fails = failsInARow([...before, request.verdict]);
  if (!escalates(before, request.verdict)) {
    const sent = await send(tx, context, review, mail, owner.name);
    if (sent.ok) return told(`${owner.name} was started again with these findings; you need not forward them.`, true);
    if (sent.refusal.kind !== "recipient-ended") return sent;
  }
  const sent = await tellAbove(tx, context, review, mail, owner);
  if (!sent.ok) return sent;
  await escalateReview(tx, context, { owner, branch, fails, mail });
  return told(`${owner.name} was not started again; the operator was asked how to go on.`);
}

/** Who acts on a branch that passed. */
function afterPass({ reviewer, branch }: Review, owner: Agent | undefined): string {
  // The branch of a run, which its last reviewer reads: it has landed.
  if (owner === undefined) return "It passed.";
  const above = owner.parentName;
  if (above === "operator") return `It passed. The operator lands it with: ov merge --branch ${branch}`;
  if (above !== reviewer.parentName) return `It passed. ${above} was told, and hands the branch over.`;
  return "It passed. Hand the branch over with merge_ready; nobody else does.";
}

/** The verdict for the agent that answers for the builder. The reviewer's own parent reads it in the report. */
async function tellAbove(
  tx: Tx,
  context: Context,
  review: Review,
  mail: ReportMail,
  owner: Agent | undefined,
): Promise<Result<unknown, Refusal>> {
  const { reviewer, verified } = review;
  const above = owner?.parentName ?? reviewer.parentName;
  if (above !== reviewer.parentName) return send(tx, context, review, mail, above);
  // The verdict stays on record as a message of its own: later rounds are counted by these.
  const from = { from: reviewer.name, fromAgentId: reviewer.id, runId: reviewer.runId, verified };
  const priority = "normal" as const;
  const draft = { ...mail, ...from, address: above, recipients: [], priority, dedupeKey: `review:${reviewer.id}` };
  const message = await post(tx, context, draft);
  await noteUndelivered(tx, message, above, `told in the report of ${reviewer.name}`);
  return ok(message);
}

function send(
  tx: Tx,
  context: Context,
  { reviewer, verified }: Review,
  mail: ReportMail,
  to: string,
): Promise<Result<unknown, Refusal>> {
  const dedupeKey = `review:${reviewer.id}`;
  return submit(tx, context, speakerOf(reviewer, { verified }), reportComposition(mail, { to, dedupeKey }));
}

/** A reviewer may have sent the same verdict by mail before it finished. */
async function wasSaid(tx: Tx, { reviewer, request, branch }: Review): Promise<boolean> {
  const sent = await tx.messages.list({ from: reviewer.name, type: "review" });
  return sent.some(({ fromAgentId, payload }) => {
    const fields = payloadFields(payload);
    return fromAgentId === reviewer.id && fields.branch === branch && fields.verdict === request.verdict;
  });
}

/** Every verdict that was ever given on the branch, oldest first. */
async function verdictsOn(tx: Tx, branch: string): Promise<readonly ReviewVerdict[]> {
  const reviews = (await tx.messages.list({ type: "review" })).toSorted((a, b) => a.seq - b.seq);
  return reviews.flatMap(({ payload, replyTo }) => {
    const fields = payloadFields(payload);
    const verdict = verdicts.find((known) => known === fields.verdict);
    // A message that was handed on to another reader holds the same verdict once more.
    return verdict === undefined || fields.branch !== branch || replyTo !== null ? [] : [verdict];
  });
}

/** The agent in whose name the engine sends what it has verified: bound by its rights, stamped with its turn. */
const speakerOf = (agent: Agent, { verified }: { readonly verified: boolean }): Sender => ({
  name: agent.name,
  verified,
  origin: "agent",
  agent,
  known: agent,
});

/** A report as mail; what its payload says was proved. */
const reportComposition = (
  { type, subject, body, payload }: ReportMail,
  {
    to,
    dedupeKey,
    written,
  }: { readonly to: string; readonly dedupeKey: string; readonly written?: FinishMail | undefined },
): Composition => ({
  to,
  subject,
  body,
  blobPath: written?.blobPath ?? null,
  type,
  priority: written?.priority ?? "normal",
  payload,
  dedupeKey,
  expectsReply: false,
  wake: undefined,
  strict: false,
  allowEmpty: false,
  answer: written?.answer ?? null,
  proven: true,
});

interface StuckReview {
  /** Whose branch was sent back again. */
  readonly owner: Agent;
  readonly branch: string;
  /** Reviews in a row that sent it back, this one included. */
  readonly fails: number;
  readonly mail: Pick<ReportMail, "body">;
}

const options = ["another agent", "accept as it is", "give it up"] as const;

/** Builder, reviewer and lead go in circles: the lead's parent is told, and the operator is asked. */
async function escalateReview(tx: Tx, context: Context, stuck: StuckReview): Promise<void> {
  const { owner, branch, fails, mail } = stuck;
  const { runId, taskId, name } = owner;
  const why =
    fails >= mostFailedReviews
      ? `${fails} reviews in a row sent it back`
      : "a review sent it back, and it cannot be reopened any more";
  const situation = `${branch} of ${name}: ${why}. It is not reopened; somebody has to decide how to go on.`;
  const body = `${situation}\n\nThe last review:\n${mail.body}`;
  const subject = `Review of ${branch} does not come to an end`;
  const lead = await tx.agents.byName(owner.parentName);
  const escalation = JSON.stringify({ severity: "error", taskId, context: situation, branch, agentName: name, fails });
  await notify(tx, context, [lead?.parentName ?? "operator"], {
    type: "escalation",
    priority: "high",
    runId,
    subject,
    body,
    payload: escalation,
  });
  await tellOperator(tx, context, {
    runId,
    subject: `decide about ${branch}`,
    body: `${body}\n\nSend it to work again with: ov mail send --to ${name} --type assign, or give it up with: ov release ${name}`,
    type: "decision_gate",
    priority: "high",
    payload: JSON.stringify({ options, context: situation, branch, agentName: name }),
  });
  const fact = { type: "review_escalated", level: "warn", data: { branch, fails } } as const;
  await record(tx, context.now, { source: "engine", agent: owner, ...fact });
}
