import type { Agent } from "../agent/agent.ts";
import type { Capability } from "../agent/capability.ts";
import { type Delivery, isPressing, type MailType, type Message, type Priority } from "./types.ts";

/** Per type: wakes every recipient, no recipient, or recipients of these capabilities. */
export type WakePolicy = Readonly<Record<MailType, boolean | readonly Capability[]>>;

/** Mail that asks for an action or changes a plan wakes; mail that merely informs rides along with the next turn. */
export const defaultWakePolicy: WakePolicy = {
  status: false,
  result: false,
  health_check: false,
  spec_ready: false,
  question: true,
  error: true,
  worker_done: true,
  worker_died: true,
  // It puts the branch into the queue by itself.
  merge_ready: false,
  merged: true,
  merge_failed: true,
  escalation: true,
  dispatch: true,
  assign: true,
  decision_gate: true,
  review: true,
  decision: true,
  shutdown: true,
};

export interface WakeFacts {
  readonly type: MailType;
  readonly priority: Priority;
  /** Sent to a group: informational unless the sender says otherwise. */
  readonly group: boolean;
  /** It answers a question or decision that the recipient is waiting for. */
  readonly answers: boolean;
  /** The operator or the recipient's parent wrote it to this recipient and named no type: it means the recipient. */
  readonly meant?: boolean;
  /** Null when the recipient is no agent. */
  readonly recipientCapability: Capability | null;
  /** The sender's own word: `--wake` or `--no-wake`. */
  readonly override?: boolean;
}

/** Does this message start a turn of its recipient? */
export const wakes = (facts: WakeFacts, policy: WakePolicy = defaultWakePolicy): boolean =>
  whyWakes(facts, policy) !== null;

/** Why this message starts a turn of its recipient; null when it starts none. */
export function whyWakes(facts: WakeFacts, policy: WakePolicy = defaultWakePolicy): string | null {
  const { type, override, group, answers, meant, priority, recipientCapability } = facts;
  if (override !== undefined) return override ? "its sender asked for it" : null;
  if (group) return null;
  if (answers) return "it answers what its reader waits for";
  if (meant === true) return "the operator or the parent wrote it to this reader";
  if (isPressing(priority)) return `its priority is ${priority}, and ${wakeWords[type]}`;
  const rule = policy[type];
  const wakesByType =
    typeof rule === "boolean" ? rule : recipientCapability !== null && rule.includes(recipientCapability);
  return wakesByType ? wakeWords[type] : null;
}

/** Why mail of a type starts a turn, where it does. */
export const wakeWords: Readonly<Record<MailType, string>> = {
  status: "it informs",
  result: "it brings a result",
  health_check: "it asks for a sign of life",
  spec_ready: "a spec can be read",
  question: "it asks for an answer",
  error: "its sender is blocked",
  worker_done: "an agent has finished, and its work is to be dealt with",
  worker_died: "an agent ended without finishing, and its task is to be dealt with",
  merge_ready: "a branch is handed over",
  merged: "a branch has landed, and the next step is to be decided",
  merge_failed: "a branch did not land, and has to be mended",
  escalation: "somebody below cannot go on",
  dispatch: "it gives work",
  assign: "it gives work",
  decision_gate: "it asks for a decision",
  review: "a review asks for an answer",
  decision: "a decision was made",
  shutdown: "it asks to end",
};

/**
 * Must this mail be read before its recipient may finish? The words of the operator and of the parent always, what any
 * other agent wrote to this one alone, and everything that would have started a turn. That a branch has landed asks nothing
 * of an agent that wants to finish, and neither does the news of the engine and of groups.
 */
export function countsBeforeFinish(
  { fromAgent, fromAgentId, address, type }: Pick<Message, "fromAgent" | "fromAgentId" | "address" | "type">,
  { wake }: Pick<Delivery, "wake">,
  { name, parentName }: Pick<Agent, "name" | "parentName">,
): boolean {
  if (fromAgent === "operator" || fromAgent === parentName) return true;
  const isTold = fromAgentId !== null && fromAgent !== name && address === name;
  return isTold && telling.includes(type) ? true : wake && type !== "merged";
}

/** What an agent tells another in its own words. */
const telling: readonly MailType[] = ["status", "result"];

export interface CoalesceFacts {
  /** Children other than the senders that the recipient still waits for; their news may come in the same moment. */
  readonly otherOpenChildWaits: number;
  readonly windowMs: number;
  readonly now: number;
}

const coalescing: readonly MailType[] = ["worker_done", "status"];

/**
 * When the turn for this waking mail may start, or null when there is none. Each message is held for one window at most,
 * counted from its own sending, so a steady trickle cannot put the turn off.
 */
export function coalesceUntil(
  waking: Iterable<Pick<Message, "type" | "priority" | "createdAt">>,
  facts: CoalesceFacts,
): number | null {
  let earliest: number | null = null;
  for (const message of waking) {
    const start = startFor(message, facts);
    if (earliest === null || start < earliest) earliest = start;
  }
  return earliest;
}

function startFor(message: Pick<Message, "type" | "priority" | "createdAt">, facts: CoalesceFacts): number {
  const holds = coalescing.includes(message.type) && !isPressing(message.priority) && facts.otherOpenChildWaits > 0;
  if (!holds) return facts.now;
  // A clock set back must not hold mail for longer than a window.
  const sentAt = Math.min(message.createdAt, facts.now);
  return Math.max(facts.now, sentAt + facts.windowMs);
}
