import { type Agent, hasEnded, newestPerName, teamOf } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import { statusOf } from "../../domain/agent/status.ts";
import { nextDelivery } from "../../domain/mail/delivery.ts";
import { withoutForwarding } from "../../domain/mail/forwarding.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import type { Message } from "../../domain/mail/types.ts";
import type { MergeEntry } from "../../domain/merge/entry.ts";
import { isDropped } from "../../domain/task/change.ts";
import { isUntaken } from "../../domain/task/dependency.ts";
import type { Mail } from "../../ports/store/mail.ts";
import type { Tx } from "../../ports/store.ts";
import { landedNowhere } from "../agents/held-agents.ts";
import { isAnyAtWorkBelow } from "../agents/turns-ahead.ts";
import { ownerOfBranch } from "../merge/branch-owner.ts";
import { isGivenUp } from "../merge/radar.ts";
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

/** The newest message of each topic. Of two messages about one landing, the one that names tasks counts. */
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
 * which were all started or closed since, or that found no agent at work below its reader, which has started one since.
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
 * Messages of one topic are one piece of news. Only what the engine says about one branch, what one agent hands over, and
 * copies of one message with the same words, share a topic: what agents and people write is theirs, one by one.
 */
function topicOf(message: Message): string | null {
  const { fromAgent, type, subject, replyTo } = message;
  const { branch } = payloadFields(message.payload);
  if (fromAgent === fromEngine.from && branchNews.includes(type) && typeof branch === "string") {
    return JSON.stringify(["branch", branch]);
  }
  // Handing a branch over once more changes nothing but which commit of it is meant.
  if (type === "merge_ready" && typeof branch === "string") return JSON.stringify(["handed over", fromAgent, branch]);
  const original = withoutForwarding(message.body);
  if (original === message.body || replyTo === null || message.expectsReply) return null;
  return JSON.stringify(["copy", fromAgent, type, subject, original, message.payload]);
}

/** Why this message of the engine is out of date; null if it is true still, or from another sender. */
async function staleness(tx: Tx, { fromAgent, payload, runId, createdAt }: Message): Promise<string | null> {
  if (fromAgent !== fromEngine.from || runId === null) return null;
  const { phase, workers, finished, branches, agents } = payloadFields(payload);
  if (Array.isArray(branches) && Array.isArray(agents))
    return collisionOver(tx, { agents, branches, toldAt: createdAt });
  const isPhase = typeof phase === "string" && Array.isArray(workers);
  if (!isPhase && finished !== true) return null;
  const run = await tx.runs.get(runId);
  if (run === undefined || run.status !== "active") return "stale: the run had ended before it was read";
  const everybody = newestPerName(await tx.agents.list({ runId }));
  // The agents meant here must be the same as where the notice is made, or it would be withdrawn and made again without
  // end.
  const meant = isPhase && run.coordinatorName !== null ? teamOf(run.coordinatorName, everybody) : everybody;
  const atWork = meant.filter((agent) => !isIn("persistent", agent.capability) && !hasEnded(agent));
  if (atWork.length === 0) return null;
  return `stale: ${atWork.map(({ name }) => name).join(", ")} worked again before it was read`;
}

interface CollisionNews {
  readonly agents: readonly unknown[];
  readonly branches: readonly unknown[];
  readonly toldAt: number;
}

/**
 * Two branches that collided do so no longer once both have landed, or the work of one agent was given up. Once one of
 * them was tried and did not land, that news says more, and who acts.
 */
async function collisionOver(tx: Tx, { agents, branches, toldAt }: CollisionNews): Promise<string | null> {
  const owners: { readonly agent: Agent | undefined; readonly last: MergeEntry | undefined }[] = [];
  for (const [at, name] of agents.entries()) {
    const branch = branches[at];
    if (typeof name !== "string" || typeof branch !== "string") continue;
    const [agent, entries] = [await tx.agents.byName(name), await tx.merges.list({ branch })];
    owners.push({ agent, last: entries.at(-1) });
  }
  if (owners.some(({ last }) => last?.status === "conflict")) {
    return "stale: one of them was tried and did not land before it was read, and that was told";
  }
  // An earlier landing had nothing of what collides where its agent has committed more since.
  const hasLanded = ({ agent, last }: (typeof owners)[number]): boolean =>
    last?.status === "merged" && (last.updatedAt >= toldAt || last.headCommit === agent?.headCommit);
  if (owners.every(hasLanded)) return "stale: what collided has landed before it was read";
  for (const { agent } of owners) {
    if (agent !== undefined && (await isGivenUp(tx, agent)) && (await landedNowhere(tx, agent))) {
      return `stale: the work of ${agent.name} was given up before it was read`;
    }
  }
  return null;
}

async function cancel(tx: Tx, { delivery }: Mail, reason: string, now: number): Promise<boolean> {
  const cancelled = nextDelivery(delivery, { kind: "cancel", reason }, now);
  if (cancelled.ok) await tx.deliveries.update(cancelled.value);
  return cancelled.ok;
}

/** One line about changes since a message was sent, to its agent, tasks and branch; undefined without any. */
export async function changedSince(tx: Tx, message: Message): Promise<string | undefined> {
  if (message.type === "merge_ready") return landingSince(tx, message);
  if (message.type === "worker_died") return backSince(tx, message);
  if (message.type === "worker_done") return mendingSince(tx, message);
  if (message.fromAgent !== fromEngine.from) return undefined;
  if (message.type === "merge_failed") return mendedSince(tx, message);
  const taken = await takenOf(tx, message);
  return taken.length === 0 ? undefined : `no longer to be started: ${taken.join(", ")}`;
}

/** The queue takes an announced branch by itself. Its reader gets the announcement with its next turn, often later. */
async function landingSince(tx: Tx, message: Message): Promise<string | undefined> {
  const entry = await newestMerge(tx, message);
  if (entry === undefined || entry.updatedAt < message.createdAt) return undefined;
  if (entry.status === "merged") return `it has landed (merge ${entry.id})`;
  return entry.status === "failed" || entry.status === "conflict" ? `it did not land (merge ${entry.id})` : undefined;
}

/** What became of an agent that died, and of its task. */
async function backSince(tx: Tx, { payload }: Message): Promise<string | undefined> {
  const { agentName, generation, taskId } = payloadFields(payload);
  const newest = await tx.agents.byName(String(agentName));
  if (newest !== undefined && newest.generation > Number(generation)) {
    return `${newest.name} was started again and is ${hasEnded(newest) ? statusOf(newest).words : "at work"}`;
  }
  const task = typeof taskId === "string" ? await tx.tasks.get(taskId) : undefined;
  if (task === undefined) return undefined;
  if (isDropped(task)) return `task ${task.id} was dropped`;
  if (task.status === "closed") return `task ${task.id} is closed`;
  const isOfAnother = task.claimedBy !== null && task.claimedBy !== agentName;
  return isOfAnother ? `${task.claimedBy} has task ${task.id} now` : undefined;
}

/** What became of the builder that a review has started again. */
async function mendingSince(tx: Tx, { payload, createdAt }: Message): Promise<string | undefined> {
  const { verdict, reviewedBranch } = payloadFields(payload);
  if (typeof reviewedBranch !== "string" || (verdict !== "fail" && verdict !== "needs_changes")) return undefined;
  const owner = await ownerOfBranch(tx, reviewedBranch);
  const task = owner?.taskId == null ? undefined : await tx.tasks.get(owner.taskId);
  if (task !== undefined && isDropped(task)) return `task ${task.id} was dropped`;
  if (owner === undefined || !hasEnded(owner) || (owner.endedAt ?? 0) < createdAt) return undefined;
  return owner.outcome === "done"
    ? `${owner.name} has finished again`
    : `${owner.name} has ended: ${statusOf(owner).words}`;
}

async function mendedSince(tx: Tx, message: Message): Promise<string | undefined> {
  const entry = await newestMerge(tx, message);
  const { queueId, branch } = payloadFields(message.payload);
  if (entry === undefined || typeof queueId !== "number") return undefined;
  if (entry.id > queueId) {
    return `it was handed over again (merge ${entry.id})${entry.status === "merged" ? " and has landed" : ""}`;
  }
  const owner = await ownerOfBranch(tx, String(branch));
  if (owner === undefined) return undefined;
  const reports = await tx.receipts.about(`${owner.name}#${owner.generation}`);
  const isMended = reports.some(({ kind, createdAt }) => kind === "completion" && createdAt >= message.createdAt);
  return isMended ? `${owner.name} has finished again; the branch is not handed over yet` : undefined;
}

async function newestMerge(tx: Tx, { payload }: Message): Promise<MergeEntry | undefined> {
  const { branch } = payloadFields(payload);
  return typeof branch === "string" ? (await tx.merges.list({ branch })).at(-1) : undefined;
}

async function takenOf(tx: Tx, message: Message): Promise<readonly string[]> {
  const taken: string[] = [];
  for (const id of readyTasksIn(message)) {
    const task = await tx.tasks.get(id);
    if (task === undefined || !isUntaken(task)) taken.push(id);
  }
  return taken;
}
