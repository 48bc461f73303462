import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import { openMergeStatuses } from "../../domain/merge/entry.ts";
import type { Tx } from "../../ports/store.ts";
import { notice } from "../events/record.ts";
import { teamOf } from "../health/announce-phases.ts";
import { fromEngine, post } from "../mail/post.ts";
import { newestPerName } from "../status/newest-per-name.ts";
import type { Context } from "../usecase.ts";

/**
 * Tells the coordinator of a run that nobody works for it any more and nothing of it waits to land, once for each set of
 * agents: only then can it end the run. To be called in the transaction that releases an agent.
 */
export async function announceFinished(
  tx: Tx,
  { ids, now }: Pick<Context, "ids" | "now">,
  runId: string,
): Promise<void> {
  const run = await tx.runs.get(runId);
  if (run === undefined || run.status !== "active" || run.coordinatorName === null) return;
  const coordinator = await tx.agents.byName(run.coordinatorName);
  if (coordinator === undefined || hasEnded(coordinator)) return;
  const workers = newestPerName(await tx.agents.list({ runId })).filter(
    ({ capability }) => !isIn("persistent", capability),
  );
  if (workers.some(isOpen)) return;
  if ((await tx.merges.list({ runId, statuses: openMergeStatuses, limit: 1 })).length > 0) return;
  // The end of what the operator slung into the run is no news for its coordinator, which was told about its own before.
  const own = teamOf(coordinator.name, workers);
  if (own.length === 0) return;
  const set = own.map(({ name, generation }) => `${name}#${generation}`).toSorted();
  const key = ids.digest(set.join("\n"));
  if (!(await notice(tx, { kind: "finished", about: runId, key }))) return;
  await post(
    tx,
    { ids, now },
    {
      ...fromEngine,
      runId,
      address: coordinator.name,
      recipients: [{ name: coordinator.name, wake: true }],
      subject: `[ENGINE] nobody works for run ${runId} any more`,
      body: [
        `${workers.length === 1 ? "The one agent of the run is" : `All ${workers.length} agents of the run are`} released, and no branch waits to land.`,
        "If the objective is reached, end the run with: ov run complete",
        "If not, sling what is missing.",
      ].join("\n"),
      type: "status",
      priority: "high",
      payload: JSON.stringify({ finished: true, agents: set }),
    },
  );
}

const isOpen = (agent: Agent): boolean => agent.state !== "zombie" && agent.releasedAt === null;
