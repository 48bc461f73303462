import { payloadFields } from "../../domain/mail/payload.ts";
import type { Message } from "../../domain/mail/types.ts";
import {
  type LostLanding,
  lostIn,
  type TipQuestion,
  tipMail,
  type tipOptions,
} from "../../domain/merge/landing-tip.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context } from "../usecase.ts";
import { askOperator, closeQuestion, openQuestions } from "./engine-questions.ts";
import { newOp } from "./new-op.ts";
import { leftBehind } from "./settle-undo.ts";

const refOf = (landing: string): string => `refs/heads/${landing}`;

export interface LeftTips {
  /** Where the last operation that is over left the branch. */
  readonly last: string | null;
  /** Where operations that are on their way may have moved it by now. */
  readonly intended: readonly string[];
}

export async function leftTips(tx: Tx, landing: string): Promise<LeftTips> {
  const ops = await tx.mergeOps.list({ ref: refOf(landing) });
  const done = ops.find(({ status, afterCommit }) => status === "done" && afterCommit !== null);
  const open = ops.filter(({ status }) => status === "intended");
  return { last: done?.afterCommit ?? null, intended: open.flatMap(({ afterCommit }) => afterCommit ?? []) };
}

type AskedTip = Omit<TipQuestion, "subject" | "isBack">;

/** The question that a message of ours asks about the tip of a landing branch. */
export function tipAsked({ fromAgent, payload }: Pick<Message, "fromAgent" | "payload">): AskedTip | undefined {
  const { landing, landingTip: tip, expected } = payloadFields(payload);
  const isOne = typeof landing === "string" && typeof tip === "string" && typeof expected === "string";
  return fromAgent === "system" && isOne ? { landing, tip, expected, lost: lostIn(payload) } : undefined;
}

/** One decision for the operator about this tip. Answers the id of the message that asks, now or earlier. */
export async function askAboutTip(
  tx: Tx,
  context: Pick<Context, "ids" | "now">,
  question: TipQuestion & { readonly runId: string | null },
): Promise<string> {
  const known = (await openTipQuestions(tx, question.landing)).find(({ payload }) => {
    return payloadFields(payload).landingTip === question.tip;
  });
  if (known !== undefined) return known.id;
  return askOperator(tx, context, { ...tipMail(question), runId: question.runId });
}

/** The branch is where it belongs again, or elsewhere: what was asked about an earlier tip does not matter any more. */
export async function closeTipQuestions(
  tx: Tx,
  context: Pick<Context, "ids" | "now">,
  landing: string,
  { except }: { readonly except?: string } = {},
): Promise<void> {
  for (const message of await openTipQuestions(tx, landing)) {
    if (payloadFields(message.payload).landingTip === except) continue;
    await closeQuestion(tx, context, message, `${landing} has moved since`);
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
  const about = { ref: refOf(landing), queueIds: [] };
  if (option === "put back") {
    await newOp(tx, context, { ...about, kind: "restore", beforeCommit: tip, afterCommit: expected });
  } else {
    const op = await newOp(tx, context, { ...about, kind: "accept", beforeCommit: expected, afterCommit: tip });
    await tx.mergeOps.settle(op.id, { status: "done", updatedAt: context.now });
    gone = await leftBehind(tx, context, op, lost);
  }
  const waiting = await tx.merges.list({ statuses: ["blocked"] });
  for (const { id, cause, targetBranch } of waiting) {
    if (cause !== "foreign_tip" || targetBranch !== landing) continue;
    await tx.merges.change(id, ["blocked"], { status: "pending", notBefore: 0, updatedAt: context.now });
  }
  return gone;
}
