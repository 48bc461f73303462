import { type Agent, hasEnded, isSubmitted } from "../../domain/agent/agent.ts";
import { statusOf } from "../../domain/agent/status.ts";
import { attachLease } from "../../domain/agent/wait.ts";
import type { Lease, ProcessIdentity, ProcessRecord } from "../../domain/process/process.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, flag, text, whole } from "../../domain/schema/schema.ts";
import type { AttachedSessions, AttachHold } from "../../ports/agent-process.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../events/record.ts";
import type { Stream, World } from "../operation.ts";
import type { Context, UseCase } from "../usecase.ts";
import { findAgent } from "./find-agent.ts";
import { reopenAgent } from "./reopen-agent.ts";

interface HoldRequest {
  readonly name: string;
  /** The process that holds the agent. The agent is handed back when the process is gone. */
  readonly process: ProcessIdentity;
}

/** Takes an agent over for a person: a pause of its own, held by a lease, so that a terminal that closes gives it back. */
export const holdAgent: UseCase<HoldRequest, AttachHold> = {
  kind: "write",
  request: fields({ name: text, process: fields({ pid: whole, startToken: text, bootId: text }) }),
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

/** The person's process that is attached to an agent, if there is one. */
export const readAttachment: UseCase<
  { readonly name: string },
  { readonly held: { readonly lease: Lease; readonly holder: ProcessRecord | undefined } | null }
> = {
  kind: "read",
  request: fields({ name: text }),
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
export const checkAttach: UseCase<
  { readonly agentId: string },
  { readonly running: { readonly turnId: string; readonly processes: readonly ProcessRecord[] } | null }
> = {
  kind: "read",
  request: fields({ agentId: text }),
  run: async (tx, _context, { agentId }) => {
    const turn = await tx.turns.runningFor(agentId);
    if (turn === undefined) return ok({ running: null });
    const live = await tx.processes.liveForTurn(turn.id);
    return ok({ running: { turnId: turn.id, processes: live.filter(({ role }) => role === "agent") } });
  },
};

export interface AttachRequest {
  readonly name: string;
  /** Ends the running turn instead of waiting for it. The mail of that turn waits until the agent goes on. */
  readonly interrupt: boolean;
}

export interface AttachReport {
  readonly agentName: string;
  readonly generation: number;
  readonly reopened: boolean;
  /** A turn was ended for it. */
  readonly interrupted: boolean;
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** How the agent ended meanwhile, as when another terminal stopped it; null when it goes on. */
  readonly ended: string | null;
}

/** `waiting`: for a turn, told at once and again from time to time. `opening`: the agent's program opens here now. */
export type AttachStep = { readonly kind: "waiting"; readonly waitedMs: number } | { readonly kind: "opening" };

const graceMs = 2_000;
const lookMs = 100;
/** A waiting user is told this often that the command still waits. */
const againMs = 30_000;

/** Opens an agent at the caller's terminal, and gives it back afterwards. */
export const attach: Stream<AttachRequest, AttachReport, AttachStep> = {
  kind: "stream",
  request: fields({ name: text, interrupt: flag }),
  place: "caller",
  run: async (world, request, { onItem }) => {
    const sessions = await world.attachedSessions();
    try {
      const freed = await freeIfLost(world, sessions, request.name);
      if (!freed.ok) return freed;
      const held = await world.call("agent.hold", { name: request.name, process: sessions.self });
      return held.ok ? await work(world, sessions, { ...request, hold: held.value, onItem }) : held;
    } finally {
      await sessions.close();
    }
  },
};

/** An engine would find it too, but the person at the terminal need not wait for the engine. */
async function freeIfLost(world: World, sessions: AttachedSessions, name: string): Promise<Result<void, Refusal>> {
  const found = await world.call("agent.readAttachment", { name });
  if (!found.ok) return found;
  const { held } = found.value;
  if (held === null) return ok(undefined);
  const processes = await world.processes();
  const gone = held.holder === undefined || processes.check(held.holder) === "gone";
  if (gone) await sessions.handBack(held.lease, "gone");
  return ok(undefined);
}

interface Work extends Pick<AttachRequest, "interrupt"> {
  readonly hold: AttachHold;
  readonly onItem: (step: AttachStep) => void;
}

async function work(world: World, sessions: AttachedSessions, terms: Work): Promise<Result<AttachReport, Refusal>> {
  const { agentName, generation, reopened, fence, processId } = terms.hold;
  try {
    const interrupted = await untilFree(world, terms);
    if (!interrupted.ok) return interrupted;
    terms.onItem({ kind: "opening" });
    const ended = await sessions.open(terms.hold);
    if (!ended.ok) return ended;
    const { code: exitCode, signal } = ended.value;
    const end = await howEnded(world, agentName, generation);
    return ok({ agentName, generation, reopened, interrupted: interrupted.value, exitCode, signal, ended: end });
  } finally {
    await sessions.handBack({ name: attachLease(agentName), fence, beat: 0, processId }, "left");
  }
}

async function howEnded(world: World, name: string, generation: number): Promise<string | null> {
  const found = await world.call("agent.inspect", { name, limit: 1 });
  if (!found.ok) return null;
  const { agent } = found.value;
  return agent.generation === generation && hasEnded(agent) ? statusOf(agent).words : null;
}

/** Waits until no turn runs for it. True when one was ended for that. */
async function untilFree(world: World, { interrupt, hold, onItem }: Work): Promise<Result<boolean, Refusal>> {
  const ended = new Set<string>();
  const began = performance.now();
  let sayNextAt = 0;
  for (;;) {
    const progress = await world.call("agent.checkAttach", { agentId: hold.agentId });
    if (!progress.ok) return progress;
    const { running } = progress.value;
    if (running === null) return ok(ended.size > 0);
    const waitedMs = performance.now() - began;
    if (!interrupt && waitedMs >= sayNextAt) {
      onItem({ kind: "waiting", waitedMs });
      sayNextAt = waitedMs + againMs;
    }
    for (const process of interrupt ? running.processes : []) {
      if (ended.has(process.id)) continue;
      ended.add(process.id);
      await (await world.processes()).endTree(process, graceMs, { turnId: running.turnId });
    }
    await world.sleep(lookMs);
  }
}
