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
  return no(await unknownMessage(tx, id));
}

/** Suggests only ids of messages in sight. */
async function unknownMessage(tx: Tx, id: string, inSight?: readonly string[]): Promise<Refusal> {
  const recent =
    inSight === undefined
      ? await tx.messages.recentIds(suggested)
      : (await tx.messages.list({ involving: inSight, limit: suggested })).map((message) => message.id);
  const others = recent.filter((other) => other !== id);
  return notFound("message", id, nearest(id, others));
}

/**
 * An agent of another run has the name of the message's author by now, and never wrote the message. The coordinator of
 * every run has the same name unless the operator gives it one.
 */
export async function isAuthorReplaced(tx: Tx, { fromAgent, runId }: Message): Promise<boolean> {
  const named = runId === null ? undefined : await tx.agents.byName(fromAgent);
  return named !== undefined && named.runId !== runId;
}

/**
 * The names whose mail the caller may look at: an agent sees its own and that of all agents below it; a person, and the
 * monitor, which watches over the whole fleet, see all mail (undefined).
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

/**
 * The message, if the caller may look at it: it must see the mail of the sender or a recipient. Otherwise the answer is
 * that of an unknown id, so that a caller does not learn which messages others have.
 */
export async function messageInSight(tx: Tx, caller: Caller, id: string): Promise<Result<Message, Refusal>> {
  const inSight = await namesInSight(tx, caller);
  if (inSight === undefined) return findMessage(tx, id);
  const message = await tx.messages.get(id);
  if (message === undefined) return no(await unknownMessage(tx, id, inSight));
  const { fromAgent, address, seq } = message;
  const recipients = (await tx.deliveries.ofMessage(seq)).map(({ toAgent }) => toAgent);
  if ([fromAgent, address, ...recipients].some((name) => inSight.includes(name))) return ok(message);
  return no(await unknownMessage(tx, id, inSight));
}
