import type { Agent } from "../domain/agent/agent.ts";
import { failureOf } from "../domain/failure.ts";
import { nextDelivery } from "../domain/mail/delivery.ts";
import type { Tx } from "../ports/store.ts";
import type { Seat } from "../ports/worktrees.ts";
import { endAgent } from "../usecases/agents/end-agent.ts";
import { post } from "../usecases/mail/post.ts";
import { type CleaningPorts, cleanUp } from "./clean-released.ts";
import { ensureLandingBranch, type LandingPorts } from "./merge/landing-branch.ts";
import type { EnginePorts } from "./ports.ts";

export type SeatPorts = CleaningPorts & LandingPorts & Pick<EnginePorts, "root" | "worktreePath" | "ids" | "report">;

/**
 * Gives every reserved agent its worktree, and says so after each: the first need not wait for the last, nor the last
 * suffer for the first. Repeating it after a crash finds what is already there.
 */
export async function seatAgents(ports: SeatPorts, onSeated: () => void): Promise<void> {
  const waiting = await ports.store.read((tx) => tx.agents.unseated());
  const busy = new Set<Promise<void>>();
  for (const agent of waiting) {
    const base = baseOf(ports, agent);
    const seating: Promise<void> = trySeat(ports, agent, base).then(() => {
      busy.delete(seating);
      onSeated();
    });
    busy.add(seating);
    // The first of a run makes the branch that its others start from.
    await Promise.allSettled([base]);
    if (busy.size >= atOnce) await Promise.race(busy);
  }
  await Promise.all(busy);
}

/** Git adds worktrees one at a time, but the files of one can be written while the next is added. */
const atOnce = 4;

/** Never rejects: what went wrong is on record, and where the record could not be written the next pass tries again. */
async function trySeat(ports: SeatPorts, agent: Agent, base: Promise<string>): Promise<void> {
  try {
    await seat(ports, agent, await base);
  } catch (error) {
    ports.report(error);
    await giveUp(ports, agent, error).catch((worse: unknown) => ports.report(worse));
  }
}

/** What keeps the whole program from working is no failure of this agent: it stays reserved, and the next pass tries again. */
async function giveUp(ports: SeatPorts, agent: Agent, error: unknown): Promise<void> {
  const failure = failureOf(error);
  if (failure.kind !== "unexpected") return;
  await ports.store.transaction((tx) => startFailed(tx, ports, agent, failure.problem));
}

async function seat(ports: SeatPorts, agent: Agent, baseRef: string): Promise<void> {
  if (agent.worktreeKind === "root") return seatAtRoot(ports, agent, baseRef);
  await makeRoom(ports, agent);
  ports.reach("seat.before-worktree");
  const created = await ports.worktrees.create({
    agentName: agent.name,
    branch: agent.branch ?? "",
    path: ports.worktreePath(agent.name),
    kind: agent.worktreeKind,
    baseRef,
  });
  ports.reach("seat.after-worktree");
  await ports.store.transaction((tx) =>
    created.ok
      ? seated(tx, ports, agent, { ...created.value, baseRef })
      : startFailed(tx, ports, agent, created.refusal.problem),
  );
  ports.reach("seat.after-fact");
}

/** A released namesake that worked on another branch may still have its worktree where this one's shall be. */
async function makeRoom(ports: SeatPorts, { name, branch }: Agent): Promise<void> {
  const released = await ports.store.read((tx) => tx.agents.toClean());
  for (const earlier of released) {
    if (earlier.name === name && earlier.branch !== branch) await cleanUp(ports, earlier);
  }
}

/** New work starts from what has landed already. Agents that only coordinate read the project's own checkout. */
async function baseOf(ports: SeatPorts, { worktreeKind, baseRef, runId }: Agent): Promise<string> {
  const { canonicalBranch } = ports.settings;
  if (worktreeKind === "root") return (await ports.worktrees.currentBranch()) ?? canonicalBranch;
  if (baseRef !== null) return baseRef;
  const run = await ports.store.read((tx) => tx.runs.get(runId));
  return (run === undefined ? undefined : await ensureLandingBranch(ports, run)) ?? canonicalBranch;
}

async function seatAtRoot(ports: SeatPorts, agent: Agent, baseRef: string): Promise<void> {
  const seat = { worktreePath: ports.root, branch: baseRef, baseRef, baseCommit: "" };
  await ports.store.transaction((tx) => tx.agents.seated(agent.id, seat));
}

async function seated(
  tx: Tx,
  ports: SeatPorts,
  agent: Agent,
  seat: Seat & { readonly baseRef: string },
): Promise<void> {
  const { path, branch, baseRef, baseCommit } = seat;
  await tx.agents.seated(agent.id, { worktreePath: path, branch, baseRef, baseCommit });
  await record(tx, ports, agent, "seated", { worktree: path, branch, baseCommit });
}

/** No process ever ran, so nothing can be lost: the agent ends, its task is free again, its parent learns why. */
async function startFailed(tx: Tx, ports: SeatPorts, agent: Agent, problem: string): Promise<void> {
  const now = ports.clock.now();
  const end = {
    state: "zombie",
    outcome: "start_failed",
    actor: "engine",
    reason: problem,
    death: null,
    turnId: null,
  } as const;
  if (!(await endAgent(tx, { ids: ports.ids, now }, agent, end))) return;
  await tx.agents.release(agent.id, now);
  for (const { delivery } of await tx.deliveries.inState(agent.name, ["queued"])) {
    const cancelled = nextDelivery(delivery, { kind: "cancel", reason: "the agent could not start" }, now);
    if (cancelled.ok) await tx.deliveries.update(cancelled.value);
  }
  const task = agent.taskId === null ? undefined : await tx.tasks.get(agent.taskId);
  if (task?.claimedBy === agent.name) {
    await tx.tasks.update({ ...task, status: "open", claimedBy: null, mergeState: "none", updatedAt: now });
  }
  await post(
    tx,
    { ids: ports.ids, now },
    {
      from: "system",
      fromAgentId: null,
      byEngine: true,
      runId: agent.runId,
      verified: true,
      address: agent.parentName,
      recipients: [{ name: agent.parentName, wake: true }],
      subject: `[ENGINE] could not start ${agent.name}`,
      body: `${agent.name} (${agent.capability}) has no worktree: ${problem}. Its task is open again.`,
      type: "error",
      priority: "high",
    },
  );
  await record(tx, ports, agent, "start_failed", { problem });
}

async function record(tx: Tx, ports: SeatPorts, agent: Agent, type: string, data: unknown): Promise<void> {
  const about = { runId: agent.runId, agentName: agent.name, agentId: agent.id };
  await tx.events.append([{ ...about, source: "engine", type, data, createdAt: ports.clock.now() }]);
}
