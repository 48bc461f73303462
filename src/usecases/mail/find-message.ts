import type { Message } from "../../domain/mail/types.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { Tx } from "../../ports/store.ts";

const suggested = 200;

/** The message, or a refusal that names the recent id the caller most likely meant. */
export async function findMessage(tx: Tx, id: string): Promise<Result<Message, Refusal>> {
  const message = await tx.messages.get(id);
  if (message !== undefined) return ok(message);
  return no(notFound("message", id, nearest(id, await tx.messages.recentIds(suggested))));
}
