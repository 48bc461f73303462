import { steerChannel } from "./delivery.ts";
import type { Delivery } from "./types.ts";

export const whyCodes = [
  "acked",
  "forwarded",
  "cancelled",
  "dead",
  "delivered",
  "in-turn",
  "held-by-reader",
  "recipient-ended",
  "waits-for-reader",
  "engine-not-running",
  "not-before",
  "parked",
  "turn-running",
  "does-not-wake",
  "due",
] as const;
export type WhyCode = (typeof whyCodes)[number];

/**
 * The facts about the recipient of a delivery; null for a recipient without turns: the operator, a person's session.
 */
export interface WhyRecipient {
  /** Set when it has ended: `submitted`, or the state it ended in. */
  readonly ended: string | null;
  readonly runningTurn: string | null;
  /** Set while it may start no turn. */
  readonly parked: { readonly reason: string; readonly until: number | null; readonly next: string | null } | null;
}

export interface WhyFacts {
  readonly messageId: string;
  readonly delivery: Delivery;
  readonly recipient: WhyRecipient | null;
  readonly forwardedTo: string | null;
  /** Its recipient cannot finish its running turn without having been shown it. */
  readonly beforeFinish: boolean;
  readonly engineRunning: boolean;
  readonly now: number;
}

export interface Explanation {
  readonly code: WhyCode;
  readonly sentence: string;
  /** The command that changes it, or null when there is nothing to do but wait. */
  readonly next: string | null;
}

/**
 * Whether it started or starts a turn of its own, and why. Null where its reader has no turns, or the reason is
 * unknown.
 */
export function explainWake({ wake, wakeReason }: Delivery, recipient: WhyRecipient | null): string | null {
  if (recipient === null) return null;
  if (!wake) return "It starts no turn of its own; it rides along with the next one.";
  return wakeReason === null ? null : `It starts a turn, because ${wakeReason}.`;
}

/** Why a message has or has not been seen, and what to type about it. First match wins. */
export function explainDelivery(facts: WhyFacts): Explanation {
  const { delivery, messageId: id } = facts;
  const { toAgent: to } = delivery;
  switch (delivery.state) {
    case "acked":
      return because("acked", `${to} has read it (${at(delivery.ackedAt)}).`);
    case "cancelled":
      if (facts.forwardedTo !== null) return forwarded(facts.forwardedTo, facts);
      return because("cancelled", `It was withdrawn: ${delivery.lastError ?? "no reason was given"}.`);
    case "dead": {
      const error = delivery.lastError ?? "no error was recorded";
      return because(
        "dead",
        `Given up after ${times(delivery.attempts)}; last error: ${error}.`,
        hasDied(facts) ? `ov recover ${to}` : `ov mail retry ${id}`,
      );
    }
    case "delivered":
      if (delivery.channel === steerChannel)
        return because(
          "delivered",
          `${to} was shown it during its turn ${delivery.turnId} (${at(delivery.deliveredAt)}).`,
        );
      return because("delivered", `${to} was handed it (${at(delivery.deliveredAt)}) and has not confirmed it yet.`);
    case "claimed":
      return explainClaim(delivery);
    case "queued":
      return explainQueued(facts);
  }
}

/** A dead agent gets no mail. When it is recovered, it gets all the mail it missed. */
const hasDied = ({ recipient }: WhyFacts): boolean =>
  recipient !== null && recipient.ended !== null && recipient.ended !== "submitted";

function explainClaim(delivery: Delivery): Explanation {
  const { toAgent, turnId, claimedBy, claimExpires, channel } = delivery;
  if (channel === steerChannel)
    return because(
      "in-turn",
      `It was written into turn ${turnId} of ${toAgent}, which has not shown it to its model yet.`,
    );
  if (claimExpires === null) return because("in-turn", `It is part of turn ${turnId ?? claimedBy} of ${toAgent}.`);
  return because("held-by-reader", `${claimedBy} is reading it and may hold it until ${at(claimExpires)}.`);
}

function explainQueued(facts: WhyFacts): Explanation {
  const { delivery, recipient, now } = facts;
  const { toAgent: to } = delivery;
  if (facts.forwardedTo !== null) return forwarded(facts.forwardedTo, facts);
  if (recipient === null) {
    const next = to === "operator" ? "ov mail check" : `ov mail check --agent ${to}`;
    return because("waits-for-reader", `It waits until ${to} looks at the inbox.`, next);
  }
  if (recipient.ended !== null) {
    const sentence = `${to} is ${recipient.ended}, and mail of this kind does not reopen it.`;
    return because("recipient-ended", sentence, `ov recover ${to}`);
  }
  if (!facts.engineRunning)
    return because("engine-not-running", "No engine is running to deliver it.", "ov engine start");
  if (recipient.parked !== null) return parked(to, recipient.parked);
  if (delivery.notBefore > now) {
    const cause = delivery.lastError === null ? "" : ` after ${times(delivery.attempts)}: ${delivery.lastError}`;
    return because("not-before", `It is not tried again before ${at(delivery.notBefore)}${cause}.`);
  }
  if (recipient.runningTurn !== null) {
    const turn = `turn ${recipient.runningTurn}`;
    return because(
      "turn-running",
      facts.beforeFinish
        ? `${to} is shown it before it can finish in ${turn}; otherwise it comes with the turn after that.`
        : `It waits for the end of ${turn} of ${to}.`,
    );
  }
  if (!delivery.wake) {
    return because("does-not-wake", `It starts no turn; ${to} gets it with its next one.`, `ov nudge ${to}`);
  }
  return because("due", `The next turn of ${to} carries it.`);
}

function forwarded(heir: string, { delivery }: WhyFacts): Explanation {
  return because("forwarded", `${delivery.toAgent} had ended, so it went to ${heir}.`);
}

function parked(to: string, { reason, until, next }: NonNullable<WhyRecipient["parked"]>): Explanation {
  const end = until === null ? "" : ` until ${at(until)}`;
  return because("parked", `${to} is parked (${reason})${end}.`, next);
}

const because = (code: WhyCode, sentence: string, next: string | null = null): Explanation => ({
  code,
  sentence,
  next,
});

const at = (time: number | null): string => (time === null ? "at an unknown time" : new Date(time).toISOString());

const times = (attempts: number): string => (attempts === 1 ? "1 attempt" : `${attempts} attempts`);
