import type { Agent } from "../../domain/agent/agent.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { Mail } from "../../ports/store/mail.ts";
import type { Tx } from "../../ports/store.ts";
import { namesInSight } from "../mail/find-message.ts";
import type { UseCase } from "../usecase.ts";

/** A turn, and everything that starts it. */
export interface ReasonedTurn {
  readonly id: string;
  readonly status: Turn["status"];
  readonly trigger: Turn["trigger"];
  readonly queuedAt: number;
  readonly startedAt: number | null;
  /** Why it starts without mail, then a line for each message that starts it. Empty where no reason is on record. */
  readonly because: readonly string[];
}

export interface TurnReasons {
  readonly agentName: string;
  readonly turns: readonly ReasonedTurn[];
}

const mostTurns = 5;

/** Why the newest turns of an agent started, and why its queued one will: newest first. */
export const readTurnReasons: UseCase<{ readonly name: string }, TurnReasons> = {
  kind: "read",
  request: fields({ name: text }),
  guarded: true,
  run: async (tx, { caller }, { name }) => {
    const inSight = await namesInSight(tx, caller);
    const agent = inSight === undefined || inSight.includes(name) ? await tx.agents.byName(name) : undefined;
    if (agent === undefined) return no(notFound("agent", name, nearest(name, inSight ?? (await tx.agents.names()))));
    const newest = (await tx.turns.listFor(agent.id)).slice(-mostTurns).toReversed();
    const turns: ReasonedTurn[] = [];
    for (const turn of newest) {
      const { id, status, trigger, queuedAt, startedAt, reason } = turn;
      const because = [...(reason === null ? [] : [reason]), ...(await startedBy(tx, agent, turn)).map(wakeWords)];
      turns.push({ id, status, trigger, queuedAt, startedAt, because });
    }
    return ok({ agentName: name, turns });
  },
};

async function startedBy(tx: Tx, { name }: Agent, { id, status }: Turn): Promise<readonly Mail[]> {
  const mail = status === "queued" ? await tx.deliveries.inState(name, ["queued"]) : await tx.deliveries.ofTurn(id);
  return mail.filter(({ delivery }) => delivery.wake);
}

const wakeWords = ({ message, delivery }: Mail): string =>
  `${delivery.wakeReason ?? "mail came"}: "${message.subject}" from ${message.fromAgent} (${message.id})`;
