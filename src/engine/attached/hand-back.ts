import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import { isTerminal, terminalCandidates } from "../../domain/agent/capability.ts";
import { attachLease, attachPrefix } from "../../domain/agent/wait.ts";
import { nextDelivery } from "../../domain/mail/delivery.ts";
import type { Lease } from "../../domain/process/process.ts";
import type { TerminalLauncher, TurnFiles } from "../../ports/agent-process.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Instructions } from "../../ports/instructions.ts";
import type { Processes } from "../../ports/process.ts";
import type { Runtime, ToolServer } from "../../ports/runtime.ts";
import type { Sandbox } from "../../ports/sandbox.ts";
import type { Settings } from "../../ports/settings.ts";
import type { Store, Tx } from "../../ports/store.ts";
import type { WorktreeFacts, Worktrees } from "../../ports/worktrees.ts";
import { endAgent } from "../../usecases/agents/end-agent.ts";
import { goOn } from "../../usecases/agents/pause.ts";
import { releaseIfDue } from "../../usecases/agents/release-agent.ts";
import { retireIfOver } from "../../usecases/coordinators/retire.ts";
import { record } from "../../usecases/events/record.ts";
import { markFor } from "../../usecases/identity/identify.ts";
import { completionReceipt } from "../../usecases/merge/branch-owner.ts";
import { askToLand } from "../../usecases/merge/queue/ask-to-land.ts";
import { keepGoing } from "../../usecases/runs/keep-going.ts";
import type { Context } from "../../usecases/usecase.ts";
import { conserve } from "../supervisor/conserve.ts";

/** What giving an agent back needs. */
export interface HandBackPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly processes: Processes;
  readonly worktrees: Worktrees;
  readonly rules: Settings;
}

/** What opening an agent at a terminal needs. */
export interface AttachedPorts extends HandBackPorts {
  readonly files: Pick<TurnFiles, "readEnvironment" | "scratch" | "mergeRules">;
  readonly instructions: Instructions;
  readonly terminal: TerminalLauncher;
  runtime(agent: Pick<Agent, "runtime" | "runtimeSpec">): Runtime | undefined;
  /** PATH with `ov` first, HOME, the project, and what a terminal needs. */
  readonly baseEnvironment: Readonly<Record<string, string>>;
  readonly tools: ToolServer;
  readonly sandbox: Sandbox;
}

const graceMs = 2_000;

/** `left`: the person closed it. `gone`: the process that held the agent has ended. */
export type HandBackReason = "left" | "gone";

/**
 * Gives an agent back: what still runs at its terminal is ended, its work kept, its token revoked, the pause lifted;
 * mail that came meanwhile wakes it. Safe to repeat, and does nothing when another session has taken the agent since.
 */
export async function handBack(ports: HandBackPorts, lease: Lease, reason: HandBackReason): Promise<void> {
  const agent = await ports.store.read((tx) => heldAgent(tx, lease));
  if (agent === undefined) return;
  const live = await ports.store.read((tx) => openAt(tx, agent));
  const mark = markFor(ports.ids, agent, null);
  for (const process of live) await ports.processes.endTree(process, graceMs, { mark });
  const worktree = await conserve(ports, agent, "turn");
  const now = ports.clock.now();
  await ports.store.transaction((tx) =>
    settle(tx, { ids: ports.ids, now, settings: ports.rules }, { lease, reason, agent, worktree }),
  );
}

/** The incarnation that was taken; the name may have gone on meanwhile. */
async function heldAgent(tx: Tx, { name, processId }: Lease): Promise<Agent | undefined> {
  const holder = processId === null ? undefined : await tx.processes.get(processId);
  const held = holder?.agentId == null ? undefined : await tx.agents.get(holder.agentId);
  return held ?? tx.agents.byName(name.slice(attachPrefix.length));
}

/** The processes a person opened for it. */
const openAt = async (tx: Tx, agent: Agent) =>
  (await tx.processes.liveForAgent(agent.id)).filter(({ role, turnId }) => role === "agent" && turnId === null);

type HandBackContext = Pick<Context, "ids" | "now" | "settings">;

interface Given {
  readonly lease: Lease;
  readonly reason: HandBackReason;
  readonly agent: Agent;
  readonly worktree: WorktreeFacts | undefined;
}

async function settle(tx: Tx, context: HandBackContext, { lease, reason, agent, worktree }: Given): Promise<void> {
  const { now } = context;
  const name = attachLease(agent.name);
  if ((await tx.leases.get(name))?.fence !== lease.fence) return;
  const opened = await openAt(tx, agent);
  for (const process of opened) await tx.processes.end(process.id, reason, now);
  if (lease.processId !== null) await tx.processes.end(lease.processId, reason, now);
  await tx.tokens.revokeWithoutTurn(agent.id, now);
  await tx.waits.remove(agent.name, "operator", name);
  await tx.leases.drop(name, lease.fence);
  if (worktree?.exists === true) {
    const { head, ahead, dirty } = worktree;
    await tx.agents.inspected(agent.id, { headCommit: head, ahead, dirty });
  }
  if (reason === "left") await acknowledge(tx, agent, now);
  const current = await tx.agents.get(agent.id);
  const since = Math.min(...opened.map(({ startedAt }) => startedAt));
  const finished =
    current !== undefined &&
    ((await endIfFinished(tx, context, current, since)) || (await endIfUntouched(tx, context, current, worktree)));
  const rest = current === undefined || finished ? undefined : await retireIfOver(tx, context, current);
  const goesOn =
    rest !== undefined && !hasEnded(rest) && (await goOn(tx, context, rest, "the person who attached has left"));
  await record(tx, now, { source: "operator", agent, type: "detach", data: { reason, finished, goesOn } });
  await keepGoing(tx, context, agent.runId);
}

/** Mail that the person's session was shown has been read: it must not wake the agent. */
async function acknowledge(tx: Tx, agent: Agent, now: number): Promise<void> {
  for (const { delivery } of await tx.deliveries.inState(agent.name, ["delivered"])) {
    if (delivery.turnId !== null || delivery.claimedBy === null) continue;
    const acked = nextDelivery(delivery, { kind: "ack", by: delivery.claimedBy }, now);
    if (acked.ok) await tx.deliveries.update(acked.value);
  }
}

/** Ends an agent that declared its work finished at the terminal: no turn settles by that message. */
async function endIfFinished(tx: Tx, context: HandBackContext, agent: Agent, since: number): Promise<boolean> {
  if (hasEnded(agent)) return false;
  const candidates = terminalCandidates(agent.capability);
  const sent = await tx.messages.list({ from: agent.name });
  const last = sent.find(
    ({ fromAgentId, turnId, type, address, createdAt }) =>
      fromAgentId === agent.id &&
      turnId === null &&
      createdAt >= since &&
      candidates.includes(type) &&
      isTerminal({ capability: agent.capability, type, toParent: address === agent.parentName }),
  );
  if (last === undefined) return false;
  const end = { state: "completed", outcome: "done", actor: "supervisor", reason: "finished by hand" } as const;
  await endAgent(tx, context, agent, { ...end, death: null, turnId: null });
  const ended = await tx.agents.get(agent.id);
  if (ended === undefined) return true;
  await askToLand(tx, context, ended);
  await releaseIfDue(tx, context, ended);
  return true;
}

/**
 * A person who only looked at handed-in work has taken nothing back: the agent is as it was, and needs no turn in which it
 * reports the same again.
 */
async function endIfUntouched(
  tx: Tx,
  context: HandBackContext,
  agent: Agent,
  worktree: WorktreeFacts | undefined,
): Promise<boolean> {
  if (hasEnded(agent) || agent.stopRequestedBy !== null || agent.branch === null || worktree?.exists !== true)
    return false;
  if ((await tx.turns.listFor(agent.id)).length > 0 || (await tx.deliveries.hasWaking(agent.name))) return false;
  const others = await tx.agents.list({ runId: agent.runId, branch: agent.branch });
  const before = others.find(({ name, generation }) => name === agent.name && generation === agent.generation - 1);
  const isSame = before?.headCommit === worktree.head && before.dirty === worktree.dirty;
  if (before === undefined || before.outcome !== "done" || !isSame) return false;
  const end = {
    state: "completed",
    outcome: "done",
    actor: "supervisor",
    reason: "nothing changed at the terminal",
  } as const;
  await endAgent(tx, context, agent, { ...end, death: null, turnId: null });
  const task = agent.taskId === null ? undefined : await tx.tasks.get(agent.taskId);
  const isProved = (await completionReceipt(tx, before, before.headCommit ?? "")) !== undefined;
  if (isProved && task?.status === "in_progress" && task.claimedBy === agent.name) {
    await tx.tasks.update({ ...task, status: "in_review", updatedAt: context.now });
  }
  const ended = await tx.agents.get(agent.id);
  if (ended !== undefined) await askToLand(tx, context, ended);
  return true;
}

/** Gives back the agents whose person is gone: a closed terminal, a killed command, a reboot. True when one is free now. */
export async function freeLostAttachments(ports: HandBackPorts): Promise<boolean> {
  const lost = await lostAttachments(ports);
  for (const lease of lost) await handBack(ports, lease, "gone");
  return lost.length > 0 && (await lostAttachments(ports)).length < lost.length;
}

/** Leases of people whose recorded process is gone. Nothing but that ends one. */
export async function lostAttachments({ store, processes }: HandBackPorts): Promise<readonly Lease[]> {
  return store.read(async (tx) => {
    const lost: Lease[] = [];
    for (const lease of await tx.leases.heldBelow(attachPrefix)) {
      const holder = lease.processId === null ? undefined : await tx.processes.get(lease.processId);
      if (holder === undefined || processes.check(holder) === "gone") lost.push(lease);
    }
    return lost;
  });
}
