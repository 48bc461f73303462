import type { Agent } from "../../domain/agent/agent.ts";
import { type ReportMail, reviewMail } from "../../domain/completion/report.ts";
import { type DoneRequest, type ReviewVerdict, sendsBack } from "../../domain/completion/request.ts";
import { escalates, failsInARow, mostFailedReviews } from "../../domain/completion/review.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import { verdicts } from "../../domain/mail/payload-shapes.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { ok, type Result } from "../../domain/result.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../events/record.ts";
import type { Composition } from "../mail/compose.ts";
import { tellOperator } from "../mail/post.ts";
import type { Sender } from "../mail/sender.ts";
import { submit } from "../mail/submit.ts";
import { ownerOfBranch } from "../merge/branch-owner.ts";
import { notify } from "../merge/notify.ts";
import type { Context } from "../usecase.ts";

export interface Review {
  readonly reviewer: Agent;
  readonly request: DoneRequest & { readonly verdict: ReviewVerdict };
  readonly branch: string;
  /** False: somebody else speaks for the reviewer. */
  readonly verified: boolean;
}

/**
 * Sends a verdict to whom it concerns: the builder when it has to go on, which reopens it, else whoever answers for the
 * builder. When it was sent back too often, or cannot be reopened, somebody above them has to decide.
 */
export async function sendReview(tx: Tx, context: Context, review: Review): Promise<Result<unknown, Refusal>> {
  const { reviewer, request, branch } = review;
  if (await wasSaid(tx, review)) return ok(null);
  const owner = await ownerOfBranch(tx, branch);
  const mail = reviewMail(request, branch, owner?.headCommit ?? null);
  const above = owner?.parentName ?? reviewer.parentName;
  if (owner === undefined || !sendsBack(request.verdict)) return send(tx, context, review, mail, above);
  const before = await verdictsOn(tx, branch);
  const fails = failsInARow([...before, request.verdict]);
  if (!escalates(before, request.verdict)) {
    const sent = await send(tx, context, review, mail, owner.name);
    if (sent.ok || sent.refusal.kind !== "recipient-ended") return sent;
  }
  const told = await send(tx, context, review, mail, above);
  if (told.ok) await escalateReview(tx, context, { owner, branch, fails, mail });
  return told;
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
    // What was handed on to somebody else is the same verdict once more.
    return verdict === undefined || fields.branch !== branch || replyTo !== null ? [] : [verdict];
  });
}

/** The agent in whose name the engine sends what it has verified: bound by its rights, stamped with its turn. */
export const speakerOf = (agent: Agent, { verified }: { readonly verified: boolean }): Sender => ({
  name: agent.name,
  verified,
  origin: "agent",
  agent,
  known: agent,
});

/** A report as mail; what its payload says was proved. */
export const reportComposition = (
  { type, subject, body, payload }: ReportMail,
  { to, dedupeKey }: { readonly to: string; readonly dedupeKey: string },
): Composition => ({
  to,
  subject,
  body,
  blobPath: null,
  type,
  priority: "normal",
  payload,
  dedupeKey,
  expectsReply: false,
  wake: undefined,
  strict: false,
  allowEmpty: false,
  answer: null,
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

/** Builder, reviewer and lead go in circles: who is above the lead is told, and the operator is asked. */
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
