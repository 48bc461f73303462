import { type Agent, hasEnded, isSubmitted } from "../../domain/agent/agent.ts";
import { attachLease } from "../../domain/agent/attachment.ts";
import { statusOf } from "../../domain/agent/status.ts";
import type { Lease, ProcessIdentity, ProcessRecord } from "../../domain/process/process.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../events/record.ts";
import type { Context, UseCase } from "../usecase.ts";
import { reopenAgent } from "./reopen-agent.ts";
import { findAgent } from "./subordinate.ts";

export interface AttachRequest {
  readonly name: string;
  /** Who holds the agent: it is handed back when this process is gone. */
  readonly process: ProcessIdentity;
}

/** An agent for which nothing starts but what its holder starts. */
export interface AttachHold {
  readonly agentId: string;
  readonly agentName: string;
  readonly generation: number;
  /** It had submitted its work, and goes on as its next generation. */
  readonly reopened: boolean;
  readonly fence: number;
  readonly processId: string;
}

/** Takes an agent over for a person: a pause of its own, held by a lease, so that a terminal that closes gives it back. */
export const attachAgent: UseCase<AttachRequest, AttachHold> = {
  kind: "write",
  operatorOnly: true,
  run: async (tx, context, { name, process }) => {
    const found = await findAgent(tx, name);
    if (!found.ok) return found;
    const lease = attachLease(found.value.name);
    if ((await tx.leases.get(lease)) !== undefined) {
      return no({ kind: "busy", what: `${found.value.name}, to which somebody is attached,` });
    }
    const live = await liveAgent(tx, context, found.value);
    if (!live.ok) return live;
    const { id: agentId, name: agentName, generation, reminders } = live.value;
    // A person works with the agent now, so its reminders are counted anew.
    if (reminders > 0) await tx.agents.setReminders(agentId, 0);
    const { now, ids, caller } = context;
    const processId = ids.next("process");
    const open = { turnId: null, startedAt: now, endedAt: null, endReason: null };
    await tx.processes.insert({ id: processId, role: "supervisor", agentId, ...process, ...open });
    const fence = await tx.leases.take(lease, processId);
    await tx.waits.add({ agentName, kind: "operator", ref: lease, since: now, deadline: null });
    const reopened = hasEnded(found.value);
    const data = { by: caller.name, pid: process.pid, reopened };
    await record(tx, now, { source: "operator", agent: live.value, type: "attach", data });
    return ok({ agentId, agentName, generation, reopened, fence, processId });
  },
};

async function liveAgent(tx: Tx, context: Context, agent: Agent): Promise<Result<Agent, Refusal>> {
  if (isSubmitted(agent)) return reopenAgent(tx, context, agent);
  const { name } = agent;
  if (hasEnded(agent)) {
    return no(
      invalid("agent", `has ended (${statusOf(agent).words}); bring it back with: ov recover ${name}`, { value: name }),
    );
  }
  if (agent.stopRequestedBy !== null) return no(invalid("agent", "is being stopped", { value: name }));
  if (agent.worktreePath === null) return no({ kind: "busy", what: `the preparation of ${name}'s worktree` });
  return ok(agent);
}

/** Who is attached to an agent, if anybody is. */
export const attachmentOf: UseCase<
  { readonly name: string },
  { readonly held: { readonly lease: Lease; readonly holder: ProcessRecord | undefined } | null }
> = {
  kind: "read",
  run: async (tx, _context, { name }) => {
    const found = await findAgent(tx, name);
    if (!found.ok) return found;
    const lease = await tx.leases.get(attachLease(found.value.name));
    if (lease === undefined) return ok({ held: null });
    const holder = lease.processId === null ? undefined : await tx.processes.get(lease.processId);
    return ok({ held: { lease, holder } });
  },
};

/** The turn that must end before the agent is free, with the processes that work for it. */
export const attachProgress: UseCase<
  { readonly agentId: string },
  { readonly running: { readonly turnId: string; readonly processes: readonly ProcessRecord[] } | null }
> = {
  kind: "read",
  run: async (tx, _context, { agentId }) => {
    const turn = await tx.turns.runningFor(agentId);
    if (turn === undefined) return ok({ running: null });
    const live = await tx.processes.liveForTurn(turn.id);
    return ok({ running: { turnId: turn.id, processes: live.filter(({ role }) => role === "agent") } });
  },
};
