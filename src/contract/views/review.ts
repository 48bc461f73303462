import { awaitsApproval, verdictOf } from "../../domain/merge/entry.ts";
import type { GivenReview, Reviewable, ReviewDetail } from "../../usecases/reviews/read-reviews.ts";
import { iso } from "../values.ts";
import { gateResultView } from "./gate.ts";

/** The branch of an agent that is ready to be looked at. */
export const reviewableView = ({ agent, task, entry, receipt, lastReview, ...work }: Reviewable) => ({
  name: agent.name,
  generation: agent.generation,
  state: agent.state,
  runId: agent.runId,
  parent: agent.parentName,
  branch: work.branch,
  head: work.head,
  taskId: agent.taskId,
  title: task?.title ?? null,
  since: iso(work.since),
  commits: agent.ahead,
  files: work.files,
  verdict: verdictOf({ verdict: entry?.verdict ?? receipt?.verdict ?? null }),
  gaps: receipt?.gaps ?? [],
  needsOperator: work.needsOperator,
  merge:
    entry === undefined
      ? null
      : { id: entry.id, status: entry.status, awaitingApproval: awaitsApproval(entry), target: entry.targetBranch },
  lastReview: lastReview === undefined ? null : givenReviewView(lastReview),
});

/** A verdict on a branch that was sent by mail. */
export const givenReviewView = ({ by, at, verdict, commit, body, findings }: GivenReview) => ({
  by,
  at: iso(at),
  verdict,
  commit,
  body,
  findings: findings.map(({ file, line, severity, text }) => ({ file, line, severity, text })),
});

/** Everything about a branch that a person needs to decide about it. */
export const reviewDetailView = ({ isReady, summary, gates, doubts, reviews, goesTo, ...work }: ReviewDetail) => ({
  ...reviewableView(work),
  ready: isReady,
  description: work.task?.description ?? null,
  summary,
  commit: work.receipt?.headCommit ?? null,
  gates: gates.map(gateResultView),
  doubts,
  reviews: reviews.map(givenReviewView),
  goesTo: { name: goesTo.name, generation: goesTo.generation },
});
