import { canonical } from "../../domain/agent/capability.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { Tx } from "../../ports/store.ts";
import { descendantsOf } from "../agents/subordinate.ts";

/**
 * Whose mail the caller may look at: an agent at its own and at that of everybody below it, a person and the monitor,
 * which watches over the whole fleet, at everybody's (undefined).
 */
export async function namesInSight(tx: Tx, caller: Caller): Promise<readonly string[] | undefined> {
  if (caller.kind !== "agent" || canonical(caller.capability) === "monitor") return undefined;
  const below = await descendantsOf(tx, caller.name);
  return [caller.name, ...below.map(({ name }) => name)];
}

/** Refuses who asks for mail between others: sender or recipient must be in sight. */
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
