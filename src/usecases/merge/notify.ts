import { hasEnded } from "../../domain/agent/agent.ts";
import type { MailType, Priority } from "../../domain/mail/types.ts";
import { wakes } from "../../domain/mail/wake.ts";
import type { OutcomeMail } from "../../domain/merge/outcome-mail.ts";
import type { Tx } from "../../ports/store.ts";
import { nearestLiveAncestor } from "../mail/hand-on.ts";
import { fromEngine, noteForward, post } from "../mail/post.ts";
import { wakePolicyOf } from "../mail/wake-ups.ts";
import type { Context } from "../usecase.ts";

export interface Notice extends OutcomeMail {
  readonly type: MailType;
  readonly priority: Priority;
  readonly runId: string | null;
  /** Recipients that are woken, even if the project's rules for the type say otherwise. */
  readonly wake?: readonly string[];
  /** Recipients that get it with their next turn, even if the rules say otherwise: it asks nothing of them. */
  readonly quiet?: readonly string[];
}

/**
 * The engine's word to these names, once to each who reads it: what an ended agent will not read goes to the nearest above
 * it that lives, without waking them, and not at all where they get it in their own right.
 */
export async function notify(
  tx: Tx,
  context: Pick<Context, "ids" | "now" | "settings">,
  addressees: readonly string[],
  { wake = [], quiet = [], ...notice }: Notice,
): Promise<void> {
  const policy = wakePolicyOf(context.settings);
  for (const [reader, meant] of await readersOf(tx, addressees)) {
    const own = meant.includes(reader);
    const agent = await tx.agents.byName(reader);
    const facts = { type: notice.type, priority: notice.priority, group: false, answers: false };
    const byRule = wakes({ ...facts, recipientCapability: agent?.capability ?? null }, policy);
    const message = await post(tx, context, {
      ...notice,
      ...fromEngine,
      address: own ? reader : (meant[0] ?? reader),
      recipients: [{ name: reader, wake: own && (wake.includes(reader) || (byRule && !quiet.includes(reader))) }],
    });
    for (const name of meant) if (name !== reader) await noteForward(tx, message, name, reader);
  }
}

/** The readers, each with the names it reads for. */
async function readersOf(tx: Tx, addressees: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const readers = new Map<string, readonly string[]>();
  for (const name of new Set(addressees)) {
    const agent = await tx.agents.byName(name);
    const ended = agent !== undefined && hasEnded(agent);
    const reader = ended ? await nearestLiveAncestor(tx, agent.parentName) : name;
    readers.set(reader, [...(readers.get(reader) ?? []), name]);
  }
  return readers;
}
