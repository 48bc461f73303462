import { type Agent, hasEnded, isSubmitted } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import type { ReviewVerdict } from "../../domain/completion/request.ts";
import type { GateResult, Receipt } from "../../domain/gate/gate.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import { verdicts } from "../../domain/mail/payload-shapes.ts";
import type { Message } from "../../domain/mail/types.ts";
import { awaitsApproval, type MergeEntry } from "../../domain/merge/entry.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { invalid, notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, noFields, text } from "../../domain/schema/schema.ts";
import type { Task } from "../../domain/task/task.ts";
import type { Tx } from "../../ports/store.ts";
import { readFleet } from "../agents/fleet-reading.ts";
import { completionReceipt, doubtsAbout } from "../merge/branch-owner.ts";
import { unhandedBranches } from "../operator/troubled-agents.ts";
import type { UseCase } from "../usecase.ts";

/** An agent's branch, as a row in a list of reviews. */
export interface Reviewable {
  readonly agent: Agent;
  readonly branch: string;
  readonly task: Task | undefined;
  /** The commit that is on record as its newest; null while none is. */
  readonly head: string | null;
  /** Since when it can be looked at. */
  readonly since: number;
  /** How many files it had changed when its last turn ended; null where that is not known. */
  readonly files: number | null;
  readonly receipt: Receipt | undefined;
  /** Its entry of the merge queue that has the same commit. */
  readonly entry: MergeEntry | undefined;
  readonly lastReview: GivenReview | undefined;
  /** The operator decides about it; the others are decided about by their leads. */
  readonly needsOperator: boolean;
}

/** A verdict on a branch, as it was sent by mail. */
export interface GivenReview {
  readonly by: string;
  readonly at: number;
  readonly verdict: ReviewVerdict;
  /** Null where it was written by hand without one. */
  readonly commit: string | null;
  readonly body: string;
  readonly findings: readonly ReviewFinding[];
}

export interface ReviewFinding {
  readonly file: string;
  readonly line: number | null;
  readonly severity: string;
  readonly text: string;
}

/** Work that is ready for a review: reported as done, and not landed. Oldest first. */
export const listReviews: UseCase<object, { readonly reviews: readonly Reviewable[] }> = {
  kind: "read",
  request: noFields,
  operatorOnly: true,
  run: async (direct) => {
    const { tx, unreleased } = await readFleet(direct);
    const unhanded = new Set((await unhandedBranches(tx, unreleased)).map(({ branch }) => branch));
    const reviewMail = reviewMailOf(tx);
    const found: Reviewable[] = [];
    for (const agent of unreleased) {
      if (agent.branch === null || agent.ahead === 0 || !isIn("implementation", agent.capability)) continue;
      const one = await reviewable(tx, agent, { branch: agent.branch, unhanded, reviewMail });
      if (isReady(one)) found.push(one);
    }
    return ok({ reviews: found.toSorted((a, b) => a.since - b.since) });
  },
};

/** Reported as done, and either not in the queue or waiting there for the operator's approval. */
const isReady = ({ agent, entry }: Reviewable): boolean =>
  entry === undefined ? isSubmitted(agent) && agent.outcome === "done" : awaitsApproval(entry);

export interface ReviewDetail extends Reviewable {
  /** It can be decided about now. */
  readonly isReady: boolean;
  /** What its agent said last about the work. */
  readonly summary: string | null;
  readonly gates: readonly GateResult[];
  /** What the operator should know before it lands. */
  readonly doubts: readonly string[];
  /** All verdicts on the branch, newest first. */
  readonly reviews: readonly GivenReview[];
  /** The incarnation that a request for changes goes to. */
  readonly goesTo: { readonly name: string; readonly generation: number };
}

/** Everything that is on record about the branch of an agent, for a person who decides about it. */
export const showReview: UseCase<{ readonly name: string }, ReviewDetail> = {
  kind: "read",
  request: fields({ name: text }),
  operatorOnly: true,
  run: async (direct, _context, { name }) => {
    const { tx, unreleased } = await readFleet(direct);
    const agent = await tx.agents.byName(name);
    if (agent === undefined) return no(notFound("agent", name, nearest(name, await tx.agents.names())));
    const { branch } = agent;
    if (branch === null || agent.worktreeKind === "root") {
      return no(invalid("agent", "has no branch of its own, so there is nothing to review", { value: name }));
    }
    const unhanded = new Set((await unhandedBranches(tx, unreleased)).map((one) => one.branch));
    const reviewMail = reviewMailOf(tx);
    const one = await reviewable(tx, agent, { branch, unhanded, reviewMail });
    const place = { id: one.entry?.id ?? 0, branch, headCommit: one.head ?? "" };
    return ok({
      ...one,
      isReady: isReady(one),
      summary: await summaryOf(tx, agent),
      gates: one.receipt === undefined ? [] : await tx.gates.all(one.receipt.results),
      doubts: await doubtsAbout(tx, place),
      reviews: givenReviews(await reviewMail(agent.runId), branch),
      goesTo: { name, generation: agent.generation + (hasEnded(agent) ? 1 : 0) },
    });
  },
};

interface ReviewTerms {
  readonly branch: string;
  /** Branches that only the operator can hand over. */
  readonly unhanded: ReadonlySet<string>;
  readonly reviewMail: (runId: string) => Promise<readonly Message[]>;
}

async function reviewable(tx: Tx, agent: Agent, { branch, unhanded, reviewMail }: ReviewTerms): Promise<Reviewable> {
  const head = agent.headCommit;
  const entries = (await tx.merges.list({ branch })).toSorted((a, b) => b.id - a.id);
  const entry = entries.find((one) => awaitsApproval(one) || one.headCommit === head);
  const [lastReview] = givenReviews(await reviewMail(agent.runId), branch);
  return {
    agent,
    branch,
    task: agent.taskId === null ? undefined : await tx.tasks.get(agent.taskId),
    head,
    since: entry?.enqueuedAt ?? agent.endedAt ?? agent.lastActivityAt,
    files: (await tx.recovery.checkpoint(agent.name))?.files.length ?? null,
    receipt: head === null ? undefined : await completionReceipt(tx, agent, head),
    entry,
    lastReview,
    needsOperator: unhanded.has(branch) || (entry !== undefined && awaitsApproval(entry)),
  };
}

/** The agent's final report; before it, the agent's last note. */
async function summaryOf(tx: Tx, { name, runId }: Agent): Promise<string | null> {
  const [report] = await tx.messages.list({ from: name, type: "worker_done", runId, limit: 1 });
  return report?.body ?? (await tx.recovery.checkpoint(name))?.summary ?? null;
}

/** Mail with verdicts is read once for each run. */
function reviewMailOf(tx: Tx): ReviewTerms["reviewMail"] {
  const known = new Map<string, Promise<readonly Message[]>>();
  return (runId) => {
    const mail = known.get(runId) ?? tx.messages.list({ type: "review", runId });
    known.set(runId, mail);
    return mail;
  };
}

const givenReviews = (sent: readonly Message[], branch: string): readonly GivenReview[] =>
  sent.flatMap((message) => givenReview(message, branch)).toSorted((a, b) => b.at - a.at);

/** Agents write payloads, so every field is looked at. A message that was handed on holds the same verdict once more. */
function givenReview(
  { payload, fromAgent, createdAt, body, replyTo }: Message,
  branch: string,
): readonly GivenReview[] {
  const told = payloadFields(payload);
  const verdict = verdicts.find((known) => known === told.verdict);
  if (verdict === undefined || told.branch !== branch || replyTo !== null) return [];
  const findings = Array.isArray(told.findings) ? told.findings.filter(isFinding) : [];
  return [
    {
      by: fromAgent,
      at: createdAt,
      verdict,
      commit: typeof told.commit === "string" ? told.commit : null,
      body,
      findings: findings.map(({ file, line, severity, text: words }) => ({
        file,
        line: typeof line === "number" ? line : null,
        severity,
        text: words,
      })),
    },
  ];
}

const isFinding = (value: unknown): value is ReviewFinding =>
  typeof value === "object" &&
  value !== null &&
  ["file", "severity", "text"].every((key) => typeof (value as Record<string, unknown>)[key] === "string");
