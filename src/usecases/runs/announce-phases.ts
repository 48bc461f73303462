import { type Agent, hasEnded, teamOf } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import { isParking } from "../../domain/agent/wait.ts";
import { endedPhase, endedWorkers, type Phase, phaseText } from "../../domain/health/phase.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import { openMergeStatuses } from "../../domain/merge/entry.ts";
import { openLines } from "../../domain/run/open-ends.ts";
import type { Run } from "../../domain/run/run.ts";
import type { Tx } from "../../ports/store.ts";
import { landedNowhere } from "../agents/held-agents.ts";
import { notice, record } from "../events/record.ts";
import { fromEngine, post, type Recipient } from "../mail/post.ts";
import type { Context } from "../usecase.ts";
import { openEndsOf } from "./open-ends.ts";
import { findingsStanding } from "./verdict-standing.ts";

type AnnounceContext = Pick<Context, "ids" | "now">;

/**
 * Records the end of a phase of a run, and tells the run's coordinator if it has to act: all its workers have ended,
 * and nothing else will start a turn of it. Each set of workers (names and generations) is announced once; a set that
 * grew is another set.
 */
export async function announcePhases(
  tx: Tx,
  context: AnnounceContext,
  run: Run,
  everybody: readonly Agent[],
): Promise<void> {
  const { ids, now } = context;
  const { id: runId, coordinatorName } = run;
  const newest = coordinatorName === null ? everybody : teamOf(coordinatorName, everybody);
  const set = endedWorkers(newest);
  if (set.length === 0) return;
  const key = ids.digest(set.join("\n"));
  if (await notice(tx, { kind: "phase", about: runId, key })) {
    const phase = endedPhase(newest, await announcedBefore(tx, runId));
    const level = phase.zombies > 0 ? "warn" : "info";
    await record(tx, now, { source: "engine", runId, type: "run_phase", level, data: factsOf(phase) });
  }
  if (coordinatorName === null || run.status !== "active") return;
  if (await goesOnByItself(tx, { runId, name: coordinatorName, now }, newest)) return;
  const recipient = await readerFor(tx, coordinatorName);
  const told = { kind: "phase", about: runId, key: `told:${key}` } as const;
  if (!(await isToBeTold(tx, told, recipient.name, ({ workers }) => isSame(workers, set)))) return;
  const phase = endedPhase(newest, await announcedBefore(tx, runId));
  const open = await tx.tasks.list({ runId, unclosed: true });
  const unhanded: string[] = [];
  for (const agent of newest) {
    if (agent.outcome === "done" && agent.branch !== null && (await landedNowhere(tx, agent)))
      unhanded.push(agent.branch);
  }
  await post(tx, context, {
    ...fromEngine,
    runId,
    address: recipient.name,
    recipients: [recipient],
    ...phaseText(phase, { runId, openTasks: open.map(({ id }) => id), isLed: recipient.wake, unhanded }),
    type: "status",
    priority: "high",
    payload: JSON.stringify(factsOf(phase)),
  });
}

const factsOf = ({ name, agents, completed, zombies, capabilities, set }: Phase) => ({
  phase: name,
  workerCount: agents.length,
  completed,
  zombies,
  capabilities,
  workers: set,
});

/**
 * Nothing is to be decided now: a turn of the coordinator runs or will start, it waits for an answer, a lead goes on, a
 * branch is landing, or all agents are released, which is told by itself. A coordinator that has ended decides nothing;
 * the command that stops it says what becomes of the run.
 */
async function goesOnByItself(
  tx: Tx,
  { runId, name, now }: { readonly runId: string; readonly name: string; readonly now: number },
  team: readonly Agent[],
): Promise<boolean> {
  if (team.some((agent) => !hasEnded(agent))) return true;
  if ((await tx.merges.list({ runId, statuses: openMergeStatuses, limit: 1 })).length > 0) return true;
  const coordinator = await tx.agents.byName(name);
  if (coordinator === undefined) return false;
  if (hasEnded(coordinator)) return coordinator.outcome === "stopped" && coordinator.endedAt === now;
  if (!team.some(isOpen)) return true;
  if ((await tx.turns.runningFor(coordinator.id)) !== undefined) return true;
  if ((await tx.turns.queuedFor(coordinator.id)) !== undefined || (await tx.deliveries.hasWaking(name))) return true;
  // While it is parked its mail waits with it. Any other wait has a party that can end it: vain waits were removed.
  return (await tx.waits.of(name)).some(({ kind }) => !isParking(kind));
}

/** May this be told? A notice that was withdrawn before it was read counts as not told. */
async function isToBeTold(
  tx: Tx,
  about: Parameters<typeof notice>[1],
  reader: string,
  isThis: (payload: Readonly<Record<string, unknown>>) => boolean,
): Promise<boolean> {
  if (await notice(tx, about)) return true;
  const filter = { to: reader, from: fromEngine.from, type: "status", runId: about.about, limit: remembered } as const;
  const newest = (await tx.messages.list(filter)).find(({ payload }) => isThis(payloadFields(payload)));
  return newest !== undefined && (await tx.deliveries.get(newest.seq, reader))?.state === "cancelled";
}

const isSame = (told: unknown, set: readonly string[]): boolean =>
  Array.isArray(told) && told.length === set.length && set.every((tag, index) => told[index] === tag);

/** How far back the last announcement may lie among the engine's own messages of the run. */
const remembered = 50;

/** The agents that the last announcement covered. Forgetting it costs nothing but a longer list in the next. */
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
 * Tells the coordinator of a run that no agent works for it any more and nothing of it waits to land, once for each set
 * of agents: only then can it end the run. A coordinator at work is told when its turn has ended, if it has not ended
 * the run by then.
 */
export async function announceFinished(
  tx: Tx,
  context: AnnounceContext,
  run: Run,
  everybody: readonly Agent[],
): Promise<void> {
  const { id: runId, coordinatorName } = run;
  const coordinator = coordinatorName === null ? undefined : await tx.agents.byName(coordinatorName);
  if (run.status !== "active" || coordinator === undefined || hasEnded(coordinator)) return;
  if ((await tx.turns.runningFor(coordinator.id)) !== undefined) return;
  if ((await tx.waits.of(coordinator.name)).some(({ kind }) => kind === "reply")) return;
  const workers = everybody.filter(({ capability }) => !isIn("persistent", capability));
  if (workers.some(isOpen)) return;
  if ((await tx.merges.list({ runId, statuses: openMergeStatuses, limit: 1 })).length > 0) return;
  // The end of what the operator slung into the run is no news for its coordinator, which was told about its own before.
  const own = teamOf(coordinator.name, workers);
  if (own.length === 0) return;
  const set = own.map(({ name, generation }) => `${name}#${generation}`).toSorted();
  const told = { kind: "finished", about: runId, key: context.ids.digest(set.join("\n")) } as const;
  const isThis = ({ finished, agents }: Readonly<Record<string, unknown>>) => finished === true && isSame(agents, set);
  if (!(await isToBeTold(tx, told, coordinator.name, isThis))) return;
  const findings = await findingsStanding(tx, run);
  const open = [...(await openEndsOf(tx, run, coordinator.name)), ...(findings === undefined ? [] : [findings])];
  await post(tx, context, {
    ...fromEngine,
    runId,
    address: coordinator.name,
    recipients: [
      { name: coordinator.name, wake: true, reason: "every agent of the run is released, and the run can be ended" },
    ],
    subject: `[ENGINE] nobody works for run ${runId} any more`,
    body: [
      `${workers.length === 1 ? "The one agent of the run is" : `All ${workers.length} agents of the run are`} released, and no branch waits to land.`,
      ...(open.length === 0 ? [] : ["Still open:", ...openLines(open)]),
      open.length === 0
        ? "If the objective is reached, end the run with: ov run complete"
        : "It is refused to end the run before each of these is settled. Then: ov run complete",
      "If the objective is not reached, sling what is missing.",
    ].join("\n"),
    type: "status",
    priority: "high",
    payload: JSON.stringify({ finished: true, agents: set }),
  });
}

const isOpen = (agent: Agent): boolean => agent.state !== "zombie" && agent.releasedAt === null;
