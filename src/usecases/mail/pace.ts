import { checkRate, type Fingerprint, findDuplicate, type MailLimits, rateWindowMs } from "../../domain/mail/limits.ts";
import type { Message } from "../../domain/mail/types.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { ok, type Result } from "../../domain/result.ts";
import type { Tx } from "../../ports/store.ts";

export interface PaceFacts {
  readonly sender: string;
  readonly exempt: boolean;
  readonly group: boolean;
  readonly now: number;
}

/** May this sender send one more message now? The refusal says how long to wait. */
export async function checkPace(tx: Tx, facts: PaceFacts, limits: MailLimits): Promise<Result<null, Refusal>> {
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
export async function findRepeated(
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
