import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import { ok } from "../../domain/result.ts";
import type { Wait } from "../../ports/store/agents.ts";
import type { Tx } from "../../ports/store.ts";
import { type RunDetail, runDetail } from "../runs/run-detail.ts";
import type { UseCase } from "../usecase.ts";
import { findHead, type HeadQuestion, liveHeads } from "./find.ts";

export interface HeadView {
  readonly agent: Agent;
  readonly running: boolean;
  /** Of its agent program, while a turn runs. */
  readonly pid: number | null;
  readonly run: RunDetail | null;
  readonly unread: number;
  readonly waits: readonly Wait[];
  /** Agents of its run that have not ended, itself left out. */
  readonly workers: readonly string[];
}

export interface HeadStatus {
  /** The one that was asked about; null when there never was one. */
  readonly asked: HeadView | null;
  /** All that live. */
  readonly all: readonly HeadView[];
  /** A monitor lives. */
  readonly monitorRunning: boolean;
}

/** Who leads, and where their runs stand. Asking about several without a name answers all of them. */
export const coordinatorStatus: UseCase<HeadQuestion, HeadStatus> = {
  kind: "read",
  run: async (tx, { caller, now }, question) => {
    const live = await liveHeads(tx, question.capability);
    const found = await findHead(tx, caller, question);
    if (!found.ok && question.name !== undefined) return found;
    const all: HeadView[] = [];
    for (const agent of live) all.push(await viewOf(tx, agent, now));
    const asked = found.ok ? await viewOf(tx, found.value, now) : null;
    const everybody = await tx.agents.list({ live: true });
    return ok({ asked, all, monitorRunning: everybody.some(({ capability }) => capability === "monitor") });
  },
};

async function viewOf(tx: Tx, agent: Agent, now: number): Promise<HeadView> {
  const run = await tx.runs.get(agent.runId);
  const processes = hasEnded(agent) ? [] : await tx.processes.liveForAgent(agent.id);
  const inRun = await tx.agents.list({ runId: agent.runId, live: true });
  return {
    agent,
    running: !hasEnded(agent),
    pid: processes.find(({ role }) => role === "agent")?.pid ?? null,
    run: run === undefined ? null : await runDetail(tx, run, now),
    unread: await tx.deliveries.countQueued(agent.name),
    waits: await tx.waits.of(agent.name),
    workers: inRun.map(({ name }) => name).filter((name) => name !== agent.name),
  };
}
