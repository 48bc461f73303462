import { type Agent, hasEnded, newestPerName } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import { endedPhase, phaseText } from "../../domain/health/phase.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import { openMergeStatuses } from "../../domain/merge/entry.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Tx } from "../../ports/store.ts";
import { notice, record } from "../events/record.ts";
import { fromEngine, post, type Recipient } from "../mail/post.ts";
import type { Context } from "../usecase.ts";
import { openEndsOf } from "./open-ends.ts";

/**
 * Puts the end of a phase of a run on record, and tells the run's coordinator where that asks something of it: all its
 * workers have ended, and nothing else will start a turn of it. To be called in the transaction that ends an agent, and in
 * the one that settles a turn of the coordinator: what was pending may be over then. Each set of workers (names and
 * generations) is announced once, and a set that grew is another set.
 */
export async function announcePhases(
  tx: Tx,
  { runId, ids, now }: { readonly runId: string; readonly ids: Ids; readonly now: number },
): Promise<void> {
  const coordinator = (await tx.runs.get(runId))?.coordinatorName ?? null;
  const everybody = newestPerName(await tx.agents.list({ runId }));
  const newest = coordinator === null ? everybody : teamOf(coordinator, everybody);
  const phase = endedPhase(newest, await announcedBefore(tx, runId));
  if (phase === undefined) return;
  const key = ids.digest(phase.set.join("\n"));
  const facts = {
    phase: phase.name,
    workerCount: phase.agents.length,
    completed: phase.completed,
    zombies: phase.zombies,
    capabilities: phase.capabilities,
    workers: phase.set,
  };
  if (await notice(tx, { kind: "phase", about: runId, key })) {
    const level = phase.zombies > 0 ? "warn" : "info";
    await record(tx, now, { source: "engine", runId, type: "run_phase", level, data: facts });
  }
  const recipient = coordinator === null ? undefined : await readerFor(tx, coordinator);
  if (recipient === undefined) return;
  if (recipient.wake && (await goesOnByItself(tx, runId, recipient.name, newest))) return;
  if (!(await notice(tx, { kind: "phase", about: runId, key: `told:${key}` }))) return;
  const open = await tx.tasks.list({ runId, unclosed: true });
  await post(
    tx,
    { ids, now },
    {
      ...fromEngine,
      runId,
      address: recipient.name,
      recipients: [recipient],
      ...phaseText(phase, { runId, openTasks: open.map(({ id }) => id) }),
      type: "status",
      priority: "high",
      payload: JSON.stringify(facts),
    },
  );
}

/**
 * Nothing is to be decided now: a turn of the coordinator runs or will start, it waits for an answer, a lead goes on, a
 * branch is landing, or everybody is released, which is told by itself.
 */
async function goesOnByItself(tx: Tx, runId: string, name: string, team: readonly Agent[]): Promise<boolean> {
  const coordinator = await tx.agents.byName(name);
  if (coordinator === undefined) return true;
  if ((await tx.turns.runningFor(coordinator.id)) !== undefined) return true;
  if ((await tx.turns.queuedFor(coordinator.id)) !== undefined || (await tx.deliveries.hasWaking(name))) return true;
  if ((await tx.waits.of(name)).length > 0) return true;
  if (team.some((agent) => !hasEnded(agent)) || !team.some(isOpen)) return true;
  return (await tx.merges.list({ runId, statuses: openMergeStatuses, limit: 1 })).length > 0;
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

/** The coordinator; once it has ended, the operator. A run without one has no reader: its people hear from each agent. */
async function readerFor(tx: Tx, coordinator: string): Promise<Recipient> {
  const agent = await tx.agents.byName(coordinator);
  if (agent === undefined || hasEnded(agent)) return { name: "operator", wake: false };
  const reason = "nobody works for the run, and its coordinator has to decide how it goes on";
  return { name: agent.name, wake: true, reason };
}

/**
 * The agents below the coordinator. What the operator slings into its run, and what works for that, reports to the
 * operator and is no part of the coordinator's plan.
 */
function teamOf(coordinator: string, agents: readonly Agent[]): readonly Agent[] {
  const parents = new Map(agents.map(({ name, parentName }) => [name, parentName]));
  const isBelow = ({ parentName }: Agent): boolean => {
    const visited = new Set<string>();
    for (
      let name: string | undefined = parentName;
      name !== undefined && !visited.has(name);
      name = parents.get(name)
    ) {
      if (name === coordinator) return true;
      visited.add(name);
    }
    return false;
  };
  return agents.filter(isBelow);
}

/**
 * Tells the coordinator of a run that nobody works for it any more and nothing of it waits to land, once for each set of
 * agents: only then can it end the run. To be called in the transaction that releases an agent. A coordinator at work is
 * told when its turn has ended, if it has not ended the run by then.
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
  if ((await tx.turns.runningFor(coordinator.id)) !== undefined) return;
  if ((await tx.waits.of(coordinator.name)).some(({ kind }) => kind === "reply")) return;
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
  const open = await openEndsOf(tx, run, coordinator.name);
  await post(
    tx,
    { ids, now },
    {
      ...fromEngine,
      runId,
      address: coordinator.name,
      recipients: [
        { name: coordinator.name, wake: true, reason: "every agent of the run is released, and the run can be ended" },
      ],
      subject: `[ENGINE] nobody works for run ${runId} any more`,
      body: [
        `${workers.length === 1 ? "The one agent of the run is" : `All ${workers.length} agents of the run are`} released, and no branch waits to land.`,
        ...(open.length === 0 ? [] : ["Still open:", ...open.map(({ what, fix }) => `- ${what}; ${fix}`)]),
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
