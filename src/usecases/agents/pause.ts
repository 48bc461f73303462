import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import { statusOf } from "../../domain/agent/status.ts";
import { isAttachHold } from "../../domain/agent/wait.ts";
import { invalid } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, flag, text } from "../../domain/schema/schema.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { Wait } from "../../ports/store/agents.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../events/record.ts";
import { wakeUp } from "../mail/post.ts";
import type { Context, UseCase } from "../usecase.ts";
import { descendantsOf, findSubordinate } from "./find-agent.ts";
import { type Parked, waitingFor } from "./parked.ts";

export interface PauseRequest {
  readonly name: string;
  /** Also all agents below it. */
  readonly tree: boolean;
}

export interface PauseReply {
  readonly paused: readonly string[];
  /** Were paused by the same caller before. */
  readonly alreadyPaused: readonly string[];
  /** Have a turn that still runs to its end. */
  readonly running: readonly string[];
}

/** Holds agents back: mail and turns queue for them and start nothing until they are resumed. A running turn finishes. */
export const pauseAgent: UseCase<PauseRequest, PauseReply> = {
  kind: "write",
  request: fields({ name: text, tree: flag }),
  run: async (tx, { caller, now }, { name, tree }) => {
    const found = await findSubordinate(tx, caller, name, "pause");
    if (!found.ok) return found;
    if (hasEnded(found.value))
      return no(invalid("agent", `has ended (${statusOf(found.value).words})`, { value: name }));
    const below = tree ? await descendantsOf(tx, found.value.name) : [];
    const paused: string[] = [];
    const alreadyPaused: string[] = [];
    const running: string[] = [];
    for (const agent of [found.value, ...below.filter((one) => !hasEnded(one))]) {
      const waits = await tx.waits.of(agent.name);
      const before = waits.some((wait) => wait.kind === "operator" && wait.ref === caller.name);
      (before ? alreadyPaused : paused).push(agent.name);
      if ((await tx.turns.runningFor(agent.id)) !== undefined) running.push(agent.name);
      if (before) continue;
      await tx.waits.add({ agentName: agent.name, kind: "operator", ref: caller.name, since: now, deadline: null });
      await record(tx, now, { source: "operator", agent, type: "pause", data: { by: caller.name } });
    }
    return ok({ paused, alreadyPaused, running });
  },
};

export interface ResumeRequest {
  readonly name: string;
  /** Also all agents below it. */
  readonly tree: boolean;
}

export interface ResumeReply {
  readonly resumed: readonly string[];
  /** Were not paused, or are still paused by a caller that this one may not overrule. */
  readonly unchanged: readonly string[];
  /** What each of those waits for, and what ends it. */
  readonly waiting: readonly ({ readonly name: string } & Parked)[];
  /** Have a turn queued now. */
  readonly queued: readonly string[];
}

/** Lets paused agents go on with what queued up meanwhile. An agent lifts only the pauses it set itself. */
export const resumeAgent: UseCase<ResumeRequest, ResumeReply> = {
  kind: "write",
  request: fields({ name: text, tree: flag }),
  run: async (tx, context, { name, tree }) => {
    const { caller } = context;
    const found = await findSubordinate(tx, caller, name, "resume");
    if (!found.ok) return found;
    const pauses = await pausesOf(tx, found.value);
    if (!tree && pauses.length > 0 && !pauses.some((pause) => mayLift(context, pause))) {
      const why = `it was paused by ${pauses.map((pause) => pause.ref).join(", ")}`;
      return no({ kind: "not-allowed", action: `resume ${found.value.name}`, caller: caller.name, why });
    }
    if (!tree && hasEnded(found.value)) {
      const { words } = statusOf(found.value);
      return no(invalid("agent", `has ended (${words}); bring it back with: ov recover ${name}`, { value: name }));
    }
    const resumed: string[] = [];
    const unchanged: string[] = [];
    const queued: string[] = [];
    const waiting: ResumeReply["waiting"][number][] = [];
    for (const agent of [found.value, ...(tree ? await descendantsOf(tx, found.value.name) : [])]) {
      const freed = await lift(tx, context, agent);
      (freed ? resumed : unchanged).push(agent.name);
      if (!freed) waiting.push({ name: agent.name, ...(await waitingFor(tx, context, agent)) });
      if (freed && (await goOn(tx, context, agent, `${context.caller.name} lifted the pause`))) queued.push(agent.name);
    }
    return ok({ resumed, unchanged, waiting, queued });
  },
};

const pausesOf = async (tx: Tx, agent: Agent): Promise<Wait[]> =>
  (await tx.waits.of(agent.name)).filter((wait) => wait.kind === "operator");

/** A pause by a person at the agent's own terminal ends with that terminal. */
const mayLift = ({ caller }: Context, pause: Wait): boolean =>
  !isAttachHold(pause) && (caller.kind !== "agent" || pause.ref === caller.name);

/** True when the last pause is gone. */
async function lift(tx: Tx, context: Context, agent: Agent): Promise<boolean> {
  const pauses = await pausesOf(tx, agent);
  const lifted = pauses.filter((pause) => mayLift(context, pause));
  if (lifted.length === 0) return false;
  for (const { kind, ref } of lifted) await tx.waits.remove(agent.name, kind, ref);
  const data = { by: context.caller.name, lifted: lifted.map((pause) => pause.ref) };
  await record(tx, context.now, { source: "operator", agent, type: "resume", data });
  return lifted.length === pauses.length;
}

/** Queues the turn that the pause held back. True when the agent has one now. */
export async function goOn(
  tx: Tx,
  { ids, now }: Pick<Context, "ids" | "now">,
  agent: Agent,
  reason: string,
): Promise<boolean> {
  if (hasEnded(agent) || agent.topology !== "per_turn" || agent.stopRequestedBy !== null) return false;
  const queued = await tx.turns.queuedFor(agent.id);
  if (queued !== undefined && !(await isTakenCareOf(tx, queued))) return true;
  if (queued !== undefined) await tx.turns.cancel(queued.id, now);
  if (await tx.deliveries.hasWaking(agent.name)) {
    await wakeUp(tx, ids, agent.name, 0, now);
    return true;
  }
  const settled = agent.state === "between_turns" && (await tx.turns.runningFor(agent.id)) === undefined;
  if (!settled || (await tx.waits.of(agent.name)).length > 0 || isIn("persistent", agent.capability)) return false;
  // The agent waited for nothing but the pause: its last turn was settled as waiting, and nothing else will wake it.
  await tx.turns.queue({
    id: ids.next("turn"),
    agentId: agent.id,
    agentName: agent.name,
    runId: agent.runId,
    trigger: "nudge",
    reason,
    attempt: 1,
    notBefore: 0,
    now,
  });
  return true;
}

/**
 * The turn would bring again what an interrupted one was about, and a person has dealt with all of it meanwhile: it would
 * have nothing to say.
 */
async function isTakenCareOf(tx: Tx, queued: Turn): Promise<boolean> {
  if (queued.trigger !== "retry" || queued.attempt > 1 || (await tx.deliveries.countQueued(queued.agentName)) > 0) {
    return false;
  }
  const ended = (await tx.turns.listFor(queued.agentId)).filter(
    ({ endedAt, startedAt }) => endedAt !== null && startedAt !== null,
  );
  // A retry after a settled turn belongs to a turn that was interrupted for a person.
  return ended.at(-1)?.status === "settled";
}
