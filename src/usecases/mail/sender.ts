import type { Agent } from "../../domain/agent/agent.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import type { MailOrigin } from "../../domain/mail/recipient.ts";
import { agentName } from "../../domain/name/name.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { Tx } from "../../ports/store.ts";
import { ownerOf } from "./inbox.ts";

/** In whose name a message goes out. */
export interface Sender {
  readonly name: string;
  /** False: the operator wrote under the name of another sender. */
  readonly verified: boolean;
  readonly origin: MailOrigin;
  /** The agent that speaks: its rights bind it, its turn is stamped on the message. Null when no agent speaks. */
  readonly agent: Agent | null;
  /** The agent of this name, whether or not it wrote the message itself. */
  readonly known: Agent | null;
}

/** The sender follows from the caller. Only the operator may write under another name, and the message says so. */
export async function findSender(tx: Tx, caller: Caller, named?: string): Promise<Result<Sender, Refusal>> {
  if (caller.kind === "engine") return ok({ ...ownWord, name: caller.name, origin: "engine" });
  if (caller.kind === "agent") return agentSender(tx, caller, named);
  if (named === undefined) return ok({ ...ownWord, name: caller.name, origin: "operator" });
  const valid = agentName(named.trim().toLowerCase(), "from");
  if (!valid.ok) return valid;
  const name = await ownerOf(tx, valid.value);
  if (name === caller.name) return ok({ ...ownWord, name, origin: "operator" });
  if (name === "system") return no(invalid("from", "is the engine's own address", { value: named }));
  const known = (await tx.agents.byName(name)) ?? null;
  return ok({ name, verified: false, origin: "operator", agent: null, known });
}

const ownWord = { verified: true, agent: null, known: null } as const;

async function agentSender(
  tx: Tx,
  caller: Extract<Caller, { kind: "agent" }>,
  named: string | undefined,
): Promise<Result<Sender, Refusal>> {
  if (named !== undefined && named.trim().toLowerCase() !== caller.name) {
    const why = "an agent writes in its own name";
    return no({ kind: "not-allowed", action: `write as ${named}`, caller: caller.name, why });
  }
  const agent = await tx.agents.get(caller.agentId);
  if (agent === undefined) return no({ kind: "unknown-token" });
  return ok({ name: agent.name, verified: true, origin: "agent", agent, known: agent });
}
