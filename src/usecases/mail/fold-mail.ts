import { hasEnded, newestPerName, teamOf } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import { nextDelivery } from "../../domain/mail/delivery.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import type { Message } from "../../domain/mail/types.ts";
import { isUntaken } from "../../domain/task/dependency.ts";
import type { Mail } from "../../ports/store/mail.ts";
import type { Tx } from "../../ports/store.ts";
import { isAnyAtWorkBelow } from "../agents/turns-ahead.ts";
import { withoutForwarding } from "./hand-on.ts";
import { fromEngine } from "./post.ts";

/**
 * Takes out of an agent's queue what the next turn need not bring, at the moment that turn is made: copies of a message
 * that is also there, older news of the engine about the same branch, and news of the engine that is no longer true.
 * Nothing is lost: the delivery is cancelled with the reason, which `ov mail why` tells, and the message stays readable.
 */
export async function foldMail(tx: Tx, queued: readonly Mail[], now: number): Promise<readonly Mail[]> {
  const kept: Mail[] = [];
  const newest = newestByTopic(queued);
  for (const mail of queued) {
    const { message } = mail;
    const newer = newest.get(topicOf(message) ?? "");
    const reason =
      newer !== undefined && newer.seq !== message.seq && !bringsTasks(message)
        ? `folded into ${newer.id}, which has the newest state`
        : await staleness(tx, message);
    if (reason === null || !(await cancel(tx, mail, reason, now))) kept.push(await withoutSpentWake(tx, mail, now));
  }
  return kept;
}

/** Of two messages about one landing, the one that brings tasks says more. */
function newestByTopic(queued: readonly Mail[]): ReadonlyMap<string, Message> {
  const newest = new Map<string, Message>();
  for (const { message } of queued) {
    const topic = topicOf(message);
    if (topic === null) continue;
    const known = newest.get(topic);
    if (known === undefined || (isNewer(message, known) && !saysLess(message, known))) newest.set(topic, message);
  }
  return newest;
}

const isNewer = (message: Message, known: Message): boolean => message.seq > known.seq;

const saysLess = (message: Message, known: Message): boolean =>
  bringsTasks(known) && !bringsTasks(message) && commitIn(message) === commitIn(known);

const commitIn = ({ payload }: Message): unknown => payloadFields(payload).commit;

const readyTasksIn = ({ payload }: Message): readonly string[] => {
  const { readyTasks } = payloadFields(payload);
  return Array.isArray(readyTasks) ? readyTasks.map(String) : [];
};

const bringsTasks = (message: Message): boolean => readyTasksIn(message).length > 0;

/**
 * News of the engine that asks nothing any more stays, and rides along with the next turn: a landing that brought tasks
 * which were all started or closed since, or that found nobody at work below its reader, who has set somebody to work since.
 */
async function withoutSpentWake(tx: Tx, mail: Mail, now: number): Promise<Mail> {
  const { message, delivery } = mail;
  if (!delivery.wake || message.fromAgent !== fromEngine.from || message.type !== "merged") return mail;
  const asks = bringsTasks(message)
    ? (await takenOf(tx, message)).length < readyTasksIn(message).length
    : !(await isAnyAtWorkBelow(tx, delivery.toAgent));
  if (asks) return mail;
  const quiet = { ...delivery, wake: false, wakeReason: null, updatedAt: now };
  await tx.deliveries.update(quiet);
  return { message, delivery: quiet };
}

/** What came of a branch: the newest of these says all that the older ones said. */
const branchNews: readonly string[] = ["merged", "merge_failed"];

/**
 * Messages of one topic are one piece of news. Only what the engine says about one branch, and copies of one message with
 * the same words, share a topic: what agents and people write is theirs, one by one.
 */
function topicOf(message: Message): string | null {
  const { fromAgent, type, subject, replyTo } = message;
  const { branch } = payloadFields(message.payload);
  if (fromAgent === fromEngine.from && branchNews.includes(type) && typeof branch === "string") {
    return JSON.stringify(["branch", branch]);
  }
  const original = withoutForwarding(message.body);
  if (original === message.body || replyTo === null || message.expectsReply) return null;
  return JSON.stringify(["copy", fromAgent, type, subject, original, message.payload]);
}

/** Why this news of the engine is no longer true; null where it is, or where somebody else wrote it. */
async function staleness(tx: Tx, { fromAgent, payload, runId }: Message): Promise<string | null> {
  if (fromAgent !== fromEngine.from || runId === null) return null;
  const { phase, workers, finished } = payloadFields(payload);
  const isPhase = typeof phase === "string" && Array.isArray(workers);
  if (!isPhase && finished !== true) return null;
  const run = await tx.runs.get(runId);
  if (run === undefined || run.status !== "active") return "stale: the run had ended before it was read";
  const everybody = newestPerName(await tx.agents.list({ runId }));
  // Who is meant must be the same as where the notice is made, or it would be withdrawn and made again without end.
  const meant = isPhase && run.coordinatorName !== null ? teamOf(run.coordinatorName, everybody) : everybody;
  const atWork = meant.filter((agent) => !isIn("persistent", agent.capability) && !hasEnded(agent));
  if (atWork.length === 0) return null;
  return `stale: ${atWork.map(({ name }) => name).join(", ")} worked again before it was read`;
}

async function cancel(tx: Tx, { delivery }: Mail, reason: string, now: number): Promise<boolean> {
  const cancelled = nextDelivery(delivery, { kind: "cancel", reason }, now);
  if (cancelled.ok) await tx.deliveries.update(cancelled.value);
  return cancelled.ok;
}

/** Which of the tasks that a message calls ready are no longer so, in one line; undefined when all of them are. */
export async function takenSince(tx: Tx, message: Message): Promise<string | undefined> {
  if (message.fromAgent !== fromEngine.from) return undefined;
  const taken = await takenOf(tx, message);
  return taken.length === 0 ? undefined : `no longer to be started: ${taken.join(", ")}`;
}

async function takenOf(tx: Tx, message: Message): Promise<readonly string[]> {
  const taken: string[] = [];
  for (const id of readyTasksIn(message)) {
    const task = await tx.tasks.get(id);
    if (task === undefined || !isUntaken(task)) taken.push(id);
  }
  return taken;
}
