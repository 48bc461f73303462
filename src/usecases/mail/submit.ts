import { type Agent, hasEnded, newestPerName } from "../../domain/agent/agent.ts";
import { canonical, claimsCompletion, isIn } from "../../domain/agent/capability.ts";
import { forwardNote } from "../../domain/mail/forwarding.ts";
import {
  checkHop,
  checkRate,
  type Fingerprint,
  findDuplicate,
  type MailLimits,
  rateWindowMs,
} from "../../domain/mail/limits.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import { checkSender } from "../../domain/mail/sender.ts";
import type { Message } from "../../domain/mail/types.ts";
import { countsBeforeFinish } from "../../domain/mail/wake.ts";
import { openMergeStatuses } from "../../domain/merge/entry.ts";
import { notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { checkSizes, sizes } from "../../domain/text/sizes.ts";
import type { Tx } from "../../ports/store.ts";
import { parkedOf } from "../agents/parked.ts";
import { reopenAgent } from "../agents/reopen-agent.ts";
import { type CheckTicket, requestDoneByMail } from "../completions/checks.ts";
import type { Context } from "../usecase.ts";
import { type Composition, completePayload, limitsOf } from "./compose.ts";
import { followerOf } from "./followers.ts";
import { noteForward, post, type Recipient } from "./post.ts";
import type { Sender } from "./sender.ts";
import { findTarget, hasTurns, type Target } from "./target.ts";
import { closeWaits, openWait } from "./waits.ts";
import { wakeUps } from "./wake-ups.ts";

export interface SendReply {
  /** Null only when an empty group was allowed: nothing was stored. */
  readonly id: string | null;
  readonly address: string;
  readonly group: boolean;
  readonly recipients: readonly string[];
  /** Agents for which a turn is queued now, without those that are held: a warning names each of these. */
  readonly woken: readonly string[];
  /** Agents that get it with their next turn; none is started for it. */
  readonly startsNoTurn: readonly string[];
  /** Those of them that are at work, and are shown it before they can finish. */
  readonly shownAtFinish: readonly string[];
  /**
   * It says that its sender is done, so the sender's work is checked first. Nothing is sent before that is accepted; the
   * answer is that of `done.follow`.
   */
  readonly finish: CheckTicket | null;
  /** It repeats a message that was already stored, whose id this is. */
  readonly duplicate: boolean;
  /** It handed a branch over: the number of the branch in the merge queue. */
  readonly queued: number | null;
  readonly warnings: readonly string[];
}

/** Takes a message through every rule of sending and stores it. Nothing is stored when one of them refuses. */
export async function submit(
  tx: Tx,
  context: Context,
  sender: Sender,
  mail: Composition,
): Promise<Result<SendReply, Refusal>> {
  const { now, settings } = context;
  const limits = limitsOf(settings);
  const sized = checkSizes(["subject", mail.subject, sizes.line], ["payload", mail.payload, sizes.payload]);
  if (!sized.ok) return sized;
  const stored = mail.dedupeKey === null ? undefined : await tx.messages.byDedupeKey(sender.name, mail.dedupeKey);
  if (stored !== undefined && !isLaterReport(sender, mail, stored)) return ok(await repeated(tx, stored));
  const allowed = checkSender(mail.type, sender.agent?.capability ?? null);
  if (!allowed.ok) return allowed;
  const aim = { ...mail, wake: mail.wake === true, answering: mail.answer !== null };
  const target = await findTarget(tx, sender, aim);
  if (!target.ok) return target;
  const { address, group, readers, insteadOf } = target.value;
  if (readers.length === 0) return ok({ ...nothing, address });
  const payload = completePayload(mail, sender, target.value);
  if (!payload.ok) return payload;
  if (claimsToBeDone(sender, mail, address)) return finishInstead(tx, context, sender.agent, mail, address);
  const sent = { ...mail, payload: payload.value };
  const final = insteadOf === null ? sent : { ...sent, body: `${mail.body}${forwardNote(insteadOf, sent)}` };
  const replyTo = mail.answer?.replyTo ?? null;
  const from = { fromAgent: sender.name, fromAgentId: sender.agent?.id ?? null };
  const earlier = mayRepeat(mail)
    ? undefined
    : await findRepeated(tx, { ...final, ...from, address, replyTo }, now, limits);
  if (earlier !== undefined) return ok(await repeated(tx, earlier));
  const idle = await followerOf(mail.type)?.refuse(tx, context, sender, final);
  if (idle !== undefined) return no(idle);
  const paced = await checkPace(tx, { sender: sender.name, exempt: sender.origin !== "agent", group, now }, limits);
  if (!paced.ok) return paced;
  const hop = mail.answer === null ? ok(null) : checkHop(mail.answer, limits);
  if (!hop.ok) return hop;
  for (const reader of readers) {
    if (reader.reopens !== true) continue;
    const reopened = await reopen(tx, context, sender, mail, reader.name);
    if (!reopened.ok) return reopened;
  }
  return ok(await store(tx, context, sender, final, target.value));
}

/** An agent says in this mail that its work is done. What the engine sends in its name has been checked already. */
function claimsToBeDone(
  sender: Sender,
  { type, proven }: Composition,
  address: string,
): sender is Sender & { readonly agent: Agent } {
  if (sender.agent === null || proven === true) return false;
  const { capability, parentName } = sender.agent;
  return claimsCompletion({ capability, type, toParent: address === parentName });
}

/**
 * Does an agent report under a key that another incarnation of it used, or it itself for other mail? Each incarnation
 * reports its own work.
 */
function isLaterReport(sender: Sender, mail: Composition, stored: Message): boolean {
  if (sender.agent === null || !claimsToBeDone(sender, mail, mail.to)) return false;
  return stored.fromAgentId !== sender.agent.id || stored.type !== mail.type;
}

/** Asks for the checks of `ov done`. When they are passed, the report to the parent is sent in the place of this mail. */
async function finishInstead(
  tx: Tx,
  context: Context,
  agent: Agent,
  mail: Composition,
  address: string,
): Promise<Result<SendReply, Refusal>> {
  const { name, parentName } = agent;
  if (address !== parentName) {
    const why = `it says that your work is done, and that is reported to your parent: use --to ${parentName}, or ov done`;
    return no({ kind: "not-allowed", action: `send ${mail.type} to ${address}`, caller: name, why });
  }
  const { subject, body, payload, priority, dedupeKey, blobPath, answer } = mail;
  const words = { subject, body, payload, priority, dedupeKey, blobPath, answer };
  const asked = await requestDoneByMail(tx, context, agent, words);
  if (!asked.ok) return asked;
  return ok({ ...nothing, group: false, address, recipients: [parentName], finish: asked.value });
}

/**
 * Mail that is never taken for a repetition by its words. A sender that gives a key decides by the key. A branch that was
 * mended within a minute is announced again in the same words, and announcing it twice changes nothing in the queue.
 */
const mayRepeat = ({ dedupeKey, type }: Composition): boolean => dedupeKey !== null || type === "merge_ready";

const nothing = {
  id: null,
  group: true,
  recipients: [],
  woken: [],
  startsNoTurn: [],
  shownAtFinish: [],
  finish: null,
  duplicate: false,
  queued: null,
  warnings: [],
} as const;

async function repeated(tx: Tx, { id, seq, address }: Message): Promise<SendReply> {
  const deliveries = await tx.deliveries.ofMessage(seq);
  const recipients = deliveries.filter(({ state }) => state !== "cancelled").map(({ toAgent }) => toAgent);
  return {
    id,
    address,
    group: address.startsWith("@"),
    recipients,
    woken: [],
    startsNoTurn: [],
    shownAtFinish: [],
    finish: null,
    duplicate: true,
    queued: null,
    warnings: [],
  };
}

async function store(tx: Tx, context: Context, sender: Sender, mail: Composition, target: Target): Promise<SendReply> {
  const { address, group, readers, insteadOf } = target;
  const { threadId, replyTo, hop } = mail.answer ?? {};
  const recipients = await wakeUps(tx, context, sender, mail, target);
  const message = await post(tx, context, {
    from: sender.name,
    fromAgentId: sender.agent?.id ?? null,
    runId: await runOf(tx, sender, target),
    verified: sender.verified,
    address,
    recipients,
    subject: mail.subject,
    body: mail.body,
    type: mail.type,
    priority: mail.priority,
    ...(threadId === undefined || replyTo === undefined || hop === undefined ? {} : { threadId, replyTo, hop }),
    payload: mail.payload,
    dedupeKey: mail.dedupeKey,
    expectsReply: mail.expectsReply,
    blobPath: mail.blobPath,
  });
  if (insteadOf !== null) await noteForward(tx, message, insteadOf, readers[0]?.name ?? "");
  if (sender.agent !== null) await openWait(tx, sender.agent.name, message);
  await closeWaits(tx, message, mail.answer, readers);
  await followerOf(mail.type)?.follow(tx, context, sender, message, mail.head);
  const coverage = mail.type === "merge_ready" && !group ? await coverageWarnings(tx, sender) : [];
  const turns = await turnsOf(tx, target, recipients, message);
  const held = await heldTurns(tx, context, turns.woken);
  return {
    id: message.id,
    address,
    group,
    recipients: readers.map(({ name }) => name),
    ...turns,
    woken: turns.woken.filter((name) => !held.has(name)),
    finish: null,
    duplicate: false,
    queued: await queuedBy(tx, message),
    warnings: [...target.warnings, ...coverage, ...held.values()],
  };
}

async function queuedBy(tx: Tx, { type, payload }: Message): Promise<number | null> {
  const { branch } = type === "merge_ready" ? payloadFields(payload) : {};
  if (typeof branch !== "string") return null;
  return (await tx.merges.list({ branch, statuses: openMergeStatuses, limit: 1 }))[0]?.id ?? null;
}

/** The run of the sender. A person's message belongs to the run of its readers. */
async function runOf(tx: Tx, sender: Sender, { group, readers }: Target): Promise<string | null> {
  const known = sender.known?.runId ?? (group ? undefined : readers[0]?.agent?.runId);
  return known ?? (await tx.runs.current())?.id ?? null;
}

async function turnsOf(
  tx: Tx,
  { readers }: Target,
  recipients: readonly Recipient[],
  message: Message,
): Promise<Pick<SendReply, "woken" | "startsNoTurn" | "shownAtFinish">> {
  const waking = new Set(recipients.filter(({ wake }) => wake).map(({ name }) => name));
  const withTurns = readers.filter(hasTurns);
  const shownAtFinish: string[] = [];
  for (const { name, agent } of withTurns) {
    if (waking.has(name) || agent === null || isIn("persistent", agent.capability)) continue;
    if (!countsBeforeFinish(message, { wake: false }, agent)) continue;
    if ((await tx.turns.runningFor(agent.id)) !== undefined) shownAtFinish.push(name);
  }
  const names = withTurns.map(({ name }) => name);
  return {
    woken: names.filter((name) => waking.has(name)),
    startsNoTurn: names.filter((name) => !waking.has(name)),
    shownAtFinish,
  };
}

/** Words about each of these agents whose turn will not start before a person acts, by name. */
async function heldTurns(tx: Tx, context: Context, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const held = new Map<string, string>();
  for (const name of names) {
    const agent = await tx.agents.byName(name);
    const parked = agent === undefined ? null : await parkedOf(tx, context, agent);
    if (parked === null || parked.until !== null) continue;
    const next = parked.next === null ? "" : `; to let it start: ${parked.next}`;
    held.set(name, `no turn of ${name} starts now: ${parked.reason}${next}`);
  }
  return held;
}

/**
 * Warns a lead that hands over the work of many builders of this run and had no reviewer. It never blocks. The lead's
 * instructions let it verify one or two builders by itself. A builder at work has nothing to review yet, and a coordinator
 * slings no reviewers of its own.
 */
async function coverageWarnings(tx: Tx, { name: sender, agent }: Sender): Promise<readonly string[]> {
  if (agent === null || canonical(agent.capability) !== "lead") return [];
  const children = newestPerName(await tx.agents.list({ parentName: sender, runId: agent.runId }));
  const builders = children.filter((child) => child.capability === "builder" && hasEnded(child)).length;
  if (builders < manyBuilders || children.some(({ capability }) => capability === "reviewer")) return [];
  return [
    `${sender} had ${builders} builders and no reviewer; where their parts meet, have one read it: ov sling <task-id> --capability reviewer`,
  ];
}

/** Fewer builders are verified by their lead (agents/lead.md). */
const manyBuilders = 3;

/**
 * Brings a submitted agent back to work for mail that asks for it. Returns the incarnation that will read the mail.
 * Agents of an ended run may finish begun work, for which they need verdicts of their reviewers; they start nothing
 * else.
 */
async function reopen(
  tx: Tx,
  context: Pick<Context, "ids" | "now" | "settings">,
  sender: Sender,
  { proven }: Composition,
  name: string,
): Promise<Result<Agent, Refusal>> {
  const agent = await tx.agents.byName(name);
  if (agent === undefined) return no(notFound("agent", name));
  const run = sender.agent === null || proven === true ? undefined : await tx.runs.get(agent.runId);
  if (run !== undefined && run.status !== "active") {
    const why = `run ${run.id} has ended; tell the operator what is left, and end your turn`;
    return no({ kind: "not-allowed", action: `bring ${name} back to work`, caller: sender.name, why });
  }
  return reopenAgent(tx, context, agent);
}

interface PaceFacts {
  readonly sender: string;
  readonly exempt: boolean;
  readonly group: boolean;
  readonly now: number;
}

/** May this sender send one more message now? The refusal says how long to wait. */
async function checkPace(tx: Tx, facts: PaceFacts, limits: MailLimits): Promise<Result<null, Refusal>> {
  const { sender, group, now, exempt } = facts;
  if (exempt) return ok(null);
  const sent = await tx.messages.countFrom(sender, now - rateWindowMs, { broadcast: group });
  const checked = checkRate({ ...facts, sent }, limits);
  if (checked.ok) return checked;
  const limit = group ? limits.groupsPerMinute : limits.perMinute;
  const recent = await tx.messages.list({ from: sender, limit: looked });
  const counted = group ? recent.filter(({ address }) => address.startsWith("@")) : recent;
  const freeing = counted[limit - 1];
  return checkRate({ ...facts, sent, ...(freeing === undefined ? {} : { oldestAt: freeing.createdAt }) }, limits);
}

/** How far back a refusal looks for the message whose age frees the next one. */
const looked = 1_000;

/** The message of the last minute that this one repeats. */
async function findRepeated(
  tx: Tx,
  candidate: Fingerprint,
  now: number,
  limits: MailLimits,
): Promise<Message | undefined> {
  const after = now - limits.duplicateMs;
  const sameText = await tx.messages.duplicate(candidate, after);
  if (sameText === undefined) return undefined;
  const newest = findDuplicate(candidate, [sameText], now, limits);
  if (newest !== undefined) return newest;
  // The newest message with this text differs in type or thread; an older one may still be the same.
  const count = await tx.messages.countFrom(candidate.fromAgent, after, { broadcast: false });
  return findDuplicate(candidate, await tx.messages.list({ from: candidate.fromAgent, limit: count }), now, limits);
}
