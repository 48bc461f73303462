import { type Agent, hasEnded, isSubmitted } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import { statusOf } from "../../domain/agent/status.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import { isReserved } from "../../domain/name/name.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { roleOf } from "../../domain/role/roles.ts";
import { fields, flag, notSent, text } from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../events/record.ts";
import { fitBody } from "../mail/compose.ts";
import { ownerOf } from "../mail/inbox.ts";
import { findSender } from "../mail/sender.ts";
import { submit } from "../mail/submit.ts";
import type { Context, UseCase } from "../usecase.ts";
import { findAgent } from "./find-agent.ts";
import { parkedOf, unseatedWords } from "./parked.ts";

export interface NudgeRequest {
  readonly name: string;
  readonly message?: string | undefined;
  readonly from?: string | undefined;
  /** Also right after another nudge. */
  readonly force: boolean;
  /** Set by `prepare`; a value of the caller is ignored. */
  readonly blobPath?: string | null | undefined;
}

export interface NudgeReply {
  readonly agentName: string;
  /** It is in the inbox. */
  readonly delivered: boolean;
  /** It will start a turn, or be read after the running one. */
  readonly queued: boolean;
  /** Why its turn does not start now, or why the nudge was not sent; null when the turn may start. */
  readonly reason: string | null;
  readonly messageId: string | null;
}

const debounceMs = 500;

/** Only agents that divide work among others may wake them by urgent mail. Other agents send a question. */
function checkRole(caller: Caller): Result<null, Refusal> {
  if (caller.kind !== "agent" || roleOf(caller.capability).commands.includes("nudge")) return ok(null);
  const why = `a ${caller.capability} nudges nobody; send a question instead`;
  return no({ kind: "not-allowed", action: "nudge", caller: caller.name, why });
}
const defaultMessage = "Check your mail with `ov mail check`, then go on with your task.";

/** Urgent mail that wakes its reader, and returns without waiting for it. */
export const nudgeAgent: UseCase<NudgeRequest, NudgeReply> = {
  kind: "write",
  request: fields({ name: text, force: flag }, { message: text, from: text, blobPath: notSent }),
  prepare: async (files, { settings }, request) => {
    const text = request.message?.trim() ?? "";
    const fitted = await fitBody(files, settings, text === "" ? defaultMessage : text);
    return fitted.ok ? ok({ ...request, message: fitted.value.body, blobPath: fitted.value.blobPath }) : fitted;
  },
  run: async (tx, context, request) => {
    const { caller, ids } = context;
    const allowed = checkRole(caller);
    if (!allowed.ok) return allowed;
    const sender = await findSender(tx, caller, request.from);
    if (!sender.ok) return sender;
    const target = await findTarget(tx, request.name);
    if (!target.ok) return target;
    const { name, agent } = target.value;
    const fact = { from: sender.value.name, message: request.message ?? "" };
    const free = request.force ? null : await nextNudgeAt(tx, context, name);
    if (free !== null) {
      const reason = `${name} was nudged a moment ago; the next nudge is taken at ${new Date(free).toISOString()}`;
      await recordNudge(tx, context, target.value, { ...fact, delivered: false });
      return ok({ agentName: name, delivered: false, queued: false, reason, messageId: null });
    }
    const sent = await submit(tx, context, sender.value, {
      to: name,
      subject: `${mark}${sender.value.name}]`,
      body: request.message ?? defaultMessage,
      blobPath: request.blobPath ?? null,
      type: "status",
      priority: "urgent",
      // Its own mark: the same words a second time are meant, not repeated by mistake.
      payload: JSON.stringify({ nudge: ids.next("nudge") }),
      dedupeKey: null,
      expectsReply: false,
      wake: true,
      strict: true,
      allowEmpty: false,
      answer: null,
    });
    if (!sent.ok) return sent;
    await recordNudge(tx, context, target.value, { ...fact, delivered: true });
    // The operator may know that the trouble is over; an agent that could say so would use up the attempts at once.
    // The provider said when its limit ends, so a nudge does not hasten the turn.
    const isLimited = (await tx.waits.of(name)).some(({ kind }) => kind === "rate_limit");
    if (agent !== null && caller.kind !== "agent" && !isLimited) await tx.turns.hasten(agent.id);
    const reason = agent === null ? null : await heldBackBy(tx, context, agent);
    const queued = sent.value.woken.includes(name);
    return ok({ agentName: name, delivered: true, queued, reason, messageId: sent.value.id });
  },
};

const mark = "[NUDGE from ";

interface NudgeTarget {
  readonly name: string;
  /** Null for a person. */
  readonly agent: Agent | null;
}

async function findTarget(tx: Tx, typed: string): Promise<Result<NudgeTarget, Refusal>> {
  const name = await ownerOf(tx, typed);
  if (isReserved(name) && (await tx.agents.byName(name)) === undefined) return ok({ name, agent: null });
  const found = await findAgent(tx, name);
  if (!found.ok) return found;
  const agent = found.value;
  if (hasEnded(agent)) {
    const isHandedIn = isSubmitted(agent) && agent.outcome === "done";
    const how = isHandedIn ? "has submitted its work" : `has ended (${statusOf(agent).words})`;
    return no(invalid("agent", how, { value: agent.name, allowed: [`ov recover ${agent.name}`] }));
  }
  if (agent.stopRequestedBy !== null) return no(invalid("agent", "is being stopped", { value: agent.name }));
  return ok({ name, agent });
}

/** The inbox itself remembers, so two callers in two processes see the same. Null: now. */
async function nextNudgeAt(tx: Tx, { now }: Context, name: string): Promise<number | null> {
  const recent = await tx.messages.list({ to: name, type: "status", limit: looked });
  const last = recent.find(({ subject, createdAt }) => {
    const age = now - createdAt;
    return subject.startsWith(mark) && age >= 0 && age < debounceMs;
  });
  return last === undefined ? null : last.createdAt + debounceMs;
}

/** More mail than an agent gets within the time of a debounce. */
const looked = 20;

async function heldBackBy(tx: Tx, context: Context, agent: Agent): Promise<string | null> {
  const parked = await parkedOf(tx, context, agent);
  if (parked !== null) {
    const until = parked.until === null ? "" : ` until ${new Date(parked.until).toISOString()}`;
    return `${parked.reason}${until}${parked.next === null ? "" : `; to end that: ${parked.next}`}`;
  }
  if ((await tx.turns.runningFor(agent.id)) !== undefined) {
    const ends = !isIn("persistent", agent.capability);
    return `a turn is running; it is read in the next${ends ? ", or in this one before the agent can finish" : ""}`;
  }
  if (agent.worktreePath === null) return unseatedWords(tx, context.now, agent);
  return null;
}

async function recordNudge(
  tx: Tx,
  { now }: Context,
  { name, agent }: NudgeTarget,
  data: { readonly from: string; readonly message: string; readonly delivered: boolean },
): Promise<void> {
  const fact = { type: "custom", data: { type: "nudge", ...data } } as const;
  await record(tx, now, { source: "operator", agent, agentName: name, ...fact });
}
