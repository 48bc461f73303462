import { canonical } from "../../domain/agent/capability.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import type { Message } from "../../domain/mail/types.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { Tx } from "../../ports/store.ts";
import { descendantsOf } from "../agents/find-agent.ts";

const suggested = 200;

/** The message, or a refusal that names the recent id the caller most likely meant. */
export async function findMessage(tx: Tx, id: string): Promise<Result<Message, Refusal>> {
  const message = await tx.messages.get(id);
  if (message !== undefined) return ok(message);
  return no(notFound("message", id, nearest(id, await tx.messages.recentIds(suggested))));
}

/**
 * Whose mail the caller may look at: an agent at its own and at that of everybody below it, a person and the monitor,
 * which watches over the whole fleet, at everybody's (undefined).
 */
export async function namesInSight(tx: Tx, caller: Caller): Promise<readonly string[] | undefined> {
  if (caller.kind !== "agent" || canonical(caller.capability) === "monitor") return undefined;
  const below = await descendantsOf(tx, caller.name);
  return [caller.name, ...below.map(({ name }) => name)];
}

/** Refuses a caller that asks for mail between other agents: it must see the mail of the sender or a recipient. */
export function mayList(
  caller: Caller,
  inSight: readonly string[] | undefined,
  parties: readonly string[],
): Result<null, Refusal> {
  const [named] = parties;
  if (inSight === undefined || named === undefined || parties.some((name) => inSight.includes(name))) return ok(null);
  const why = `an agent sees its own mail and that of those below it, so add --from ${caller.name} or --to ${caller.name}`;
  return no({ kind: "not-allowed", action: `list the mail of ${named}`, caller: caller.name, why });
}

/** The message, if the caller may look at it: it must see the mail of the sender or a recipient. */
export async function messageInSight(tx: Tx, caller: Caller, id: string): Promise<Result<Message, Refusal>> {
  const message = await findMessage(tx, id);
  const inSight = await namesInSight(tx, caller);
  if (!message.ok || inSight === undefined) return message;
  const { fromAgent, address, seq } = message.value;
  const recipients = (await tx.deliveries.ofMessage(seq)).map(({ toAgent }) => toAgent);
  if ([fromAgent, address, ...recipients].some((name) => inSight.includes(name))) return message;
  const why = "an agent sees its own mail and that of those below it";
  return no({ kind: "not-allowed", action: `look at ${id}`, caller: caller.name, why });
}
