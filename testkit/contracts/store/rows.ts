import { type Agent, freshAgent } from "../../../src/domain/agent/agent.ts";
import { type Delivery, type Message, priorityRank } from "../../../src/domain/mail/types.ts";
import type { ProcessRecord } from "../../../src/domain/process/process.ts";
import { type Criterion, unproved } from "../../../src/domain/run/checklist.ts";
import type { Run } from "../../../src/domain/run/run.ts";
import type { Group, Task } from "../../../src/domain/task/task.ts";
import type { QueueTurn } from "../../../src/ports/store/turns.ts";
import type { Store } from "../../../src/ports/store.ts";

/** A moment that does not fit in 32 bits, as real times do not. */
export const noon = 1_800_000_000_000;

export const aRun = (id: string, change: Partial<Run> = {}): Run => ({
  id,
  objective: "ship it",
  targetBranch: "main",
  landingBranch: null,
  coordinatorName: null,
  checklist: false,
  startCommit: null,
  status: "active",
  startedAt: noon,
  completedAt: null,
  ...change,
});

/** An agent of run `r1`, seated unless the change says otherwise. */
export const anAgent = (name: string, change: Partial<Agent> = {}): Agent =>
  freshAgent({
    id: `${name}-${change.generation ?? 1}`,
    name,
    generation: 1,
    capability: "builder",
    runtime: "scripted",
    parentName: "operator",
    depth: 0,
    runId: "r1",
    taskId: null,
    worktreePath: `/w/${name}`,
    state: "between_turns",
    startedAt: noon,
    ...change,
  });

export const aTurn = (
  id: string,
  agent: Agent,
  { trigger = "mail", ...change }: Partial<Omit<QueueTurn, "reason">> = {},
): QueueTurn => {
  const own = { id, agentId: agent.id, agentName: agent.name, runId: agent.runId };
  const turn = { ...own, attempt: 1, notBefore: noon, now: noon, ...change };
  if (trigger === "mail" || trigger === "spawn") return { ...turn, trigger };
  return { ...turn, trigger, reason: "a test asked for it" };
};

export const aMessage = (id: string, change: Partial<Message> = {}): Omit<Message, "seq"> => ({
  id,
  runId: "r1",
  fromAgent: "lead",
  fromAgentId: null,
  turnId: null,
  address: "b1",
  subject: "subject",
  body: "body",
  type: "status",
  priority: "normal",
  threadId: id,
  replyTo: null,
  hop: 0,
  payload: null,
  dedupeKey: null,
  expectsReply: false,
  verified: true,
  blobPath: null,
  createdAt: noon,
  ...change,
});

export const aDelivery = (messageSeq: number, toAgent: string, change: Partial<Delivery> = {}): Delivery => ({
  messageSeq,
  toAgent,
  state: "queued",
  priorityRank: priorityRank.normal,
  wake: false,
  wakeReason: null,
  attempts: 0,
  notBefore: 0,
  claimedBy: null,
  claimExpires: null,
  turnId: null,
  channel: null,
  redelivered: false,
  deliveredAt: null,
  ackedAt: null,
  lastError: null,
  updatedAt: noon,
  ...change,
});

export const aProcess = (id: string, change: Partial<ProcessRecord> = {}): ProcessRecord => ({
  id,
  role: "supervisor",
  agentId: null,
  turnId: null,
  pid: 4_000_000,
  startToken: "123456",
  bootId: "boot",
  startedAt: noon,
  endedAt: null,
  endReason: null,
  ...change,
});

export const aCriterion = (number: number, facts: Partial<Criterion> = {}): Criterion => ({
  runId: "r1",
  number,
  text: `criterion ${number}`,
  addedBy: "coordinator",
  addedAt: noon,
  waivedBy: null,
  waivedAt: null,
  waiveReason: null,
  ...unproved,
  ...facts,
});

export const aTask = (id: string, change: Partial<Task> = {}): Task => ({
  id,
  title: `do ${id}`,
  status: "open",
  type: "task",
  priority: 2,
  description: null,
  assignee: null,
  labels: [],
  files: [],
  shares: [],
  parentId: null,
  runId: null,
  claimedBy: null,
  claimExpires: null,
  mergeState: "none",
  closeReason: null,
  createdAt: noon,
  updatedAt: noon,
  closedAt: null,
  ...change,
});

export const aGroup = (id: string, change: Partial<Group> = {}): Group => ({
  id,
  name: `group ${id}`,
  status: "active",
  runId: null,
  owner: "operator",
  createdAt: noon,
  completedAt: null,
  ...change,
});

/** Stores run `r1` and these agents, which is what most rows refer to. */
export async function seed(store: Store, ...agents: readonly Agent[]): Promise<void> {
  await store.transaction(async (tx) => {
    await tx.runs.insert(aRun("r1"));
    for (const agent of agents) await tx.agents.reserve(agent);
  });
}

/** Sends one message to each of the names and returns its number. */
export async function send(store: Store, message: Omit<Message, "seq">, to: readonly string[]): Promise<number> {
  return store.transaction(async (tx) => {
    const seq = await tx.messages.insert(message);
    const rank = priorityRank[message.priority];
    await tx.deliveries.insert(to.map((name) => aDelivery(seq, name, { priorityRank: rank })));
    return seq;
  });
}
