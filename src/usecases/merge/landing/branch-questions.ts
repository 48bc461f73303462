import { payloadFields } from "../../../domain/mail/payload.ts";
import type { Message } from "../../../domain/mail/types.ts";
import {
  type LostLanding,
  lostIn,
  type RewrittenTarget,
  rewrittenMail,
  type rewrittenOptions,
  type TipQuestion,
  tipMail,
  type tipOptions,
} from "../../../domain/merge/landing-branch.ts";
import type { OutcomeMail } from "../../../domain/merge/outcome-mail.ts";
import type { Tx } from "../../../ports/store.ts";
import { markRead } from "../../mail/inbox.ts";
import { fromEngine, post, tellOperator } from "../../mail/post.ts";
import type { Context } from "../../usecase.ts";
import { newOp } from "../merge-records.ts";
import { leftBehind } from "./settle-undo.ts";

// Questions of the engine to the operator about a branch that another program or person moved: the tip of a landing
// branch, or the target below it.

type Writing = Pick<Context, "ids" | "now">;

const branchRef = (branch: string): string => `refs/heads/${branch}`;

type AskedTip = Omit<TipQuestion, "subject" | "isBack" | "steers" | "failed">;

/** The question that a message of ours asks about the tip of a landing branch. */
export function tipAsked({ fromAgent, payload }: Pick<Message, "fromAgent" | "payload">): AskedTip | undefined {
  const { landing, landingTip: tip, expected } = payloadFields(payload);
  const isOne = typeof landing === "string" && typeof tip === "string" && typeof expected === "string";
  return fromAgent === "system" && isOne ? { landing, tip, expected, lost: lostIn(payload) } : undefined;
}

/** Asks the operator once about this tip. Returns the id of the message that asks, now or earlier. */
export async function askAboutTip(
  tx: Tx,
  context: Writing,
  question: Omit<TipQuestion, "failed"> & { readonly runId: string | null },
): Promise<string> {
  const known = (await openTipQuestions(tx, question.landing)).find(({ payload }) => {
    return payloadFields(payload).landingTip === question.tip;
  });
  if (known !== undefined) return known.id;
  const failed = await failedRestore(tx, question);
  return askOperator(tx, context, { ...tipMail({ ...question, failed }), runId: question.runId });
}

/** Why the branch could not be put back when the operator asked for it; null when that was not tried. */
async function failedRestore(tx: Tx, { landing, tip, expected }: AskedTip): Promise<string | null> {
  const tried = await tx.mergeOps.list({ kind: "restore", status: "dropped", ref: branchRef(landing) });
  const same = tried.find(({ beforeCommit, afterCommit }) => beforeCommit === tip && afterCommit === expected);
  return same?.problem ?? null;
}

/** Closes questions about earlier tips of a landing branch: it is back where it belongs, or has moved on. */
export async function closeTipQuestions(
  tx: Tx,
  context: Writing,
  landing: string,
  { except }: { readonly except?: string } = {},
): Promise<void> {
  for (const message of await openTipQuestions(tx, landing)) {
    if (payloadFields(message.payload).landingTip === except) continue;
    await closeQuestion(tx, context, message, `${landing} has moved since`);
  }
  if (except === undefined) await releaseWaiting(tx, context, landing);
}

/** Branches that waited because their landing branch had been moved are ready again. */
async function releaseWaiting(tx: Tx, { now }: Writing, landing: string): Promise<void> {
  for (const { id, cause, targetBranch } of await tx.merges.list({ statuses: ["blocked"] })) {
    if (cause !== "foreign_tip" || targetBranch !== landing) continue;
    await tx.merges.change(id, ["blocked"], { status: "pending", notBefore: 0, updatedAt: now });
  }
}

const openTipQuestions = (tx: Tx, landing: string): Promise<readonly Message[]> =>
  openQuestions(tx, (message) => tipAsked(message)?.landing === landing);

/** What follows from the operator's word on a tip, in the transaction that stores it. Returns the landings that go. */
export async function decideTip(
  tx: Tx,
  context: Context,
  { landing, tip, expected, lost }: AskedTip,
  option: (typeof tipOptions)[number],
): Promise<readonly LostLanding[]> {
  let gone: readonly LostLanding[] = [];
  const about = { ref: branchRef(landing), queueIds: [] };
  if (option === "put back") {
    await newOp(tx, context, { ...about, kind: "restore", beforeCommit: tip, afterCommit: expected });
  } else {
    const op = await newOp(tx, context, { ...about, kind: "accept", beforeCommit: expected, afterCommit: tip });
    await tx.mergeOps.settle(op.id, { status: "done", updatedAt: context.now });
    gone = await leftBehind(tx, context, op, lost);
  }
  await releaseWaiting(tx, context, landing);
  return gone;
}

type Branches = Pick<RewrittenTarget, "landing" | "target">;

/** The question about a target that a message of the engine asks. */
export function rewrittenAsked({ fromAgent, payload }: Pick<Message, "fromAgent" | "payload">) {
  const { landing, target, dropped, head } = payloadFields(payload);
  if (fromAgent !== "system" || typeof landing !== "string" || typeof target !== "string") return undefined;
  return typeof dropped === "string" && typeof head === "string"
    ? { landing, target, dropped, head, lost: lostIn(payload) }
    : undefined;
}

/** Asks the operator once. Returns the id of the message that asks, now or earlier. */
export async function askAboutTarget(
  tx: Tx,
  context: Writing,
  { runId, ...question }: Parameters<typeof rewrittenMail>[0],
): Promise<string> {
  const isSame = (asked: RewrittenTarget | undefined): boolean =>
    asked?.dropped === question.dropped && asked.head === question.head;
  await closeTargetQuestions(tx, context, question, isSame);
  const [known] = await openQuestions(tx, (message) => isAbout(message, question));
  return known?.id ?? (await askOperator(tx, context, { ...rewrittenMail({ ...question, runId }), runId }));
}

/** Closes questions about a target that has moved since, or has the commits again. */
export async function closeTargetQuestions(
  tx: Tx,
  context: Writing,
  branches: Branches,
  stays: (asked: RewrittenTarget | undefined) => boolean = () => false,
): Promise<void> {
  for (const message of await openQuestions(tx, (each) => isAbout(each, branches))) {
    if (!stays(rewrittenAsked(message))) {
      await closeQuestion(tx, context, message, `${branches.target} has moved since`);
    }
  }
}

function isAbout(message: Message, { landing, target }: Branches): boolean {
  const asked = rewrittenAsked(message);
  return asked?.landing === landing && asked.target === target;
}

/** Acts on the operator's decision, in the transaction that stores it. Returns the landings that will go. */
export async function decideTarget(
  tx: Tx,
  context: Context,
  { landing, target, dropped, head, lost }: RewrittenTarget & { readonly lost: readonly LostLanding[] },
  option: (typeof rewrittenOptions)[number],
): Promise<readonly LostLanding[]> {
  if (option === "leave out") {
    const request = { landing, target, dropped };
    await newOp(tx, context, { kind: "restore", ref: branchRef(landing), queueIds: [], request });
    return lost;
  }
  const request = { landing, target, base: head };
  const about = { kind: "accept", ref: branchRef(target), queueIds: [], request } as const;
  const op = await newOp(tx, context, { ...about, beforeCommit: dropped, afterCommit: head });
  await tx.mergeOps.settle(op.id, { status: "done", updatedAt: context.now });
  return [];
}

/** Asks the operator for a decision in the engine's name. Returns the id of the message. */
export async function askOperator(
  tx: Tx,
  context: Writing,
  { runId, ...mail }: OutcomeMail & { readonly runId: string | null },
): Promise<string> {
  const message = await tellOperator(tx, context, { ...mail, runId, type: "decision_gate", priority: "high" });
  return message.id;
}

/** Open questions of the engine, without an answer, that `isMeant` accepts. */
async function openQuestions(tx: Tx, isMeant: (message: Message) => boolean): Promise<readonly Message[]> {
  const asked = await tx.messages.list({ to: "operator", type: "decision_gate" });
  const open: Message[] = [];
  for (const message of asked) {
    if (!isMeant(message)) continue;
    const thread = await tx.messages.thread(message.threadId);
    if (thread.length === 1) open.push(message);
  }
  return open;
}

/** Closes a question that has lost its meaning, and marks the message that asked as read. */
export async function closeQuestion(tx: Tx, context: Writing, question: Message, subject: string): Promise<void> {
  const { id, threadId, runId } = question;
  await markRead(tx, context.now, question, "operator");
  await post(tx, context, {
    ...fromEngine,
    runId,
    address: "operator",
    recipients: [],
    subject,
    body: "This question does not matter any more.",
    payload: JSON.stringify({ closes: id }),
    threadId,
    type: "status",
    priority: "low",
  });
}
