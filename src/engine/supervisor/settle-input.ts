import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import { type DeliveryEvent, nextDelivery } from "../../domain/mail/delivery.ts";
import type { Settlement } from "../../domain/turn/settle.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Mail } from "../../ports/store/mail.ts";
import type { Tx } from "../../ports/store.ts";
import { handOn } from "../../usecases/mail/hand-on.ts";
import { reportDead } from "../../usecases/mail/report-dead.ts";

interface Context {
  readonly ids: Ids;
  readonly now: number;
}

/** What becomes of the mail a turn carried: acknowledged, back in the queue, or inherited by whoever is left. */
export async function settleInput(
  tx: Tx,
  context: Context,
  turn: Turn,
  agent: Agent,
  settlement: Settlement,
): Promise<void> {
  const heir = settlement.input === "dead" ? await heirOf(tx, agent) : undefined;
  for (const mail of await tx.deliveries.ofTurn(turn.id)) {
    if (heir !== undefined && (await handOn(tx, context, mail, heir.name))) continue;
    await move(tx, context, counted(mail, settlement), eventFor(settlement, turn));
  }
}

/** Mail has seen as many attempts as turns that failed with it; being parked is none. */
function counted({ message, delivery }: Mail, { input, next }: Settlement): Mail {
  const failed = input === "dead" || (next.kind === "retry" && next.countsAttempt);
  return { message, delivery: failed ? { ...delivery, attempts: delivery.attempts + 1 } : delivery };
}

function eventFor(settlement: Settlement, turn: Turn): DeliveryEvent {
  if (settlement.input === "ack") return { kind: "ack", by: turn.id };
  if (settlement.input === "dead") return { kind: "kill", error: settlement.death ?? "its turns failed" };
  return { kind: "release", by: turn.id };
}

async function move(tx: Tx, context: Context, { message, delivery }: Mail, event: DeliveryEvent): Promise<boolean> {
  const next = nextDelivery(delivery, event, context.now);
  if (!next.ok) return false;
  await tx.deliveries.update(next.value);
  // The input of a turn is given up only with its agent.
  if (next.value.state === "dead")
    await reportDead(tx, context, { message, delivery: next.value }, { readerEnds: true });
  return true;
}

/** The successor, else the parent, if they live; the operator is told by the dead letter instead. */
async function heirOf(tx: Tx, agent: Agent): Promise<Agent | undefined> {
  for (const name of [agent.successorName, agent.parentName]) {
    const heir = name === null ? undefined : await tx.agents.byName(name);
    if (heir !== undefined && !hasEnded(heir)) return heir;
  }
  return undefined;
}
