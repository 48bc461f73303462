import { coalesceUntil, wakes } from "../../domain/mail/wake.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context } from "../usecase.ts";
import type { Composition } from "./compose.ts";
import type { Recipient } from "./post.ts";
import type { Sender } from "./sender.ts";
import type { Reader, Target } from "./target.ts";
import { wakePolicyOf } from "./wake-policy.ts";

/** Whom the message wakes, and not before when. */
export async function wakeUps(
  tx: Tx,
  { now, settings }: Pick<Context, "now" | "settings">,
  sender: Sender,
  mail: Pick<Composition, "type" | "priority" | "wake" | "answer">,
  { group, readers }: Target,
): Promise<readonly Recipient[]> {
  const policy = wakePolicyOf(settings);
  const wakesReader = ({ name, agent, silent }: Reader): boolean => {
    if (silent) return false;
    const facts = {
      type: mail.type,
      priority: mail.priority,
      group,
      answers: mail.answer?.awaitedBy === name,
      recipientCapability: agent?.capability ?? null,
    };
    return wakes(mail.wake === undefined ? facts : { ...facts, override: mail.wake }, policy);
  };
  const recipients: Recipient[] = [];
  for (const reader of readers) {
    const wake = wakesReader(reader);
    const start = wake && reader.agent !== null ? await startOf(reader.name) : 0;
    recipients.push({ name: reader.name, wake, notBefore: start });
  }
  return recipients;

  async function startOf(name: string): Promise<number> {
    const waits = await tx.waits.of(name);
    const otherOpenChildWaits = waits.filter(({ kind, ref }) => kind === "child" && ref !== sender.name).length;
    const facts = { otherOpenChildWaits, windowMs: settings.mail.coalesceMs, now };
    const start = coalesceUntil([{ type: mail.type, priority: mail.priority, createdAt: now }], facts) ?? now;
    return start > now ? start : 0;
  }
}
