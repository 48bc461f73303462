import type { Agent } from "../../domain/agent/agent.ts";
import { isIn, isTerminal, terminalCandidates } from "../../domain/agent/capability.ts";
import { type DeliveryEvent, nextDelivery } from "../../domain/mail/delivery.ts";
import type { Message } from "../../domain/mail/types.ts";
import { type Settlement, settle, type TurnEnd } from "../../domain/turn/settle.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { ProcessExit } from "../../ports/agent-process.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Store, Tx } from "../../ports/store.ts";
import { changeState } from "../../usecases/agents/change-state.ts";
import { post } from "../../usecases/mail/post.ts";
import { reportDead } from "../../usecases/mail/report-dead.ts";
import { turnLease } from "./begin.ts";
import type { SupervisorLimits } from "./ports.ts";

export interface SettlePorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits: Pick<SupervisorLimits, "maxReminders" | "maxAttempts">;
}

/** What was observed of the agent's process. */
export interface Ending {
  readonly end: TurnEnd;
  readonly exit: ProcessExit;
  readonly resultText: string | null;
}

/** Ends a turn: what became of it, of its input, of its agent and of whoever must know, in one transaction. */
export async function settleTurn(
  ports: SettlePorts,
  turnId: string,
  fence: number,
  ending: Ending,
): Promise<Settlement | undefined> {
  const now = ports.clock.now();
  return ports.store.transaction(async (tx) => {
    const turn = await tx.turns.get(turnId);
    if (turn === undefined || turn.status !== "running" || turn.fence !== fence) return undefined;
    const agent = await tx.agents.get(turn.agentId);
    if (agent === undefined) return undefined;
    const terminal = await terminalMail(tx, turn, agent);
    const waits = await tx.waits.of(agent.name);
    const settlement = settle({
      end: ending.end,
      stopRequested: agent.stopRequestedBy !== null,
      terminalMail: terminal !== undefined,
      outstanding: waits.length > 0 || (await tx.deliveries.hasWaking(agent.name)),
      persistent: isIn("persistent", agent.capability),
      reminders: agent.reminders,
      maxReminders: ports.limits.maxReminders,
      attempt: turn.attempt,
      maxAttempts: ports.limits.maxAttempts,
      now,
    });
    await tx.turns.end(turnId, fence, {
      status: settlement.turn,
      clean: ending.end.kind === "clean",
      resultText: ending.resultText,
      exitCode: ending.exit.code,
      exitSignal: ending.exit.signal,
      terminalMessageSeq: terminal?.seq ?? null,
      error: ending.end.kind === "failed" ? ending.end.reason : ending.end.kind === "clean" ? null : ending.end.kind,
      endedAt: now,
    });
    await settleInput(tx, ports, turn, settlement, now);
    const reason = settlement.death ?? ending.end.kind;
    const outcome = settlement.outcome === null ? {} : { outcome: settlement.outcome };
    await changeState(tx, agent, { to: settlement.state, actor: "supervisor", reason, ...outcome }, now);
    await queueNext(tx, ports, turn, agent, settlement, now);
    if (settlement.outcome !== null) await endOfAgent(tx, ports, agent, turn, settlement, now);
    await tx.tokens.revokeForTurn(turnId, now);
    await tx.processes.endForTurn(turnId, ending.end.kind, now);
    await tx.leases.drop(turnLease(turnId), fence);
    await tx.events.append([
      {
        runId: agent.runId,
        agentName: agent.name,
        agentId: agent.id,
        turnId,
        source: "supervisor",
        type: "turn_end",
        level: settlement.turn === "settled" ? "info" : "warn",
        data: { end: ending.end, state: settlement.state, outcome: settlement.outcome, exit: ending.exit },
        createdAt: now,
      },
    ]);
    return settlement;
  });
}

/** The message by which the agent declared its work finished while this turn was running. */
async function terminalMail(tx: Tx, turn: Turn, agent: Agent): Promise<Message | undefined> {
  const types = terminalCandidates(agent.capability);
  const sent = await tx.messages.ofTurn(turn.id, types);
  return sent.find(({ type, address }) =>
    isTerminal({ capability: agent.capability, type, toParent: address === agent.parentName }),
  );
}

async function settleInput(
  tx: Tx,
  { ids }: SettlePorts,
  turn: Turn,
  settlement: Settlement,
  now: number,
): Promise<void> {
  for (const { message, delivery } of await tx.deliveries.ofTurn(turn.id)) {
    const next = nextDelivery(delivery, inputEvent(settlement, turn), now);
    if (!next.ok) continue;
    await tx.deliveries.update(next.value);
    if (next.value.state === "dead") await reportDead(tx, { ids, now }, { message, delivery: next.value });
  }
}

function inputEvent(settlement: Settlement, turn: Turn): DeliveryEvent {
  if (settlement.input === "ack") return { kind: "ack", by: turn.id };
  if (settlement.input === "dead") return { kind: "kill", error: settlement.death ?? "its turns failed" };
  return { kind: "release", by: turn.id };
}

async function queueNext(
  tx: Tx,
  { ids }: SettlePorts,
  turn: Turn,
  agent: Agent,
  settlement: Settlement,
  now: number,
): Promise<void> {
  const queue = { id: ids.next("turn"), agentId: agent.id, agentName: agent.name, runId: agent.runId, now };
  const { next } = settlement;
  if (next.kind === "retry") {
    const attempt = next.countsAttempt ? turn.attempt + 1 : turn.attempt;
    // Mail that came meanwhile queued a turn of its own; the retry carries that mail too, and keeps its own time.
    await tx.turns.cancelQueued(agent.id, now);
    await tx.turns.queue({ ...queue, trigger: "retry", attempt, notBefore: next.notBefore });
  }
  if (next.kind === "reminder") {
    await tx.agents.setReminders(agent.id, agent.reminders + 1);
    await tx.turns.queue({ ...queue, trigger: "reminder", attempt: 1, notBefore: 0 });
  }
}

async function endOfAgent(
  tx: Tx,
  ports: SettlePorts,
  agent: Agent,
  turn: Turn,
  settlement: Settlement,
  now: number,
): Promise<void> {
  await tx.turns.cancelQueued(agent.id, now);
  await tx.waits.resolve("child", agent.name);
  if (settlement.death === null || !(await tx.notices.once(agent.id, "worker_died", "", null))) return;
  const parent = await tx.agents.byName(agent.parentName);
  const capability = `${agent.capability}${agent.taskId === null ? "" : ` on ${agent.taskId}`}`;
  await post(
    tx,
    { ids: ports.ids, now },
    {
      from: agent.name,
      fromAgentId: null,
      byEngine: true,
      runId: agent.runId,
      verified: true,
      address: agent.parentName,
      recipients: [{ name: agent.parentName, wake: parent !== undefined }],
      subject: `[ENGINE] worker_died: ${agent.name}`,
      body: `${agent.name} (${capability}) ended without finishing: ${settlement.death}. Its worktree and branch are kept.`,
      type: "worker_died",
      priority: "high",
      payload: JSON.stringify({
        agentName: agent.name,
        capability: agent.capability,
        taskId: agent.taskId ?? "",
        reason: settlement.death,
        lastActivity: new Date(agent.lastActivityAt).toISOString(),
        terminatedBy: settlement.outcome === "stopped" ? "operator" : "runner",
        outcome: settlement.outcome,
        turnId: turn.id,
        generation: agent.generation,
        worktree: agent.worktreePath,
        branch: agent.branch,
      }),
    },
  );
}
