import { type Agent, hasEnded, isSubmitted } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import { isOpenMerge, mergeIdIn, openMergeStatuses } from "../../domain/merge/entry.ts";
import type { TurnTrigger } from "../../domain/turn/turn.ts";
import type { Wait } from "../../ports/store/agents.ts";
import type { Tx } from "../../ports/store.ts";
import { nearestLiveAncestor } from "../mail/hand-on.ts";
import type { Context } from "../usecase.ts";

/**
 * Does something under way give this agent a turn: a turn itself, mail, a check of its work, an agent below it, or a
 * wait that another party can end? Agents that wait only for each other have none ahead. `besides` does not count as
 * another party.
 */
export const hasTurnsAhead = (tx: Tx, name: string, besides?: string): Promise<boolean> =>
  besides === undefined
    ? goesOn(tx, name, { asked: new Set(), known: foundToGoOn.get(tx) })
    : goesOn(tx, name, { asked: new Set([besides]), known: undefined });

/**
 * To be called for a transaction that sees no change: an agent that was found to go on is not looked at again. `names`:
 * agents that were found before, which this function adds to.
 */
export const rememberWhoGoesOn = (reading: Tx, names: Set<string>): void => void foundToGoOn.set(reading, names);

const foundToGoOn = new WeakMap<Tx, Set<string>>();

/**
 * Is an agent below this parent at work, other than these agents? The end of that work will wake the parent. An agent
 * that waits for a word of this parent is not at work.
 */
export async function isAnyAtWorkBelow(tx: Tx, parentName: string, except: readonly string[] = []): Promise<boolean> {
  for (const { name } of await tx.agents.list({ parentName, live: true })) {
    if (!except.includes(name) && (await hasTurnsAhead(tx, name, parentName))) return true;
  }
  return false;
}

interface Looked {
  /** The names of agents whose waits were looked at before, or are being looked at. */
  readonly asked: Set<string>;
  readonly known: Set<string> | undefined;
}

async function goesOn(tx: Tx, name: string, looked: Looked): Promise<boolean> {
  const { asked, known } = looked;
  if (known?.has(name) === true) return true;
  if (asked.has(name)) return false;
  asked.add(name);
  const found = await seenToGoOn(tx, name, looked);
  if (found) known?.add(name);
  return found;
}

async function seenToGoOn(tx: Tx, name: string, asked: Looked): Promise<boolean> {
  const agent = await tx.agents.byName(name);
  if (agent === undefined || hasEnded(agent)) return false;
  if (isUnderWay(agent) || (await startsByItself(tx, name))) return true;
  for (const wait of await tx.waits.of(name)) {
    if (await canEnd(tx, wait, asked)) return true;
  }
  for (const child of await reportersTo(tx, name)) {
    if (await goesOn(tx, child.name, asked)) return true;
  }
  return false;
}

/** The live agents whose reports this agent gets: its children, and those whose parents have ended, up to this one. */
async function reportersTo(tx: Tx, name: string): Promise<readonly Agent[]> {
  const found: Agent[] = [...(await tx.agents.list({ parentName: name, live: true }))];
  for (const agent of orphansOf(await tx.agents.list({ live: true }))) {
    if (agent.parentName !== name && (await nearestLiveAncestor(tx, agent.parentName)) === name) found.push(agent);
  }
  return found;
}

/** The agents among these whose parent is not among them. A reading of the whole fleet gives the same list each time. */
function orphansOf(live: readonly Agent[]): readonly Agent[] {
  const known = orphans.get(live);
  if (known !== undefined) return known;
  const names = new Set(["operator", ...live.map(({ name }) => name)]);
  const found = live.filter(({ parentName }) => !names.has(parentName));
  orphans.set(live, found);
  return found;
}

const orphans = new WeakMap<readonly Agent[], readonly Agent[]>();

/** Is a live agent at something that is not a pause between its turns? */
export const isUnderWay = ({ topology, state, stopRequestedBy }: Agent): boolean =>
  topology !== "per_turn" || state !== "between_turns" || stopRequestedBy !== null;

/** A turn that is queued and will not be dropped. A turn whose mail was read meanwhile is dropped when its moment comes. */
export const willStart = (queuedBy: TurnTrigger | null | undefined): boolean =>
  queuedBy !== null && queuedBy !== undefined && queuedBy !== "mail";

/** Has this live agent a turn, running or ahead, that no other agent has to bring about? */
export async function startsByItself(tx: Tx, name: string): Promise<boolean> {
  const agent = await tx.agents.byName(name);
  if (agent === undefined || hasEnded(agent)) return false;
  const { id } = agent;
  if ((await tx.turns.runningFor(id)) !== undefined || (await tx.deliveries.hasWaking(name))) return true;
  return willStart((await tx.turns.queuedFor(id))?.trigger) || (await tx.checks.dueWork(id));
}

/** Can another agent, the engine or the operator end this wait? The operator is told of waits that only the operator ends. */
async function canEnd(tx: Tx, { kind, ref }: Wait, asked: Looked): Promise<boolean> {
  if (kind === "child") return goesOn(tx, ref, asked);
  if (kind === "merge" || kind === "approval") {
    const id = mergeIdIn(ref);
    const entry = id === undefined ? undefined : await tx.merges.get(id);
    return entry === undefined || isOpenMerge(entry);
  }
  if (kind === "task") return isMoving(tx, ref, asked);
  if (kind !== "reply") return true;
  for (const name of await whoCanAnswer(tx, ref)) {
    const isPerson = (await tx.agents.byName(name)) === undefined;
    if (isPerson || (await goesOn(tx, name, asked))) return true;
  }
  return false;
}

/** Does an agent work on this task, or a branch of it wait to land? A task that nobody has begun closes by nobody. */
async function isMoving(tx: Tx, taskId: string, asked: Looked): Promise<boolean> {
  if ((await tx.merges.list({ taskId, statuses: openMergeStatuses })).length > 0) return true;
  for (const { name } of await tx.agents.list({ taskId, live: true })) {
    if (await goesOn(tx, name, asked)) return true;
  }
  return false;
}

/**
 * The names that can still answer this question: people, agents that live, and agents that have ended and not read it yet,
 * because it may bring them back. Where the addressee had ended, the engine handed on a copy.
 */
export async function whoCanAnswer(tx: Tx, questionId: string): Promise<readonly string[]> {
  const question = await tx.messages.get(questionId);
  if (question === undefined) return [];
  const thread = await tx.messages.thread(question.threadId);
  const isCopy = ({ replyTo, fromAgent, fromAgentId }: (typeof thread)[number]): boolean =>
    replyTo === question.id && fromAgent === question.fromAgent && fromAgentId === null;
  const names: string[] = [];
  for (const { seq } of [question, ...thread.filter(isCopy)]) {
    for (const { toAgent, state } of await tx.deliveries.ofMessage(seq)) {
      if (state === "cancelled" || state === "dead" || toAgent === question.fromAgent) continue;
      const agent = await tx.agents.byName(toAgent);
      const isUnread = state === "queued" || state === "claimed";
      const comesBack = agent !== undefined && isUnread && isSubmitted(agent) && agent.outcome === "done";
      if (agent === undefined || !hasEnded(agent) || comesBack) names.push(toAgent);
    }
  }
  return names;
}

/**
 * Gives an agent a turn when the last thing it waited for is over and no message will tell it so: a child's report may
 * reach its parent while the child still runs, and the parent that ends its turn then waits for nothing but that end.
 * `reason`: what is over.
 */
export async function startIdle(
  tx: Tx,
  { ids, now }: Pick<Context, "ids" | "now">,
  name: string,
  reason: string,
): Promise<void> {
  const agent = await tx.agents.byName(name);
  if (agent === undefined || hasEnded(agent) || agent.state !== "between_turns") return;
  if (agent.topology !== "per_turn" || isIn("persistent", agent.capability) || agent.stopRequestedBy !== null) return;
  if ((await tx.waits.of(name)).length > 0) return;
  if ((await tx.turns.runningFor(agent.id)) !== undefined) return;
  const queued = await tx.turns.queuedFor(agent.id);
  if (queued !== undefined) {
    if (queued.trigger !== "mail" || (await tx.deliveries.hasWaking(name))) return;
    // Its mail was read meanwhile, so that turn would be dropped.
    await tx.turns.cancelQueued(agent.id, now);
  }
  const { id: agentId, name: agentName, runId } = agent;
  await tx.turns.queue({
    id: ids.next("turn"),
    agentId,
    agentName,
    runId,
    trigger: "nudge",
    reason,
    attempt: 1,
    notBefore: 0,
    now,
  });
}
