import { payloadFields } from "../../domain/mail/payload.ts";
import type { Message } from "../../domain/mail/types.ts";
import { type LostLanding, lostIn } from "../../domain/merge/landing-tip.ts";
import { type RewrittenTarget, rewrittenMail, type rewrittenOptions } from "../../domain/merge/rewritten-target.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context } from "../usecase.ts";
import { askOperator, closeQuestion, openQuestions } from "./engine-questions.ts";
import { newOp } from "./new-op.ts";

type Branches = Pick<RewrittenTarget, "landing" | "target">;

const refOf = (branch: string): string => `refs/heads/${branch}`;

/**
 * The newest known commit of the target under a landing branch: where it was begun, the last commit of the target that
 * it took in, the last promotion, or the operator's decision. Null when none is on record.
 */
export async function restsOn(tx: Tx, { landing, target }: Branches): Promise<string | null> {
  const known: { readonly seq: number; readonly commit: string }[] = [];
  for (const { seq, status, request, queueIds } of await tx.mergeOps.list({ ref: refOf(landing) })) {
    if (status !== "done") continue;
    if (request.target === target && request.base !== undefined) known.push({ seq, commit: request.base });
    for (const id of queueIds) {
      const entry = await tx.merges.get(id);
      if (entry?.branch === target && entry.status === "merged") known.push({ seq, commit: entry.headCommit });
    }
    // Older operations cannot have a newer commit.
    if (known.length > 0) break;
  }
  for (const op of await tx.mergeOps.list({ ref: refOf(target), status: "done" })) {
    const { seq, kind, request, undoneBy, beforeCommit, afterCommit } = op;
    if (request.landing !== landing) continue;
    const promoted = kind === "promote" && undoneBy === null && beforeCommit !== afterCommit ? afterCommit : null;
    const commit = kind === "accept" ? (request.base ?? null) : promoted;
    if (commit !== null) {
      known.push({ seq, commit });
      break;
    }
  }
  return known.toSorted((a, b) => b.seq - a.seq)[0]?.commit ?? null;
}

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
  context: Pick<Context, "ids" | "now">,
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
  context: Pick<Context, "ids" | "now">,
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
    await newOp(tx, context, { kind: "restore", ref: refOf(landing), queueIds: [], request });
    return lost;
  }
  const request = { landing, target, base: head };
  const about = { kind: "accept", ref: refOf(target), queueIds: [], request } as const;
  const op = await newOp(tx, context, { ...about, beforeCommit: dropped, afterCommit: head });
  await tx.mergeOps.settle(op.id, { status: "done", updatedAt: context.now });
  return [];
}
