import type { Agent, AgentState } from "../../domain/agent/agent.ts";
import { watchdog } from "../../domain/agent/transition.ts";
import type { Assessment, HealthAction } from "../../domain/health/assess.ts";
import type { Tx } from "../../ports/store.ts";
import { changeState } from "../../usecases/agents/change-state.ts";
import { endAgent } from "../../usecases/agents/end-agent.ts";
import { notice, record } from "../../usecases/events/record.ts";
import { fromEngine, post } from "../../usecases/mail/post.ts";
import type { Observed } from "./observe.ts";
import type { WatchdogPorts } from "./ports.ts";

const actor = watchdog;

/** Does what the assessment calls for, in one transaction that only writes: processes are for the engine to end. */
export async function act(tx: Tx, ports: WatchdogPorts, observed: Observed, assessment: Assessment): Promise<void> {
  const { action } = assessment;
  switch (action.kind) {
    case "none":
    case "investigate":
      return;
    case "recover":
      return recover(tx, ports, observed);
    case "report":
      return report(tx, ports, observed, action);
    case "escalate":
      return escalate(tx, ports, observed, assessment.level, action);
    case "terminate":
      return terminate(tx, ports, observed, assessment.level, action);
    case "complete":
      return complete(tx, ports, observed, action);
  }
}

/** What is reported once: the turn that does not start, or the seat that stays empty. */
export const reportKey = ({ agent, stored }: Observed): string => stored.queuedTurn?.id ?? agent.id;

async function recover(tx: Tx, ports: WatchdogPorts, { agent, facts }: Observed): Promise<void> {
  const now = ports.clock.now();
  await tx.agents.setEscalation(agent.id, 0, null);
  if (agent.state === "stalled") {
    const reason = facts.activeSinceStall ? "it is active again" : "it waits for something";
    await changeState(tx, agent, { to: substate(facts), actor, reason }, now);
  }
  const data = { escalationLevel: agent.escalationLevel };
  await record(tx, now, { source: "watchdog", agent, type: "recovered", data });
}

function substate({ agent, turn }: Observed["facts"]): AgentState {
  if (agent.topology === "attached") return "working";
  return turn === null ? "between_turns" : "in_turn";
}

async function report(
  tx: Tx,
  { clock }: WatchdogPorts,
  observed: Observed,
  { problem }: Extract<HealthAction, { kind: "report" }>,
): Promise<void> {
  const { agent, facts, stored } = observed;
  if (!(await notice(tx, { kind: problem, about: agent.id, key: reportKey(observed) }))) return;
  const data = { turnId: stored.queuedTurn?.id ?? null, dueForMs: facts.queued?.dueForMs ?? facts.silentMs };
  await record(tx, clock.now(), { source: "watchdog", agent, type: problem, level: "error", data });
}

async function escalate(
  tx: Tx,
  ports: WatchdogPorts,
  { agent, facts }: Observed,
  escalationLevel: number,
  { step }: Extract<HealthAction, { kind: "escalate" }>,
): Promise<void> {
  const now = ports.clock.now();
  await tx.agents.setEscalation(agent.id, escalationLevel, agent.stalledSince ?? now);
  if (agent.state !== "stalled") {
    const reason = `silent for ${Math.round(facts.silentMs / 1000)} s`;
    await changeState(tx, agent, { to: "stalled", actor, reason }, now);
  }
  const about = { source: "watchdog", agent, level: "warn" } as const;
  switch (step) {
    case "warn":
      return record(tx, now, { ...about, type: "escalation", data: { escalationLevel, action: step } });
    case "nudge":
      await nudge(tx, ports, agent, now);
      return record(tx, now, { ...about, type: "nudge", data: { escalationLevel } });
    case "triage":
      return record(tx, now, { ...about, type: "triage", data: { escalationLevel, verdict: null } });
  }
}

/** Its next turn is queued, not run: whether it starts, and what comes of it, is for the engine and its supervisor. */
async function nudge(tx: Tx, { ids }: WatchdogPorts, agent: Agent, now: number): Promise<void> {
  await post(
    tx,
    { ids, now },
    {
      ...fromEngine,
      runId: agent.runId,
      address: agent.name,
      recipients: [{ name: agent.name, wake: true }],
      subject: "[WATCHDOG] are you still there?",
      body: "You have shown no activity for a while. Go on with your task, or tell your parent what you wait for and why.",
      type: "health_check",
      priority: "urgent",
    },
  );
}

async function terminate(
  tx: Tx,
  ports: WatchdogPorts,
  { agent, occupied }: Observed,
  escalationLevel: number,
  { reason, outcome }: Extract<HealthAction, { kind: "terminate" }>,
): Promise<void> {
  const now = ports.clock.now();
  await tx.agents.setEscalation(agent.id, escalationLevel, agent.stalledSince ?? now);
  await tx.agents.requestStop(agent.id, actor);
  const data = { escalationLevel, action: "terminate", reason } as const;
  await record(tx, now, { source: "watchdog", agent, type: "escalation", level: "error", data });
  if (occupied) {
    // The engine ends the process and then the agent; until then the row says what we saw.
    await tx.turns.cancelQueued(agent.id, now);
    if (agent.state !== "stalled") await changeState(tx, agent, { to: "stalled", actor, reason }, now);
    return;
  }
  const death = ports.settings.watchdog.notifyParentOnDeath ? reason : null;
  await endAgent(tx, { ids: ports.ids, now }, agent, { state: "zombie", outcome, actor, reason, death, turnId: null });
}

async function complete(
  tx: Tx,
  ports: WatchdogPorts,
  { agent }: Observed,
  { reason }: Extract<HealthAction, { kind: "complete" }>,
): Promise<void> {
  const now = ports.clock.now();
  const end = { state: "completed", outcome: "assumed_done", actor, reason, death: null, turnId: null } as const;
  await endAgent(tx, { ids: ports.ids, now }, agent, end);
  await tx.agents.setEscalation(agent.id, 0, null);
}
