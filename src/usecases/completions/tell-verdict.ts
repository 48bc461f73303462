import { type Agent, hasEnded, newestPerName } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import { type ReportMail, type ReviewTold, reviewMail } from "../../domain/completion/report.ts";
import {
  type DoneRequest,
  escalates,
  failsInARow,
  mostFailedReviews,
  type ReviewVerdict,
  sendsBack,
} from "../../domain/completion/request.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import { verdicts } from "../../domain/mail/payload-shapes.ts";
import { openMergeStatuses } from "../../domain/merge/entry.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { ok, type Result } from "../../domain/result.ts";
import { isLastReviewer, type Run, runFlag } from "../../domain/run/run.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../events/record.ts";
import { engineKeys } from "../mail/compose.ts";
import { noteUndelivered, post, tellOperator } from "../mail/post.ts";
import { submit } from "../mail/submit.ts";
import { ownerOfBranch } from "../merge/branch-owner.ts";
import { notify } from "../merge/notify.ts";
import type { LandedLook } from "../runs/end-after-review.ts";
import { openEndsOf } from "../runs/open-ends.ts";
import { hasMovedFrom, knowsLastChange } from "../runs/verdict-on-whole.ts";
import type { Context } from "../usecase.ts";
import { reportComposition, speakerOf } from "./report-mail.ts";

interface Review {
  readonly reviewer: Agent;
  readonly request: DoneRequest & { readonly verdict: ReviewVerdict };
  readonly branch: string;
  /** False: the operator speaks for the reviewer. */
  readonly verified: boolean;
  /** The run ends with it: it passed the whole of it. */
  readonly endsRun: boolean;
  /** What git says about the branch where the run lands; only for the review of a whole run. */
  readonly look: LandedLook | undefined;
}

export interface ToldReview extends ReviewTold {
  /** The reviewer's parent has nothing to do about it now: other work goes on, and its end wakes the parent. */
  readonly asksNothing: boolean;
}

/**
 * Sends a verdict to its addressee: the builder when it has to go on, which reopens it, else the builder's parent. When
 * it was sent back too often, or cannot be reopened, the level above them has to decide. The reviewer's parent gets the
 * same words in the report, so it gets no second message.
 */
export async function sendReview(tx: Tx, context: Context, review: Review): Promise<Result<ToldReview, Refusal>> {
  const { request, branch } = review;
  const owner = await ownerOfBranch(tx, branch);
  const commit = owner?.headCommit ?? null;
  const told = (next: string, asksNothing = false) => ok({ branch, commit, next, asksNothing });
  const back = sendsBack(request.verdict);
  if (await wasSaid(tx, review)) return told("The verdict was sent by mail before.");
  const mail = reviewMail(request, branch, commit);
  if (owner === undefined || !back) {
    const sent = await tellAbove(tx, context, review, mail, owner);
    if (!sent.ok) return sent;
    const run = await tx.runs.get(review.reviewer.runId);
    if (run !== undefined && isLastReviewer(run, review.reviewer)) {
      return told(...(await (back ? afterFindings : afterWhole)(tx, run, review)));
    }
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

/** What follows from a pass of the whole, and whether it asks nothing of the coordinator now. */
async function afterWhole(tx: Tx, run: Run, { endsRun, reviewer, look }: Review): Promise<[string, boolean]> {
  if (endsRun) return ["It passed, and the run has ended with it.", true];
  if (!(await knowsLastChange(tx, run, reviewer))) {
    const changed =
      "It passed what the run was for when it began to read. The objective was changed since: that pass does not count, and the run is read anew when you end it.";
    return [changed, false];
  }
  const hasMoved =
    look !== undefined &&
    (look.landed !== reviewer.baseCommit || (look.landed !== null && (await hasMovedFrom(tx, run, look.landed))));
  const passed = hasMoved
    ? "It passed what had landed when it began to read. That has changed since, so it is read anew when you end the run"
    : "It passed";
  const ends = await openEndsOf(tx, run, run.coordinatorName ?? "", look?.lacks);
  const open = ends.filter(({ kind, name }) => kind !== "agent" || name !== reviewer.name);
  if (open.length === 0) return [`${passed}. End the run now: ov run complete`, false];
  const lines = open.slice(0, mostEnds).map(({ what, fix }) => `- ${what}; ${fix}`);
  const more = open.length > mostEnds ? [`- and ${open.length - mostEnds} more: ov coordinator check-complete`] : [];
  const next = [`${passed}. Before the run can end:`, ...lines, ...more].join("\n");
  return [next, await goesOn(tx, run, reviewer)];
}

const mostEnds = 10;

/** What follows from findings about the whole. Those about a later change of the objective are work that is planned already. */
async function afterFindings(tx: Tx, run: Run, { reviewer, request }: Review): Promise<[string, boolean]> {
  const later = (await tx.criteria.of(run.id)).filter(({ addedAt }) => addedAt > reviewer.startedAt);
  const isLater = request.findings.every(({ criterion }) => later.some(({ number }) => number === criterion));
  return [mendTheRun, isLater && request.findings.length > 0 && (await goesOn(tx, run, reviewer))];
}

/** Another agent of the run is at work, a branch lands, or the operator is asked: the end of that wakes the coordinator. */
async function goesOn(tx: Tx, { id: runId, coordinatorName }: Run, reviewer: Agent): Promise<boolean> {
  const agents = newestPerName(await tx.agents.list({ runId }));
  if (agents.some((agent) => agent.name !== reviewer.name && !isIn("persistent", agent.capability) && !hasEnded(agent)))
    return true;
  if ((await tx.merges.list({ runId, statuses: openMergeStatuses, limit: 1 })).length > 0) return true;
  return (await tx.waits.of(coordinatorName ?? "")).some(({ kind }) => kind === "reply");
}

const mendTheRun =
  "Have each finding mended and landed, then end the run: ov run complete. What has landed is read anew.";

/** Does this reviewer read the whole of its run? */
async function isOfWholeRun(tx: Tx, reviewer: Agent): Promise<boolean> {
  const run = await tx.runs.get(reviewer.runId);
  return run !== undefined && isLastReviewer(run, reviewer);
}

/** Names the agent that acts on a branch that passed. */
function afterPass({ reviewer, branch }: Review, owner: Agent | undefined): string {
  if (owner === undefined) return "It passed. No agent is known that owns the branch.";
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
  const draft = { ...mail, ...from, address: above, recipients: [], priority, dedupeKey: reviewKey(reviewer) };
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
  const dedupeKey = reviewKey(reviewer);
  return submit(tx, context, speakerOf(reviewer, { verified }), reportComposition(mail, { to, dedupeKey }));
}

/** One incarnation of a reviewer gives one verdict. */
const reviewKey = ({ id }: Agent): string => `${engineKeys}review:${id}`;

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

/** What a last review found concerns the operator too, who may end the run with it as it is. */
export async function tellFindings(
  tx: Tx,
  context: Context,
  reviewer: Agent,
  { verdict, body }: ReportMail & { readonly verdict: ReviewVerdict },
): Promise<void> {
  if (!(await isOfWholeRun(tx, reviewer))) return;
  const { runId } = reviewer;
  const next = `${reviewer.parentName} was told, and has it mended. To end the run as it is: ov run complete${runFlag(runId)}`;
  await tellOperator(tx, context, {
    runId,
    subject: `last review of ${runId}: ${verdict}`,
    body: `${body}\n\n${next}`,
    type: "status",
    priority: "normal",
    payload: JSON.stringify({ findingsOf: reviewer.id, verdict }),
  });
}

interface StuckReview {
  /** The owner of the branch that was sent back again. */
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
