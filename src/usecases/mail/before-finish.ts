import type { Agent } from "../../domain/agent/agent.ts";
import type { Missing, StoredCheck } from "../../domain/completion/check.ts";
import { nextDelivery, steerChannel } from "../../domain/mail/delivery.ts";
import type { Letter } from "../../domain/mail/letter.ts";
import { renderBatch } from "../../domain/mail/render.ts";
import type { Message } from "../../domain/mail/types.ts";
import { countsBeforeFinish } from "../../domain/mail/wake.ts";
import { shellWord } from "../../domain/text/shell-word.ts";
import { exactLine } from "../../domain/text/visible.ts";
import type { Mail } from "../../ports/store/mail.ts";
import type { Tx } from "../../ports/store.ts";

/** How mail reached an agent that wanted to finish. */
const finishChannel = "finish";

/** About as much as a model should be shown at once. The rest is shown when it tries to finish again. */
const mostMessages = 50;
const mostCharacters = 65_536;

/** Says that mail has to be read first, without showing it. `showUnread` puts the mail itself in its place. */
export const unreadMail: Missing = {
  kind: "unread-mail",
  message: "mail came that you have not read",
  fix: "read it: ov mail check; act on it, then run ov done again",
};

/**
 * Mail that an agent has to see before it may finish: unread mail that counts, and mail that an earlier refusal, or its
 * supervisor, took for this turn and that was never confirmed as shown. The operator who finishes for an agent is not asked.
 */
export async function unreadBeforeFinish(
  tx: Tx,
  agent: Agent,
  { requestedBy }: Pick<StoredCheck, "requestedBy">,
  now: number,
): Promise<readonly Mail[]> {
  if (requestedBy !== agent.name) return [];
  const turn = await tx.turns.runningFor(agent.id);
  const taken = (await tx.deliveries.inState(agent.name, ["claimed"])).filter(
    ({ delivery: { channel, turnId } }) =>
      (channel === finishChannel || channel === steerChannel) && turnId === turn?.id,
  );
  const queued = await tx.deliveries.queued(agent.name, now, Number.MAX_SAFE_INTEGER);
  return [...taken, ...queued.filter(({ message, delivery }) => countsBeforeFinish(message, delivery, agent))];
}

/** The words of the operator and of its parent that an agent has not read. It ends nothing larger than itself over them. */
export async function unreadOrders(tx: Tx, agent: Agent, now: number): Promise<readonly Message[]> {
  const unread = await unreadBeforeFinish(tx, agent, { requestedBy: agent.name }, now);
  const orders = unread.map(({ message }) => message);
  return orders.filter(({ fromAgent }) => fromAgent === "operator" || fromAgent === agent.parentName);
}

/**
 * Takes that mail for the agent's running turn and answers it in full, as one more thing that is missing. Each message is
 * shown once: when the surface has confirmed it, the next try to finish does not meet it again. Without a running turn
 * the mail stays in the queue for the next turn.
 */
export async function showUnread(
  tx: Tx,
  agent: Agent,
  check: Pick<StoredCheck, "requestedBy">,
  now: number,
): Promise<Missing | undefined> {
  const all = await unreadBeforeFinish(tx, agent, check, now);
  if (all.length === 0) return undefined;
  const turn = await tx.turns.runningFor(agent.id);
  if (turn === undefined) return unreadMail;
  const named = await namedBefore(tx, agent);
  const isUnderWay = ({ message, delivery }: Mail): boolean =>
    delivery.channel === steerChannel && !named.has(message.id);
  const unread = fitting(all.filter((mail) => !isUnderWay(mail)));
  if (unread.length === 0) return underWay(all.map(({ message }) => message.id));
  const letters: Letter[] = [];
  for (const { message, delivery } of unread) {
    if (delivery.state === "queued") {
      const claim = { kind: "claim", by: turn.id, channel: finishChannel, turnId: turn.id } as const;
      const taken = nextDelivery(delivery, claim, now);
      if (!taken.ok) continue;
      await tx.deliveries.update(taken.value);
    } else if (delivery.channel === steerChannel) {
      await tx.deliveries.update({ ...delivery, channel: finishChannel });
    }
    const sender = message.fromAgentId === null ? undefined : await tx.agents.get(message.fromAgentId);
    letters.push({ message, capability: sender?.capability ?? null, redelivered: delivery.redelivered, whole: true });
  }
  const messages = letters.map(({ message }) => message.seq);
  return {
    kind: "unread-mail",
    message: `mail came while you worked: ${messages.length === 1 ? "1 message" : `${messages.length} messages`}, shown below`,
    fix: "act on it, then finish again; each message is shown once",
    names: letters.map(({ message }) => message.id),
    mail: { by: turn.id, messages, text: renderBatch(letters) },
  };
}

/**
 * Mail that only a refused finish has shown, when no finish followed. It counts as shown, so no later turn brings it. An
 * agent that ended its turn over it is told of it once more.
 */
export async function shownByRefusal(tx: Tx, { id }: Agent): Promise<Missing | undefined> {
  const last = (await tx.checks.completionsOf(id)).toSorted((a, b) => a.seq - b.seq).at(-1);
  if (last === undefined || last.status !== "failed") return undefined;
  const names = last.problem.flatMap((missing) => (missing.kind === "unread-mail" ? (missing.names ?? []) : []));
  const shown: Message[] = [];
  for (const name of names) {
    const message = await tx.messages.get(name);
    if (message !== undefined) shown.push(message);
  }
  if (shown.length === 0) return undefined;
  const list = shown.map(
    (message) => `${message.id} of ${message.fromAgent}, ${exactLine(JSON.stringify(message.subject))}`,
  );
  return {
    kind: "unread-mail",
    message: `your last ov done was refused because of mail, which you may not have acted on: ${list.join("; ")}`,
    fix: `read it again: ${shown.map((message) => `ov mail read ${shellWord(message.id)}`).join("; ")}; act on it, then finish`,
    names,
  };
}

/**
 * Mail that the supervisor has written into the input of the turn reaches the agent by itself, so it is not shown
 * twice.
 */
const underWay = (names: readonly string[]): Missing => ({
  kind: "unread-mail",
  message: `mail came while you worked: ${names.length === 1 ? "1 message" : `${names.length} messages`}, on the way to you`,
  fix: "you are shown it next; act on it, then finish again",
  names,
});

/** Messages that an earlier refusal named. If they are still not confirmed, the agent's program did not show them. */
async function namedBefore(tx: Tx, { id }: Agent): Promise<ReadonlySet<string>> {
  const checks = await tx.checks.completionsOf(id);
  const missing = checks.flatMap(({ problem }) => problem).filter(({ kind }) => kind === "unread-mail");
  return new Set(missing.flatMap(({ names = [] }) => names));
}

function fitting(unread: readonly Mail[]): readonly Mail[] {
  let characters = 0;
  const end = unread.findIndex(({ message }, index) => {
    characters += message.body.length + (message.payload?.length ?? 0);
    return index > 0 && (index >= mostMessages || characters > mostCharacters);
  });
  return end < 0 ? unread : unread.slice(0, end);
}
