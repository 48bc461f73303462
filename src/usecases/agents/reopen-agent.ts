import { type Agent, freshAgent, hasEnded, isSubmitted } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import { type TransitionRequest, transition } from "../../domain/agent/transition.ts";
import { reopening } from "../../domain/mail/recipient.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { HandoffReason } from "../../ports/store/agents.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../events/record.ts";
import type { Context } from "../usecase.ts";

type ReopenContext = Pick<Context, "ids" | "now" | "settings">;

/** Brings a submitted agent back to work as the next generation of its name. */
export async function reopenAgent(tx: Tx, context: ReopenContext, agent: Agent): Promise<Result<Agent, Refusal>> {
  const ended = { kind: "recipient-ended", name: agent.name } as const;
  if (!isSubmitted(agent)) return no({ ...ended, state: agent.state, reopening: [] });
  if (agent.revivals >= context.settings.agents.maxRevivals) {
    return no({
      ...ended,
      state: `submitted and reopened ${agent.revivals} times already`,
      reopening: reopening.slice(0, 0),
    });
  }
  // Only reminders in a row count. An agent that finished has heeded those that it got.
  const from = agent.outcome === "done" ? { ...agent, reminders: 0 } : agent;
  return ok(await nextGeneration(tx, context, from, "reopened"));
}

/**
 * The name goes on: same worktree, branch, provider session, parent, task and scope; state and outcome start anew. The
 * older row keeps its history.
 */
export async function nextGeneration(
  tx: Tx,
  context: ReopenContext,
  agent: Agent,
  reason: HandoffReason,
): Promise<Agent> {
  const { ids, now } = context;
  const next = freshAgent({
    ...agent,
    id: ids.next("agent"),
    generation: agent.generation + 1,
    state: agent.worktreePath === null ? "booting" : "between_turns",
    stateVersion: 0,
    outcome: null,
    stopRequestedBy: null,
    revivals: agent.revivals + (reason === "reopened" ? 1 : 0),
    successorName: null,
    escalationLevel: 0,
    stalledSince: null,
    startedAt: now,
    lastActivityAt: now,
    endedAt: null,
    releasedAt: null,
    cleanedAt: null,
  });
  await tx.agents.reserve(next);
  await waitAgain(tx, next, now);
  // Its earlier announcement waits for the operator; the agent itself works again and waits no longer.
  for (const { kind, ref } of await tx.waits.of(next.name)) {
    if (kind === "approval") await tx.waits.remove(next.name, kind, ref);
  }
  await workAgain(tx, next, now);
  await tx.recovery.addHandoff({
    agentName: next.name,
    fromGeneration: agent.generation,
    toGeneration: next.generation,
    reason,
    checkpoint: JSON.stringify((await tx.recovery.checkpoint(next.name)) ?? null),
    createdAt: now,
  });
  const data = { generation: next.generation, reason, revivals: next.revivals };
  await record(tx, now, { source: "engine", agent: next, type: "reopened", data });
  return next;
}

/** A parent that lives waits for its child again. */
async function waitAgain(tx: Tx, agent: Agent, now: number): Promise<void> {
  const parent = await tx.agents.byName(agent.parentName);
  if (parent === undefined || hasEnded(parent)) return;
  await tx.waits.add({ agentName: parent.name, kind: "child", ref: agent.name, since: now, deadline: null });
}

/** Read-only agents never change the status of a task. */
async function workAgain(tx: Tx, agent: Agent, now: number): Promise<void> {
  if (isIn("readOnly", agent.capability)) return;
  const task = agent.taskId === null ? undefined : await tx.tasks.get(agent.taskId);
  if (task?.status === "in_review") {
    const claimedBy = task.claimedBy ?? agent.name;
    await tx.tasks.update({ ...task, status: "in_progress", claimedBy, updatedAt: now });
  }
  // It was given back when the earlier incarnation was released.
  const isFree = task?.status === "open" && task.claimedBy === null;
  if (isFree) await tx.tasks.update({ ...task, status: "in_progress", claimedBy: agent.name, updatedAt: now });
}

/** Moves an agent, audited, in the caller's transaction. False when the state machine or a faster writer forbids it. */
export async function changeState(tx: Tx, agent: Agent, request: TransitionRequest, now: number): Promise<boolean> {
  const change = transition(agent, request, now);
  if (!change.ok) return false;
  return tx.agents.move(agent, change.value, request, now);
}
