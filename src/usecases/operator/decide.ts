import { payloadFields } from "../../domain/mail/payload.ts";
import { planReply } from "../../domain/mail/reply.ts";
import type { Message } from "../../domain/mail/types.ts";
import { isOpenMerge, type MergeEntry } from "../../domain/merge/entry.ts";
import { isIntegration, rewrittenOptions, tipOptions } from "../../domain/merge/landing-branch.ts";
import { mergeAsked } from "../../domain/merge/outcome-mail.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { type InvalidInput, invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import { findMessage } from "../mail/find-message.ts";
import { nearestLiveAncestor } from "../mail/hand-on.ts";
import { markRead } from "../mail/inbox.ts";
import { findSender } from "../mail/sender.ts";
import { submit } from "../mail/submit.ts";
import { tellAnswerAbove } from "../mail/tell-answer.ts";
import { decideTarget, decideTip, rewrittenAsked, tipAsked } from "../merge/landing/branch-questions.ts";
import { leftTips } from "../merge/landing/landing-target.ts";
import { approveMerge, rejectMerge } from "../merge/queue/decide-entry.ts";
import { doWithout } from "../runs/end-after-review.ts";
import { asksNobody, doneWithout, nextAfter } from "../runs/review-question.ts";
import { type WaiverByAnswer, waiveByAnswer, waiverIn } from "../runs/waive-by-answer.ts";
import type { Context, UseCase } from "../usecase.ts";
import { answerTo, approvalOptions, closingOf, heirOf, isAskerGone, optionsOf } from "./decisions.ts";

export interface DecideRequest {
  /** Id of the message that asks, or `merge:<number>`. */
  readonly id: string;
  /** One of the options, in full or by its number from 1. */
  readonly option: string;
  readonly note?: string | undefined;
}

export interface DecideReply {
  readonly id: string;
  readonly kind: "decision" | "merge";
  readonly option: string;
  /** The message that carries the decision; null for a merge. */
  readonly messageId: string | null;
  /** The agent that gets it; null for an approved merge, and where only the operator is left to act on it. */
  readonly to: string | null;
  /** Agents for which a turn is queued now. */
  readonly woken: readonly string[];
  /** The agent whose branch was rejected, when it does not work on by itself: it was released or has crashed. */
  readonly gone?: string;
  /** The run that ended with this decision. */
  readonly ended?: string;
  /** Branches that no longer count as landed by this decision; their tasks are open again. */
  readonly noLongerLanded?: readonly string[];
}

/** The branch that an answer would let land; null for any other answer, and where it would be refused. */
export const findApproval: UseCase<Pick<DecideRequest, "id" | "option">, { readonly entry: MergeEntry | null }> = {
  kind: "read",
  request: fields({ id: text, option: text }),
  operatorOnly: true,
  run: async (tx, _context, { id, option }) => {
    const chosen = choose(option, approvalOptions);
    if (!chosen.ok || chosen.value !== "approve") return ok({ entry: null });
    const merge = /^merge:(\d+)$/.exec(id.trim())?.[1];
    const asked = merge === undefined ? await findMessage(tx, id.trim()) : undefined;
    const number = asked?.ok === true ? mergeAsked(asked.value) : merge;
    const entry = number === undefined ? undefined : await tx.merges.get(Number(number));
    return ok({ entry: entry !== undefined && isOpenMerge(entry) ? entry : null });
  },
};

/** Stores the operator's word on something that waits for it. */
export const decide: UseCase<DecideRequest, DecideReply> = {
  kind: "write",
  request: fields({ id: text, option: text }, { note: text }),
  operatorOnly: true,
  run: async (tx, context, request) => {
    const merge = /^merge:(\d+)$/.exec(request.id.trim())?.[1];
    if (merge !== undefined) return decideMerge(tx, context, request, merge);
    const gate = await findMessage(tx, request.id.trim());
    if (!gate.ok) return gate;
    if (gate.value.type !== "decision_gate") {
      return no(
        invalid("id", `is a message of type ${gate.value.type}, which asks for no decision`, { value: request.id }),
      );
    }
    const asked = mergeAsked(gate.value);
    if (asked !== undefined) return decideMerge(tx, context, request, String(asked));
    const decided = await decideGate(tx, context, request, gate.value);
    const lost: string[] = [];
    const tip = tipAsked(gate.value);
    const option = decided.ok ? tipOptions.find((each) => each === decided.value.option) : undefined;
    if (tip !== undefined && option !== undefined) {
      lost.push(...(await decideTip(tx, context, tip, option)).map(({ branch }) => branch));
    }
    const rewritten = rewrittenAsked(gate.value);
    const word = decided.ok ? rewrittenOptions.find((each) => each === decided.value.option) : undefined;
    if (rewritten !== undefined && word !== undefined) {
      lost.push(...(await decideTarget(tx, context, rewritten, word)).map(({ branch }) => branch));
    }
    return decided.ok && lost.length > 0 ? ok({ ...decided.value, noLongerLanded: lost }) : decided;
  },
};

async function decideMerge(
  tx: Tx,
  context: Context,
  { option, note }: DecideRequest,
  of: string,
): Promise<Result<DecideReply, Refusal>> {
  const chosen = choose(option, approvalOptions);
  if (!chosen.ok) return chosen;
  if (chosen.value === "reject" && (note ?? "").trim() === "") {
    return no(
      invalid("note", 'must say what is wrong, because the branch goes back with it: --note "<what is wrong>"'),
    );
  }
  const done =
    chosen.value === "approve"
      ? await approveMerge.run(tx, context, { of })
      : await rejectMerge.run(tx, context, { of, reason: note ?? "" });
  if (!done.ok) return done;
  const reply = { id: `merge:${of}`, kind: "merge", option: chosen.value, messageId: null, woken: [] } as const;
  const { agentName = null, isBack = false } = "isBack" in done.value ? done.value : {};
  if (agentName === null) return ok({ ...reply, to: null });
  return ok(isBack ? { ...reply, to: agentName } : { ...reply, to: null, gone: agentName });
}

async function decideGate(
  tx: Tx,
  context: Context,
  { option, note }: DecideRequest,
  gate: Message,
): Promise<Result<DecideReply, Refusal>> {
  const options = optionsOf(gate);
  const chosen = options.length === 0 ? ok(option.trim()) : choose(option, options);
  if (!chosen.ok) return chosen;
  const earlier = await answerTo(tx, gate);
  if (earlier !== undefined) {
    const { option: before } = payloadFields(earlier.payload);
    const said = typeof before === "string" ? `: ${before}` : ` in ${earlier.id}`;
    return no(invalid("id", `was answered before${said}`, { value: gate.id }));
  }
  const closing = await closingOf(tx, gate);
  if (closing !== undefined) return no(staleQuestion(gate, closing.subject));
  if (await isAskerGone(tx, gate)) {
    const ofRun = gate.runId === null ? "" : ` of ${gate.runId}`;
    const above = await readerAbove(tx, gate);
    const tell =
      above === undefined
        ? ""
        : `. If it still matters, tell ${above}: ov mail send --to ${above} --type assign --subject "<what>" --body "<your decision>"`;
    return no(staleQuestion(gate, `${gate.fromAgent}${ofRun}, which asked, has ended${tell}`));
  }
  const tip = tipAsked(gate);
  // A target may have commits of the user's after our last operation.
  const last = tip === undefined || !isIntegration(tip.landing) ? null : (await leftTips(tx, tip.landing)).last;
  if (tip !== undefined && last !== null && last !== tip.expected) {
    return no(staleQuestion(gate, `${tip.landing} has moved since`));
  }
  const sender = await findSender(tx, context.caller);
  if (!sender.ok) return sender;
  const plan = planReply(gate, { replier: sender.value.name, type: "decision" });
  const payload = { gateId: gate.id, option: chosen.value, ...(note === undefined ? {} : { note }) };
  const review = await doneWithout(tx, gate, { body: chosen.value, payload: null });
  const waiver = await waiverIn(tx, gate, { body: chosen.value, payload: JSON.stringify(payload) });
  const isForEngine = review?.endsNow === true || asksNobody(gate, { option: chosen.value, note });
  const { to, about } = isForEngine ? { to: engineName, about: [] } : await whoActs(tx, gate);
  const sent = await submit(tx, context, sender.value, {
    to,
    subject: plan.subject,
    body: [
      chosen.value,
      ...(note === undefined ? [] : [note]),
      ...about,
      ...waivedLine(waiver),
      ...nextAfter(gate, chosen.value),
    ].join("\n\n"),
    blobPath: null,
    type: plan.type,
    priority: plan.priority,
    payload: JSON.stringify(payload),
    dedupeKey: null,
    expectsReply: false,
    wake: true,
    strict: false,
    allowEmpty: false,
    answer: { threadId: plan.threadId, replyTo: plan.replyTo, hop: plan.hop, awaitedBy: gate.fromAgent },
  });
  if (!sent.ok) return sent;
  // The operator who decides has read the question.
  await markRead(tx, context.now, gate, "operator");
  if (to === gate.fromAgent) await tellAnswerAbove(tx, context, gate, [chosen.value, note ?? ""].join("\n").trim());
  await waiveByAnswer(tx, context, waiver);
  const { id, woken } = sent.value;
  const told = to === engineName ? null : to;
  const reply = { id: gate.id, kind: "decision", option: chosen.value, messageId: id, to: told, woken } as const;
  if (review === undefined) return ok(reply);
  await doWithout(tx, context, review);
  return ok(review.endsNow ? { ...reply, ended: review.run.id } : reply);
}

const engineName = "system";

/**
 * The live agent above an agent that was stopped while its question was open; undefined if only the operator is above
 * it.
 */
async function readerAbove(tx: Tx, gate: Message): Promise<string | undefined> {
  const author = await tx.agents.byName(gate.fromAgent);
  if (author === undefined || author.runId !== gate.runId) return undefined;
  const above = await tx.agents.byName(await nearestLiveAncestor(tx, author.parentName));
  return above?.runId === author.runId ? above.name : undefined;
}

function waivedLine(waiver: WaiverByAnswer | undefined): readonly string[] {
  if (waiver === undefined) return [];
  const which = waiver.numbers.join(", ");
  return [
    waiver.numbers.length === 1
      ? `Criterion ${which} is waived by this answer.`
      : `Criteria ${which} are waived by this answer.`,
  ];
}

/**
 * The asker acts on the answer; after its finish and release, the agent above it. The engine asks on behalf of an agent and reads no mail: then the answer goes to the
 * agent's parent, which never saw the question. Where that is the operator, the word stays in the thread.
 */
async function whoActs(tx: Tx, gate: Message): Promise<{ readonly to: string; readonly about: readonly string[] }> {
  const heir = await heirOf(tx, gate);
  if (heir !== undefined) {
    return { to: heir, about: [`${gate.fromAgent} asked this before it finished: ${gate.subject}\n${gate.body}`] };
  }
  if (gate.fromAgent !== engineName) return { to: gate.fromAgent, about: [] };
  const { agentName, context } = payloadFields(gate.payload);
  const agent = typeof agentName === "string" ? await tx.agents.byName(agentName) : undefined;
  if (agent === undefined || agent.runId !== (gate.runId ?? agent.runId)) return { to: engineName, about: [] };
  const above = await tx.agents.byName(await nearestLiveAncestor(tx, agent.parentName));
  // A later run may have given the name of the agent above to an agent of its own.
  const isAnother = above !== undefined && above.runId !== agent.runId && above.startedAt > agent.startedAt;
  if (above === undefined || isAnother) return { to: engineName, about: [] };
  return { to: above.name, about: typeof context === "string" ? [`It is about this: ${context}`] : [] };
}

function choose<O extends string>(typed: string, options: readonly O[]): Result<O, InvalidInput> {
  const word = typed.trim();
  const exact = options.find((option) => option === word);
  if (exact !== undefined) return ok(exact);
  const same = options.filter((option) => option.toLowerCase() === word.toLowerCase());
  const numbered = /^\d+$/.test(word) ? options[Number(word) - 1] : undefined;
  const found = same.length === 1 ? same[0] : numbered;
  if (found !== undefined) return ok(found);
  const near = nearest(word, options);
  const extra = { value: typed, allowed: options, ...(near === undefined ? {} : { nearest: near }) };
  return no(invalid("option", "is not among those that were offered", extra));
}

/** Refuses an answer to a question whose subject has gone. */
const staleQuestion = ({ id }: Message, why: string): InvalidInput =>
  invalid("id", `asks nothing any more: ${why}; nothing was changed, and what waits for you now is in: ov inbox`, {
    value: id,
  });
