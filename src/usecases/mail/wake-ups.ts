import { type Agent, newestPerName } from "../../domain/agent/agent.ts";
import { capabilities, isCapability } from "../../domain/agent/capability.ts";
import { isMailType, type MailType } from "../../domain/mail/types.ts";
import { coalesceUntil, defaultWakePolicy, type WakePolicy, whyWakes } from "../../domain/mail/wake.ts";
import type { Settings } from "../../ports/settings.ts";
import type { Tx } from "../../ports/store.ts";
import { isAnyLanding } from "../agents/held-agents.ts";
import type { Context } from "../usecase.ts";
import type { Composition } from "./compose.ts";
import type { Recipient } from "./post.ts";
import type { Sender } from "./sender.ts";
import type { Reader, Target } from "./target.ts";

/** The readers that the message wakes, each with the earliest time of its turn. */
export async function wakeUps(
  tx: Tx,
  { now, settings }: Pick<Context, "now" | "settings">,
  sender: Sender,
  mail: Pick<Composition, "type" | "priority" | "wake" | "untyped" | "answer">,
  { group, readers }: Target,
): Promise<readonly Recipient[]> {
  const policy = wakePolicyOf(settings);
  const reasonFor = ({ name, agent, silent }: Reader): string | null => {
    if (silent) return null;
    const facts = {
      type: mail.type,
      priority: mail.priority,
      group,
      answers: mail.answer?.awaitedBy === name,
      meant: mail.untyped === true && (sender.name === "operator" || sender.name === agent?.parentName),
      recipientCapability: agent?.capability ?? null,
    };
    return whyWakes(mail.wake === undefined ? facts : { ...facts, override: mail.wake }, policy);
  };
  const recipients: Recipient[] = [];
  for (const reader of readers) {
    const reason = reasonFor(reader);
    const wake = reason !== null;
    const start = wake && reader.agent !== null ? await startOf(reader.name) : 0;
    recipients.push({ name: reader.name, wake, reason, notBefore: start });
  }
  return recipients;

  async function startOf(name: string): Promise<number> {
    const waits = await tx.waits.of(name);
    const otherOpenChildWaits = waits.filter(({ kind, ref }) => kind === "child" && ref !== sender.name).length;
    const facts = { otherOpenChildWaits, windowMs: settings.mail.coalesceMs, now };
    const start = coalesceUntil([{ type: mail.type, priority: mail.priority, createdAt: now }], facts) ?? now;
    if (mail.type === "worker_done" && (await isAnyLanding(tx, await childrenOf(sender.name))))
      return now + longestHoldMs;
    return start > now ? start : 0;
  }

  async function childrenOf(parentName: string): Promise<readonly Agent[]> {
    return newestPerName(await tx.agents.list({ parentName }));
  }
}

/**
 * A lead that finishes while its branches land leaves its parent nothing to decide before they have landed. The end of the
 * last landing makes the turn due (`keepGoing`). A branch that waits for the operator may take days, so the report is
 * not held for longer than this.
 */
const longestHoldMs = 600_000;

/**
 * What wakes whom in this project: the default, overlaid by `mail.wake`, whose keys are a type (`status`) or a type for
 * one capability (`status@lead`). The narrower key wins. Keys that name neither are the business of the config check.
 */
export function wakePolicyOf({ mail }: Settings): WakePolicy {
  const policy: Record<MailType, WakePolicy[MailType]> = { ...defaultWakePolicy };
  const keys = Object.keys(mail.wake).toSorted((a, b) => Number(a.includes("@")) - Number(b.includes("@")));
  for (const key of keys) {
    const [type = "", capability] = key.split("@");
    const wakes = mail.wake[key] === true;
    if (!isMailType(type)) continue;
    if (capability === undefined) policy[type] = wakes;
    else if (isCapability(capability)) {
      const rule = policy[type];
      const before = typeof rule === "boolean" ? (rule ? capabilities : []) : rule;
      const others = before.filter((known) => known !== capability);
      policy[type] = wakes ? [...others, capability] : others;
    }
  }
  return policy;
}
