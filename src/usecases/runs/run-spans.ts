import type { Agent } from "../../domain/agent/agent.ts";
import { waitWords } from "../../domain/agent/status.ts";
import type { Event } from "../../domain/event/event.ts";
import type { GateResult } from "../../domain/gate/gate.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import type { MergeAttempt } from "../../domain/merge/attempt.ts";
import type { MergeEntry } from "../../domain/merge/entry.ts";
import { ok } from "../../domain/result.ts";
import { type AgentSpan, agentSpans, type Hold, idlePeriods, type Period } from "../../domain/run/agent-spans.ts";
import { criticalPath, type PathStep, type Work } from "../../domain/run/critical-path.ts";
import type { Run } from "../../domain/run/run.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import type { UseCase } from "../usecase.ts";
import { findRun, type ShowRunRequest } from "./read-runs.ts";

export interface SpanRow {
  readonly agent: Agent;
  readonly spans: readonly AgentSpan[];
}

/** One try of the merge worker with branches of the run. */
export interface MergeSpan {
  readonly attempt: MergeAttempt;
  readonly entries: readonly Pick<MergeEntry, "id" | "branch" | "agentName" | "status">[];
}

/** Something that happened to a branch at one moment. */
export interface MergeMark {
  readonly at: number;
  readonly kind: "landed" | "failed" | "undone" | "blocked";
  readonly queueId: number;
  readonly branch: string;
}

/** All of a run in the course of time. */
export interface RunSpans {
  readonly run: Run;
  readonly range: Period;
  readonly rows: readonly SpanRow[];
  readonly merges: readonly MergeSpan[];
  readonly marks: readonly MergeMark[];
  readonly gates: readonly GateResult[];
  /** Times in which nothing was done. */
  readonly idle: readonly Period[];
  /** The chain of work that its end, or its present state, depended on. */
  readonly path: readonly PathStep[];
}

/** Shorter times without work are shown as they are. */
const leastIdlePart = 0.05;
const mostEvents = 20_000;

/** The times of a run: each agent's turns and waits, the merges, and the gates. */
export const runSpans: UseCase<ShowRunRequest, RunSpans> = {
  kind: "read",
  request: fields({}, { id: text }),
  run: async (tx, { caller, now }, { id }) => {
    const found = await findRun(tx, caller, id);
    if (!found.ok) return found;
    const run = found.value;
    const { rows, facts } = await spanRows(tx, run);
    const { merges, gates } = await mergesOf(tx, run, rows);
    const range = { from: run.startedAt, to: Math.max(run.completedAt ?? now, run.startedAt + 1) };
    const busy = [
      ...rows.flatMap(({ spans }) => spans.filter(({ kind }) => kind !== "waiting" && kind !== "parked")),
      ...merges.map(({ attempt }) => ({ from: attempt.startedAt, to: attempt.finishedAt })),
    ].map(({ from, to }) => ({ from, to: to ?? range.to }));
    return ok({
      run,
      range,
      rows,
      merges,
      marks: marksOf(facts),
      gates,
      idle: idlePeriods(range, busy, leastIdlePart),
      path: criticalPath(worksOf(rows, range.to), range.to),
    });
  },
};

const worksOf = (rows: readonly SpanRow[], end: number): readonly Work[] =>
  rows.flatMap(({ agent: { name, parentName }, spans }) =>
    spans
      .filter(({ kind }) => kind === "queued" || kind === "starting" || kind === "turn")
      .map(({ from, to }) => ({ agent: name, parent: parentName, from, to: to ?? end })),
  );

const factTypes = [
  "turn_start",
  "pause",
  "resume",
  "budget_wait",
  "budget_resumed",
  "merge_landed",
  "merge_failed",
  "merge_undone",
  "merge_blocked",
];

/** The agents of a run with the parts of their time, and the events that tell of them. */
export async function spanRows(
  tx: Tx,
  run: Run,
): Promise<{ readonly rows: readonly SpanRow[]; readonly facts: readonly Event[] }> {
  const facts = await tx.events.first({ runId: run.id, types: factTypes, factsOnly: true }, mostEvents);
  const begun = new Map<string, number>();
  for (const { type, turnId, createdAt } of facts) {
    if (type === "turn_start" && turnId !== null) begun.set(turnId, createdAt);
  }
  const byAgent = Map.groupBy(facts, ({ agentId }) => agentId);
  const rows: SpanRow[] = [];
  for (const agent of await tx.agents.list({ runId: run.id })) {
    const waitsFor = (await tx.waits.of(agent.name)).map(waitWords).join(", ");
    const turns = await tx.turns.listFor(agent.id);
    const holds = holdsOf(byAgent.get(agent.id) ?? []);
    rows.push({ agent, spans: agentSpans({ agent, turns, holds, begun, waitsFor }) });
  }
  return { rows, facts };
}

const opens: Readonly<Record<string, readonly string[]>> = {
  pause: ["resume"],
  budget_wait: ["budget_resumed", "turn_start"],
};

function holdsOf(events: readonly Event[]): readonly Hold[] {
  return events.flatMap((event, at) => {
    const ends = opens[event.type];
    if (ends === undefined) return [];
    const end = events.slice(at + 1).find(({ type }) => ends.includes(type));
    const { by, scope } = payloadFields(event.data) as { readonly by?: unknown; readonly scope?: unknown };
    const words = event.type === "pause" ? `paused by ${String(by)}` : `the budget of the ${String(scope)} is reached`;
    return [{ from: event.createdAt, to: end?.createdAt ?? null, words }];
  });
}

const markKinds: Readonly<Record<string, MergeMark["kind"]>> = {
  merge_landed: "landed",
  merge_failed: "failed",
  merge_undone: "undone",
  merge_blocked: "blocked",
};

export const marksOf = (facts: readonly Event[]): readonly MergeMark[] =>
  facts.flatMap(({ type, data, createdAt }) => {
    const kind = markKinds[type];
    if (kind === undefined) return [];
    const { queueId, branch } = payloadFields(data) as { readonly queueId?: unknown; readonly branch?: unknown };
    return [{ at: createdAt, kind, queueId: Number(queueId), branch: String(branch) }];
  });

/** Attempts of the merge worker with branches of the run, and the gates that these and its agents' completions asked. */
async function mergesOf(tx: Tx, run: Run, rows: readonly SpanRow[]): Promise<Pick<RunSpans, "merges" | "gates">> {
  const entries = new Map((await tx.merges.list({ runId: run.id })).map((entry) => [entry.id, entry]));
  const attempts = new Map<string, MergeAttempt>();
  for (const id of entries.keys()) for (const one of await tx.mergeAttempts.of(id)) attempts.set(one.id, one);
  const results = new Set([...attempts.values()].flatMap(({ gateResults }) => gateResults));
  for (const { agent } of rows) {
    for (const { receiptId } of await tx.checks.completionsOf(agent.id)) {
      const receipt = receiptId === null ? undefined : await tx.receipts.get(receiptId);
      for (const id of receipt?.results ?? []) results.add(id);
    }
  }
  return {
    merges: [...attempts.values()]
      .toSorted((a, b) => a.startedAt - b.startedAt)
      .map((attempt) => ({ attempt, entries: attempt.queueIds.flatMap((id) => entries.get(id) ?? []) })),
    gates: (await tx.gates.all([...results])).toSorted((a, b) => a.createdAt - b.createdAt),
  };
}
