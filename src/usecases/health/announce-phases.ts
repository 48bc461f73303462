import { hasEnded } from "../../domain/agent/agent.ts";
import { endedPhase, phaseText } from "../../domain/health/phase.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Tx } from "../../ports/store.ts";
import { notice, record } from "../events/record.ts";
import { post, type Recipient } from "../mail/post.ts";
import { newestPerName } from "../status/newest-per-name.ts";

/**
 * Tells the run's coordinator when all its workers have ended. To be called in the transaction that ends an agent: each
 * set of workers (names and generations) is announced once, and a set that grew is another set.
 */
export async function announcePhases(
  tx: Tx,
  { runId, ids, now }: { readonly runId: string; readonly ids: Ids; readonly now: number },
): Promise<void> {
  const newest = newestPerName(await tx.agents.list({ runId }));
  const phase = endedPhase(newest, await announcedBefore(tx, runId));
  if (phase === undefined) return;
  const key = ids.digest(phase.set.join("\n"));
  if (!(await notice(tx, { kind: "phase", about: runId, key }))) return;
  const facts = {
    phase: phase.name,
    workerCount: phase.agents.length,
    completed: phase.completed,
    zombies: phase.zombies,
    capabilities: phase.capabilities,
    workers: phase.set,
  };
  const recipient = await coordinatorOf(tx, runId);
  const level = phase.zombies > 0 ? "warn" : "info";
  await record(tx, now, { source: "engine", runId, type: "run_phase", level, data: facts });
  if (recipient === undefined) return;
  await post(
    tx,
    { ids, now },
    {
      from: "system",
      fromAgentId: null,
      byEngine: true,
      runId,
      verified: true,
      address: recipient.name,
      recipients: [recipient],
      ...phaseText(phase, runId),
      type: "status",
      priority: "high",
      payload: JSON.stringify(facts),
    },
  );
}

/** How far back the last announcement may lie among the engine's own messages of the run. */
const remembered = 50;

/** Whom the last announcement covered. Forgetting it costs nothing but a longer list in the next. */
async function announcedBefore(tx: Tx, runId: string): Promise<ReadonlySet<string>> {
  for (const message of await tx.messages.list({ from: "system", type: "status", runId, limit: remembered })) {
    const { phase, workers } = payloadFields(message.payload);
    if (typeof phase === "string" && Array.isArray(workers)) return new Set(workers.map(String));
  }
  return new Set();
}

/** A run that nobody coordinates has nobody to plan its next phase: its people hear from each agent anyway. */
async function coordinatorOf(tx: Tx, runId: string): Promise<Recipient | undefined> {
  const name = (await tx.runs.get(runId))?.coordinatorName ?? null;
  if (name === null) return undefined;
  const agent = await tx.agents.byName(name);
  if (agent === undefined || hasEnded(agent)) return { name: "operator", wake: false };
  return { name: agent.name, wake: true };
}
