import type { Agent } from "../../domain/agent/agent.ts";
import type { ReportMail } from "../../domain/completion/report.ts";
import { mostFailedReviews } from "../../domain/completion/review.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../events/record.ts";
import { tellOperator } from "../mail/post.ts";
import { notify } from "../merge/notify.ts";
import type { Context } from "../usecase.ts";

export interface StuckReview {
  /** Whose branch was sent back again. */
  readonly owner: Agent;
  readonly branch: string;
  /** Reviews in a row that sent it back, this one included. */
  readonly fails: number;
  readonly mail: Pick<ReportMail, "body">;
}

const options = ["another agent", "accept as it is", "give it up"] as const;

/** Builder, reviewer and lead go in circles: who is above the lead is told, and the operator is asked. */
export async function escalateReview(tx: Tx, context: Context, stuck: StuckReview): Promise<void> {
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
