import { hasEnded } from "../../domain/agent/agent.ts";
import { ok } from "../../domain/result.ts";
import type { Tx } from "../../ports/store.ts";
import { release } from "../agents/release-agent.ts";
import { record } from "../events/record.ts";
import type { Context, UseCase } from "../usecase.ts";

export interface ArchiveRequest {
  /** Release every ended agent; `agent` names a single one. */
  readonly sessions?: boolean | undefined;
  readonly agent?: string | undefined;
  /** End the runs that are still open. */
  readonly runs?: boolean | undefined;
  readonly metrics?: boolean | undefined;
  /** Snapshot or rescue refs that are gone. */
  readonly forgottenRefs?: readonly string[] | undefined;
}

export interface ArchiveReply {
  readonly released: readonly string[];
  readonly runs: readonly string[];
  readonly usageRows: number;
}

/** The part of `ov clean` that happens in the database. History is never deleted: agents and runs end, and stay. */
export const archive: UseCase<ArchiveRequest, ArchiveReply> = {
  kind: "write",
  operatorOnly: true,
  run: async (tx, context, request) => {
    const released = await releaseEnded(tx, context, request);
    const runs = request.runs === true ? await endRuns(tx, context.now) : [];
    const usageRows = request.metrics === true ? await tx.cleaning.wipeUsage() : 0;
    await tx.snapshots.remove(request.forgottenRefs ?? []);
    const detail = { ...request, released, runs, usageRows };
    await record(tx, context.now, { source: "operator", type: "cleaned", data: detail });
    await tx.audit.record({
      caller: context.caller.name,
      action: "clean",
      refused: false,
      detail: JSON.stringify(detail),
      now: context.now,
    });
    return ok({ released, runs, usageRows });
  },
};

async function releaseEnded(tx: Tx, context: Context, { sessions, agent: only }: ArchiveRequest): Promise<string[]> {
  if (sessions !== true && only === undefined) return [];
  const released: string[] = [];
  for (const agent of await tx.agents.list({})) {
    if (!hasEnded(agent) || (only !== undefined && agent.name !== only)) continue;
    released.push(...(await release(tx, context, agent, "cleaned by the operator")));
  }
  return [...new Set(released)];
}

async function endRuns(tx: Tx, now: number): Promise<string[]> {
  const ended: string[] = [];
  for (let run = await tx.runs.current(); run !== undefined; run = await tx.runs.current()) {
    await tx.runs.complete(run.id, "completed", now);
    ended.push(run.id);
  }
  return ended;
}
