import type { Agent } from "../../domain/agent/agent.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { no, type Result } from "../../domain/result.ts";
import type { Tx } from "../../ports/store.ts";

/** Brings a submitted agent back to work for mail that asks for it; answers the incarnation that will read the mail. */
export async function reopen(_tx: Tx, name: string): Promise<Result<Agent, Refusal>> {
  return no({ kind: "recipient-ended", name, state: "submitted", reopening: [] });
}
