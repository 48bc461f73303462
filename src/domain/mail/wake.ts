import type { Agent } from "../agent/agent.ts";
import type { Capability } from "../agent/capability.ts";
import { type Delivery, isPressing, type MailType, type Message, type Priority } from "./types.ts";

/** Per type: wakes everybody, nobody, or recipients of these capabilities. */
export type WakePolicy = Readonly<Record<MailType, boolean | readonly Capability[]>>;

/** What asks for an action or changes somebody's plan wakes; what merely informs rides along with the next turn. */
export const defaultWakePolicy: WakePolicy = {
  status: false,
  result: false,
  health_check: false,
  spec_ready: false,
  question: true,
  error: true,
  worker_done: true,
  worker_died: true,
  merge_ready: true,
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
export function wakes(facts: WakeFacts, policy: WakePolicy = defaultWakePolicy): boolean {
  if (facts.override !== undefined) return facts.override;
  if (facts.group) return false;
  if (facts.answers || facts.meant === true || isPressing(facts.priority)) return true;
  const rule = policy[facts.type];
  if (typeof rule === "boolean") return rule;
  return facts.recipientCapability !== null && rule.includes(facts.recipientCapability);
}

/**
 * Must this mail be read before its recipient may finish? The words of the operator and of the parent always, and
 * everything that would have started a turn. That a branch has landed asks nothing of an agent that wants to finish.
 */
export function countsBeforeFinish(
  { fromAgent, type }: Pick<Message, "fromAgent" | "type">,
  { wake }: Pick<Delivery, "wake">,
  { parentName }: Pick<Agent, "parentName">,
): boolean {
  if (fromAgent === "operator" || fromAgent === parentName) return true;
  return wake && type !== "merged";
}

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
