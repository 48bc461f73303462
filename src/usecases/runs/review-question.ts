import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import { raiseCommand } from "../../domain/agent/status.ts";
import { isParking } from "../../domain/agent/wait.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import type { Message } from "../../domain/mail/types.ts";
import { isLastReviewer, type Run, runFlag } from "../../domain/run/run.ts";
import type { Tx } from "../../ports/store.ts";
import { endAgent } from "../agents/end-agent.ts";
import { release } from "../agents/release-agent.ts";
import { post } from "../mail/post.ts";
import { closeQuestion } from "../merge/landing/branch-questions.ts";
import { answerTo, closingOf, runAsked } from "../operator/decisions.ts";
import type { Context } from "../usecase.ts";
import { openEndsOf } from "./open-ends.ts";
import { hasMovedFrom, lastReviewers, verdictOf } from "./verdict-on-whole.ts";

/**
 * The operator's decision about a last review that cannot be done: end the run without it, have it read again, or wait. The engine asks in the
 * name of the coordinator, so that the answer wakes it.
 *
 *   a reviewer cannot be seated, or ended without a verdict    asked by `startLastReview`
 *   a reviewer is parked by a budget that is used up           asked here; closed when the reviewer goes on
 */

const without = "complete without it";
const again = "have it read again";
const wait = "wait";
/** A parked reviewer goes on by itself when its budget is raised. */
const optionsFor = (isParked: boolean): readonly string[] => [without, isParked ? wait : again];

type Asking = Pick<Context, "ids" | "now">;

interface Doubt {
  /** Why the review cannot be done, and what to type about it. */
  readonly why: string;
  /** The reviewer that is parked, and the budget that it waits for. */
  readonly parked?: { readonly reviewer: string; readonly budget: string };
}

export async function askWhetherWithout(
  tx: Tx,
  context: Asking,
  run: Run,
  { why, parked }: Doubt,
): Promise<Message | undefined> {
  if (run.coordinatorName === null) return undefined;
  const situation = `The last review of run ${run.id} cannot be done: ${why}. Everything else was met when this was asked.`;
  return post(tx, context, {
    from: run.coordinatorName,
    fromAgentId: null,
    byEngine: true,
    verified: true,
    runId: run.id,
    address: "operator",
    recipients: [{ name: "operator", wake: false }],
    subject: `end ${run.id} without its last review?`,
    // A reviewer that lives keeps that command from ending the run; the answer lets it go.
    body: parked === undefined ? `${situation}\nEnd it yourself with: ov run complete${runFlag(run.id)}` : situation,
    type: "decision_gate",
    priority: "high",
    payload: JSON.stringify({
      options: optionsFor(parked !== undefined),
      context: situation,
      lastReview: run.id,
      ...parked,
    }),
    expectsReply: true,
  });
}

/** The questions of the engine about the last review of a run, oldest first, without those that it took back. */
export async function questionsAbout(tx: Tx, { id }: Run): Promise<readonly Message[]> {
  const asked = await tx.messages.list({ to: "operator", type: "decision_gate", runId: id });
  const ours: Message[] = [];
  for (const message of asked) if (runAsked(message) === id && !(await closingOf(tx, message))) ours.push(message);
  return ours.toSorted((a, b) => a.seq - b.seq);
}

export const isAboutParked = ({ payload }: Message): boolean => payloadFields(payload).reviewer !== undefined;

/** What the coordinator does after this answer of the operator, where the answer alone does not say it. */
export const nextAfter = (question: Message, option: string): readonly string[] =>
  runAsked(question) !== undefined && option === again ? ["Start another reviewer with: ov run complete"] : [];

/** A parked reviewer is waited for without anybody's turn. Words of the operator beside the option are for the coordinator. */
export const asksNobody = (
  question: Message,
  { option, note }: { readonly option: string; readonly note: string | undefined },
): boolean => isAboutParked(question) && runAsked(question) !== undefined && option === wait && note === undefined;

type Answer = Pick<Message, "body" | "payload">;

export const saysWithout = ({ body, payload }: Answer): boolean =>
  payloadFields(payload).option === without || body.trim() === without;

/**
 * Asks about a last reviewer that a used-up budget parks, once for each budget and time that it is parked. Any other
 * agent: does nothing.
 */
export async function askAboutParked(tx: Tx, context: Asking, agent: Agent, budget: string): Promise<void> {
  const run = await tx.runs.get(agent.runId);
  if (run === undefined || run.status !== "active" || hasEnded(agent) || !isLastReviewer(run, agent)) return;
  const wasAsked = ({ payload }: Message): boolean => {
    const about = payloadFields(payload);
    return about.reviewer === agent.id && about.budget === budget;
  };
  if ((await questionsAbout(tx, run)).some(wasAsked)) return;
  const why = `${agent.name} cannot start: its budget ${budget} is used up; to let it read: ${raiseCommand(budget)}`;
  await askWhetherWithout(tx, context, run, { why, parked: { reviewer: agent.id, budget } });
}

/**
 * Takes the questions about a parked reviewer back, because it goes on; also those that were answered with "wait", so that
 * the operator is asked again when it is parked again.
 */
export async function closeAboutParked(tx: Tx, context: Asking, agent: Agent): Promise<void> {
  const run = await tx.runs.get(agent.runId);
  if (run === undefined || !isLastReviewer(run, agent)) return;
  for (const question of await questionsAbout(tx, run)) {
    if (payloadFields(question.payload).reviewer !== agent.id) continue;
    await closeQuestion(tx, context, question, `${agent.name} has budget again and reads the whole difference`);
  }
}

export interface DoneWithout {
  readonly run: Run;
  /**
   * The run ends with the answer, without a turn of its coordinator: the coordinator is parked as its reviewer is, and all
   * that is open is the review. Otherwise the coordinator acts on the answer.
   */
  readonly endsNow: boolean;
}

/**
 * The active run whose last review the operator does without by this answer, before the answer is stored. Undefined for any
 * other answer, and where the question was answered before or taken back.
 */
export async function doneWithout(tx: Tx, question: Message, answer: Answer): Promise<DoneWithout | undefined> {
  const run = saysWithout(answer) ? await tx.runs.get(runAsked(question) ?? "") : undefined;
  if (run?.status !== "active") return undefined;
  if ((await answerTo(tx, question)) !== undefined || (await closingOf(tx, question)) !== undefined) return undefined;
  return { run, endsNow: await isReviewAllThatIsOpen(tx, run) };
}

async function isReviewAllThatIsOpen(tx: Tx, run: Run): Promise<boolean> {
  if (run.coordinatorName === null) return false;
  if (!(await tx.waits.of(run.coordinatorName)).some(({ kind }) => isParking(kind))) return false;
  const reviewers = await lastReviewers(tx, run);
  const seen = reviewers.at(-1)?.baseCommit ?? null;
  if (seen !== null && (await hasMovedFrom(tx, run, seen))) return false;
  const open = await openEndsOf(tx, run, run.coordinatorName);
  return open.every(({ kind, name }) => kind === "agent" && reviewers.some((one) => one.name === name));
}

/** Lets the reviewers of a run go that the operator does without: parked ones, and those that ended without a verdict. */
export async function dismissReviewers(tx: Tx, context: Context, run: Run): Promise<void> {
  for (const reviewer of await lastReviewers(tx, run)) {
    const isAtWork = (await tx.turns.runningFor(reviewer.id)) !== undefined;
    if (isAtWork || reviewer.releasedAt !== null || (await verdictOf(tx, reviewer)) !== undefined) continue;
    const reason = "the operator does without the last review";
    const end = { state: "completed", outcome: "stopped", actor: context.caller.name, reason } as const;
    if (!hasEnded(reviewer)) await endAgent(tx, context, reviewer, { ...end, death: null, turnId: null });
    const ended = await tx.agents.get(reviewer.id);
    if (ended !== undefined) await release(tx, context, ended, reason);
  }
}
