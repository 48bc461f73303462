import type { TurnEvent } from "../../domain/turn/turn-event.ts";
import { causeOf, ended } from "./exec-json.ts";
import { type Fields, number, text } from "./json-fields.ts";

/**
 * For a program that prints nothing while it waits to ask its model again, and waits as long as a provider says: our part
 * inside it hears of that and prints a line of this type, with `attempt`, `message`, `next` (ms UTC) and `waitMs`.
 */
export const retryLine = "overstory.retry";

/** A turn that would wait longer, or try more often, is parked by us: others may work meanwhile. */
const longestWaitMs = 60_000;
const mostRetries = 5;

export function retryIn(event: Fields): TurnEvent[] {
  const [attempt, delayMs, said] = [number(event.attempt) ?? 0, number(event.waitMs) ?? 0, text(event.message) ?? ""];
  const retry: TurnEvent = { kind: "retry", attempt, delayMs, cause: said };
  const isLong = delayMs > longestWaitMs;
  if (!isLong && attempt <= mostRetries) return [retry];
  const known = causeOf(said);
  // A program tries again only what passes by itself, and so late only where the provider says when a limit ends.
  const failure = known !== "unknown" ? known : isLong ? "rate_limit" : "server_error";
  const resetAt = isLong ? (number(event.next) ?? null) : null;
  return [retry, ended(failure, said, { resetAt }), { kind: "hopeless", failure, text: said }];
}
