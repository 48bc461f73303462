import type { Agent } from "../../domain/agent/agent.ts";
import { type ReportMail, reviewMail } from "../../domain/completion/report.ts";
import { type DoneRequest, type ReviewVerdict, sendsBack } from "../../domain/completion/request.ts";
import { escalates, failsInARow } from "../../domain/completion/review.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import { verdicts } from "../../domain/mail/payload-shapes.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { ok, type Result } from "../../domain/result.ts";
import type { Tx } from "../../ports/store.ts";
import { submit } from "../mail/submit.ts";
import { ownerOfBranch } from "../merge/branch-owner.ts";
import type { Context } from "../usecase.ts";
import { escalateReview } from "./escalate-review.ts";
import { reportComposition, speakerOf } from "./speaker.ts";

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
