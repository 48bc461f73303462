import type { Refusal } from "../refusal.ts";
import { no, ok, type Result } from "../result.ts";
import { utf8Length } from "../text/sizes.ts";
import type { Message } from "./types.ts";

export interface MailLimits {
  readonly perMinute: number;
  readonly groupsPerMinute: number;
  readonly maxHop: number;
  readonly duplicateMs: number;
  readonly maxBodyBytes: number;
}

export const defaultMailLimits: MailLimits = {
  perMinute: 30,
  groupsPerMinute: 4,
  maxHop: 12,
  duplicateMs: 60_000,
  maxBodyBytes: 8_192,
};

/** The span over which sending is counted. */
export const rateWindowMs = 60_000;

export interface RateFacts {
  readonly sender: string;
  /** Mail of the engine is never held back. */
  readonly exempt: boolean;
  readonly group: boolean;
  /** Messages of this sender within the window; for a group send, its group sends only. */
  readonly sent: number;
  /** When the oldest of them was sent; unknown: the wait is given as a whole window. */
  readonly oldestAt?: number;
  readonly now: number;
}

/** Stops a storm of courtesy mails: so many messages per minute, and far fewer group sends. */
export function checkRate(facts: RateFacts, limits: MailLimits = defaultMailLimits): Result<null, Refusal> {
  const limit = facts.group ? limits.groupsPerMinute : limits.perMinute;
  if (facts.exempt || facts.sent < limit) return ok(null);
  const left = (facts.oldestAt ?? facts.now) + rateWindowMs - facts.now;
  const retryAfterMs = Math.min(Math.max(left, 1), rateWindowMs);
  const per = facts.group ? "minute to groups" : "minute";
  return no({ kind: "rate-limited", sender: facts.sender, limit, per, retryAfterMs });
}

/** Stops two agents that answer each other for ever. */
export function checkHop(
  message: Pick<Message, "threadId" | "hop">,
  limits: MailLimits = defaultMailLimits,
): Result<null, Refusal> {
  if (message.hop <= limits.maxHop) return ok(null);
  return no({ kind: "hop-limit", thread: message.threadId, limit: limits.maxHop });
}

const fingerprint = [
  "fromAgent",
  "fromAgentId",
  "address",
  "type",
  "subject",
  "body",
  "payload",
  "replyTo",
] as const satisfies readonly (keyof Message)[];
export type Fingerprint = Pick<Message, (typeof fingerprint)[number]>;

/**
 * The message of the last minute that this one repeats. Type, payload and the answered message count as well as the
 * text: "done" as a status and "done" as the terminal mail are two things, and so is "yes" to two questions, or the
 * same report of an agent that was reopened meanwhile.
 */
export function findDuplicate<M extends Fingerprint & Pick<Message, "createdAt">>(
  candidate: Fingerprint,
  recent: Iterable<M>,
  now: number,
  limits: MailLimits = defaultMailLimits,
): M | undefined {
  for (const earlier of recent) {
    const fresh = now - earlier.createdAt < limits.duplicateMs;
    if (fresh && fingerprint.every((field) => earlier[field] === candidate[field])) return earlier;
  }
  return undefined;
}

export interface CappedBody {
  /** The stored text, which the recipient sees. */
  readonly body: string;
  /** The whole text, to be written to the given path; null when it fits. */
  readonly blob: string | null;
}

const summaryChars = 1_000;

/** A body above the limit is delivered as its beginning plus the path of the rest. */
export function capBody(body: string, blobPath: string, limits: MailLimits = defaultMailLimits): CappedBody {
  const bytes = utf8Length(body);
  if (bytes <= limits.maxBodyBytes) return { body, blob: null };
  const start = beginning(body, Math.min(summaryChars, limits.maxBodyBytes));
  return { body: `${start}\n[... ${bytes} bytes in all; the whole text is in ${blobPath}]`, blob: body };
}

/** Never ends in half a character. */
function beginning(text: string, length: number): string {
  const cut = text.slice(0, length);
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}
