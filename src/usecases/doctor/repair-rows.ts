import { hasEnded } from "../../domain/agent/agent.ts";
import { waitKinds } from "../../domain/agent/wait.ts";
import { linkTables, type StoredRows } from "../../domain/consistency/facts.ts";
import { type RowRepair, type RowRepairKind, rowRepairKinds } from "../../domain/consistency/finding.ts";
import { nextDelivery } from "../../domain/mail/delivery.ts";
import { type ModelPrice, type PriceList, turnCost } from "../../domain/prices/prices.ts";
import { ok } from "../../domain/result.ts";
import { decimal, fields, list, noFields, oneOf, orNull, record, text, whole } from "../../domain/schema/schema.ts";
import { returnTask, unholdTask } from "../../domain/task/change.ts";
import type { Tx } from "../../ports/store.ts";
import { goOn } from "../agents/pause.ts";
import { changeState } from "../agents/reopen-agent.ts";
import { giveBackBudget } from "../budgets/turn-budget.ts";
import { bookTurn } from "../costs/book-spending.ts";
import { isWorkDue, nextMoment } from "../engine/engine-work.ts";
import { record as recordEvent } from "../events/record.ts";
import { landingsSincePromotion } from "../merge/landing/unpromoted.ts";
import { rejected } from "../merge/queue/settle-entry.ts";
import type { Context, UseCase } from "../usecase.ts";

/** The rows that `domain/consistency` looks at. Starts no engine: its caller looks at what an engine would mend. */
export const readRows: UseCase<object, StoredRows> = {
  kind: "read",
  request: noFields,
  startsNoEngine: true,
  guarded: true,
  run: async (tx) => {
    const rows = await tx.consistency.read();
    return ok({ ...rows, environments: [...rows.environments, ...(await wantedEnvironments(tx, rows))] });
  },
};

/** The variables of released agents whose work is not promoted yet: its promotion runs the gates with them. */
async function wantedEnvironments(tx: Tx, { agents, runs }: StoredRows): Promise<readonly string[]> {
  const waiting = new Set<string | null>();
  for (const landing of new Set(runs.map(({ landingBranch }) => landingBranch))) {
    if (landing !== null && (await landingsSincePromotion(tx, landing)).length > 0) waiting.add(landing);
  }
  const runIds = new Set(runs.filter(({ landingBranch }) => waiting.has(landingBranch)).map(({ id }) => id));
  return agents.flatMap(({ runId, envFile }) => (envFile !== null && runIds.has(runId) ? [envFile] : []));
}

export interface RepairRequest {
  readonly repairs: readonly RowRepair[];
  /**
   * The fence of the engine's lease when the caller found no engine; null when it was not held. Another engine since then
   * owns these rows.
   */
  readonly fence: number | null;
  /** For turns that are ended: without it their cost is unknown. */
  readonly prices?: PriceTable | undefined;
}

/** A `PriceList` as plain data. */
interface PriceTable extends Pick<PriceList, "version" | "date"> {
  readonly models: Readonly<Record<string, readonly ModelPrice[]>>;
}

const priceTable = fields<PriceTable>({
  version: text,
  date: orNull(text),
  models: record(
    list(
      fields<ModelPrice>({
        from: orNull(text),
        input: decimal,
        output: decimal,
        cacheRead: orNull(decimal),
        cacheWrite: orNull(decimal),
        cacheWrite1h: orNull(decimal),
      }),
    ),
  ),
});

export interface RepairReply {
  /** False: an engine has come since the caller looked, and nothing was changed. */
  readonly isFree: boolean;
  /** An engine has something to do now. None is started for it: more repairs may follow. */
  readonly isWorkDue: boolean;
}

/** Carries out repairs of `ov doctor`, all in one transaction. A repair that is no longer needed changes nothing. */
export const repairRows: UseCase<RepairRequest, RepairReply> = {
  kind: "write",
  request: fields(
    {
      repairs: list(
        fields<RowRepair>({ kind: oneOf(rowRepairKinds), id: text }, { of: text, detail: text, number: whole }),
      ),
      fence: orNull(whole),
    },
    { prices: priceTable },
  ),
  operatorOnly: true,
  startsNoEngine: true,
  run: async (tx, context, { repairs, fence, prices = noPrices }) => {
    const seat = await tx.leases.get("engine");
    if (seat !== undefined && seat.fence !== fence) return ok({ isFree: false, isWorkDue: false });
    const terms = { ...context, prices: { ...prices, models: new Map(Object.entries(prices.models)) } };
    for (const repair of repairs) await carryOut[repair.kind](tx, terms, repair);
    const data = {
      repairs: repairs.map(({ kind, id, of, detail }) => [kind, id, of, detail].filter(Boolean).join(" ")),
    };
    await recordEvent(tx, context.now, { source: "operator", type: "repaired", data });
    await tx.audit.record({
      caller: context.caller.name,
      action: "doctor.fix",
      refused: false,
      detail: JSON.stringify(data),
      now: context.now,
    });
    const due = (await isWorkDue(tx, context)) || (await nextMoment(tx, context)) !== undefined;
    return ok({ isFree: true, isWorkDue: due });
  },
};

/** Why the turn starts of an agent that a repair lets go on. */
const repaired = "ov doctor mended a record that held the agent back";

const noPrices: PriceTable = { version: "none", date: null, models: {} };

interface RepairTerms extends Context {
  readonly prices: PriceList;
}

type Repair = (tx: Tx, terms: RepairTerms, repair: RowRepair) => Promise<unknown>;

const carryOut: Readonly<Record<RowRepairKind, Repair>> = {
  "end-process": (tx, { now }, { id }) => tx.processes.end(id, "found gone by ov doctor", now),
  "revoke-token": (tx, { now }, { id }) => tx.consistency.revokeToken(id, now),
  "give-back-mail": giveBackMail,
  "bury-mail": async (tx, { now }, { id, number = 0 }) => {
    const delivery = await tx.deliveries.get(number, id);
    const dead = delivery && nextDelivery(delivery, { kind: "kill", error: "there is no agent of this name" }, now);
    if (dead?.ok === true) await tx.deliveries.update(dead.value);
  },
  "cancel-turn": (tx, { now }, { id }) => tx.turns.cancel(id, now),
  "end-turn": endTurn,
  "drop-lease": async (tx, _, { id, number = 0 }) =>
    id.startsWith("turn:") ? tx.leases.delete(id, number) : tx.leases.drop(id, number),
  "forget-wait": async (tx, context, { id, of, detail = "" }) => {
    const kind = waitKinds.find((known) => known === of);
    if (kind !== undefined) await tx.waits.remove(id, kind, detail);
    const agent = await tx.agents.byName(id);
    if (agent !== undefined) await goOn(tx, context, agent, repaired);
  },
  "queue-turn": async (tx, context, { id }) => {
    const agent = await tx.agents.get(id);
    if (agent !== undefined) await goOn(tx, context, agent, repaired);
  },
  "settle-state": async (tx, context, { id }) => {
    const agent = await tx.agents.get(id);
    if (agent === undefined || hasEnded(agent) || (await tx.turns.runningFor(id)) !== undefined) return;
    const to = { to: "between_turns", actor: "operator", reason: "no turn of it runs" } as const;
    await changeState(tx, agent, to, context.now);
    const settled = await tx.agents.get(id);
    if (settled !== undefined) await goOn(tx, context, settled, repaired);
  },
  "record-end": async (tx, _, { id }) => {
    const agent = await tx.agents.get(id);
    if (agent === undefined || !hasEnded(agent)) return;
    const outcome = agent.outcome ?? (agent.state === "zombie" ? "crashed" : "assumed_done");
    await tx.consistency.setAgent(id, { outcome, endedAt: agent.endedAt ?? agent.lastActivityAt });
  },
  "clear-end": async (tx, _, { id }) => {
    const agent = await tx.agents.get(id);
    if (agent !== undefined && !hasEnded(agent)) await tx.consistency.setAgent(id, { outcome: null, endedAt: null });
  },
  "clear-release": async (tx, _, { id }) => {
    const agent = await tx.agents.get(id);
    if (agent !== undefined && !hasEnded(agent)) await tx.consistency.setAgent(id, { releasedAt: null });
  },
  "adopt-orphan": (tx, _, { id }) => tx.consistency.setAgent(id, { parentName: "operator" }),
  "forget-snapshot": (tx, _, { id }) => tx.snapshots.remove([id]),
  "record-snapshot": (tx, { now }, { id: ref, of: commitId = "", detail: agentName = "", number: generation = 0 }) =>
    tx.snapshots.add({
      agentName,
      generation,
      ref,
      commitId,
      reason: "found by ov doctor",
      skipped: [],
      createdAt: now,
    }),
  "end-removal": (tx, _, { id }) => tx.consistency.deleteRemoval(id),
  "free-budget": (tx, { now }, { id }) => giveBackBudget(tx, id, now),
  "free-task": async (tx, { now }, { id, of = "" }) => {
    const task = await tx.tasks.get(id);
    if (task?.claimedBy !== of) return;
    const free = returnTask(task, of, now);
    if (free !== task) await tx.tasks.update(free);
    else if (task.status === "closed") await tx.tasks.update({ ...task, claimedBy: null, claimExpires: null });
    else await tx.tasks.update(unholdTask(task, of, now));
  },
  "clear-parent-task": async (tx, { now }, { id }) => {
    const task = await tx.tasks.get(id);
    if (task !== undefined)
      await tx.tasks.update({ ...task, parentId: null, updatedAt: Math.max(now, task.updatedAt + 1) });
  },
  "requeue-merge": (tx, { now }, { id }) =>
    tx.merges.change(Number(id), ["merging", "gating"], { status: "pending", updatedAt: now }),
  "fail-merge": async (tx, context, { id }) => {
    const entry = await tx.merges.get(Number(id));
    if (entry === undefined) return;
    const message = `${entry.headCommit} is no commit of this project any more`;
    await rejected(tx, context, entry, { status: "failed", cause: "missing_ref", detail: { message } });
  },
  "close-attempt": (tx, { now }, { id }) => tx.mergeAttempts.change(id, { outcome: "lost", finishedAt: now }),
  "requeue-check": (tx, { now }, { id }) => tx.checks.change(id, ["running"], { status: "queued", updatedAt: now }),
  "delete-link": async (tx, _, { id: one, of, detail: other = "" }) => {
    const table = linkTables.find((known) => known === of);
    if (table !== undefined) await tx.consistency.deleteLink({ table, one, other });
  },
  "record-seat": async (tx, _, { id, detail = "" }) => {
    const agent = await tx.agents.get(id);
    if (agent === undefined) return;
    const { worktreePath, branch, baseRef, baseCommit } = agent;
    await tx.agents.seated(id, { worktreePath, worktreeIdentity: detail, branch, baseRef, baseCommit });
  },
};

async function giveBackMail(tx: Tx, context: Context, { id, number = 0 }: RowRepair): Promise<void> {
  const { now } = context;
  const delivery = await tx.deliveries.get(number, id);
  if (delivery === undefined) return;
  const turn = delivery.turnId === null ? undefined : await tx.turns.get(delivery.turnId);
  if (turn?.status === "running") return;
  const back = nextDelivery(delivery, { kind: "release", by: delivery.claimedBy ?? "" }, now);
  if (!back.ok) return;
  await tx.deliveries.update({ ...back.value, redelivered: true });
  const agent = await tx.agents.byName(id);
  if (agent !== undefined) await goOn(tx, context, agent, repaired);
}

/** The turn of an agent that has ended: nothing follows from it. */
async function endTurn(tx: Tx, context: RepairTerms, { id }: RowRepair): Promise<void> {
  const turn = await tx.turns.get(id);
  const agent = turn === undefined ? undefined : await tx.agents.get(turn.agentId);
  if (turn?.status !== "running" || agent === undefined || !hasEnded(agent)) return;
  const { now, prices: list } = context;
  const answers = await tx.usage.ofTurn(id);
  const startedAt = turn.startedAt ?? now;
  const cost = turnCost({ reportedUsd: null, answers, model: agent.model, at: startedAt, list });
  await tx.turns.end(id, turn.fence, { ...lostAt(now), ...cost });
  // It may have ended days before the doctor came.
  const lastTold = Math.max(startedAt, ...answers.map(({ createdAt }) => createdAt));
  await bookTurn(tx, { turn, agent, cost, list, now: lastTold });
  for (const { message, delivery } of await tx.deliveries.ofTurn(id)) {
    await giveBackMail(tx, context, { kind: "give-back-mail", id: delivery.toAgent, number: message.seq });
  }
  await tx.processes.endForTurn(id, "found gone by ov doctor", now);
  await tx.tokens.revokeForTurn(id, now);
  await tx.leases.delete(`turn:${id}`, turn.fence);
  await giveBackBudget(tx, id, now);
}

const lostAt = (endedAt: number) => ({
  status: "lost" as const,
  clean: false,
  resultText: null,
  exitCode: null,
  exitSignal: null,
  terminalMessageSeq: null,
  error: "its agent had ended",
  failure: null,
  advice: null,
  endedAt,
});
