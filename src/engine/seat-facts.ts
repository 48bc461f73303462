import type { Agent } from "../domain/agent/agent.ts";
import { startAgain } from "../domain/agent/status.ts";
import { nextDelivery } from "../domain/mail/delivery.ts";
import type { MergeEntry } from "../domain/merge/entry.ts";
import type { Tx } from "../ports/store.ts";
import type { Seat, UnfilledSubmodule } from "../ports/worktrees.ts";
import { endAgent } from "../usecases/agents/end-agent.ts";
import { record } from "../usecases/events/record.ts";
import { reportDead } from "../usecases/mail/dead-mail.ts";
import { readerOfNotice } from "../usecases/mail/hand-on.ts";
import { fromEngine, post } from "../usecases/mail/post.ts";
import type { EnginePorts } from "./ports.ts";

type FactPorts = Pick<EnginePorts, "ids" | "clock">;

/** The agent has its worktree. `without`: the open entry that would bring the target's newest commits to its start. */
export async function seated(
  tx: Tx,
  ports: FactPorts,
  agent: Agent,
  seat: Seat & { readonly baseRef: string; readonly without: MergeEntry | undefined },
): Promise<void> {
  const { path, identity, branch, baseRef, baseCommit, without } = seat;
  await tx.agents.seated(agent.id, {
    worktreePath: path,
    worktreeIdentity: identity,
    branch,
    baseRef,
    baseCommit,
  });
  const data = { worktree: path, branch, baseCommit };
  await record(tx, ports.clock.now(), { source: "engine", agent, type: "seated", data });
  if (without !== undefined) await tellWithout(tx, ports, agent, without);
  if (seat.unfilled !== undefined) await tellUnfilled(tx, ports, agent, seat.unfilled);
  if (seat.putAside !== undefined) await tellPutAside(tx, ports, agent, { path, putAside: seat.putAside });
}

/** The agent and its parent read what the start lacks. */
async function tellWithout(tx: Tx, ports: FactPorts, agent: Agent, entry: MergeEntry): Promise<void> {
  const { name, parentName } = agent;
  const { id, branch, targetBranch, headCommit, causeDetail } = entry;
  const why = causeDetail === null ? "has not ended yet" : `is not through: ${causeDetail.message}`;
  await tell(tx, ports, agent, {
    recipients: [...new Set([name, parentName])],
    subject: `[ENGINE] ${name} starts without the newest commits of ${branch}`,
    body: `${name} starts at the tip of ${targetBranch}, which lacks ${branch} at ${headCommit.slice(0, 12)}. Merge ${id}, which brings these commits, ${why}. They come together when the work lands. See it: ov merge show ${id}`,
  });
}

/** Tells the parent and the operator of the directory that was moved away: its owner may miss it. */
async function tellPutAside(
  tx: Tx,
  ports: FactPorts,
  agent: Agent,
  { path, putAside }: { readonly path: string; readonly putAside: string },
): Promise<void> {
  const { name, parentName } = agent;
  await tell(tx, ports, agent, {
    recipients: [...new Set([parentName, "operator"])],
    subject: `[ENGINE] something else stood in the place of the worktree of ${name}`,
    body: `${path} was not the worktree that ${name} was given. It was moved to ${putAside}, and the branch was checked out afresh.`,
  });
  const fact = { type: "stand_in_put_aside", level: "warn", data: { path, putAside } } as const;
  await record(tx, ports.clock.now(), { source: "engine", agent, ...fact });
}

/** The agent reads it with its task; its parent can do something about it. */
async function tellUnfilled(
  tx: Tx,
  ports: FactPorts,
  agent: Agent,
  unfilled: readonly UnfilledSubmodule[],
): Promise<void> {
  const { name, parentName } = agent;
  const lines = unfilled.map(
    ({ path, problem, fix }) => `- ${path}: ${problem}${fix === null ? "" : `. In the project's checkout: ${fix}`}`,
  );
  await tell(tx, ports, agent, {
    recipients: [...new Set([name, parentName])],
    subject: `[ENGINE] empty submodules in the worktree of ${name}`,
    body: `These submodules could not be filled from what is on this machine, so their directories are empty:\n${lines.join("\n")}`,
  });
  const fact = { type: "submodules_unfilled", level: "warn", data: { unfilled } } as const;
  await record(tx, ports.clock.now(), { source: "engine", agent, ...fact });
}

/** Sends mail of the engine that wakes no agent. */
export async function tell(
  tx: Tx,
  ports: FactPorts,
  { name, runId }: Agent,
  letter: { readonly recipients: readonly string[]; readonly subject: string; readonly body: string },
): Promise<void> {
  const { recipients, ...text } = letter;
  await post(
    tx,
    { ids: ports.ids, now: ports.clock.now() },
    {
      ...text,
      ...fromEngine,
      runId,
      address: name,
      recipients: recipients.map((to) => ({ name: to, wake: false })),
      type: "status",
      priority: "normal",
    },
  );
}

/**
 * No process ever ran, so no work can be lost: the agent ends, its task is free again, and its parent learns why. The
 * dispatch message is sent anew with the next try; other mail is reported as not delivered.
 */
export async function startFailed(tx: Tx, ports: FactPorts, agent: Agent, problem: string): Promise<void> {
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
  const context = { ids: ports.ids, now };
  const mayRecover = agent.generation > 1;
  for (const { message, delivery } of await tx.deliveries.inState(agent.name, ["queued"])) {
    const isItsBrief = message.createdAt === agent.startedAt;
    const reason = "the agent could not start";
    const next = nextDelivery(delivery, isItsBrief ? { kind: "cancel", reason } : { kind: "kill", error: reason }, now);
    if (!next.ok) continue;
    await tx.deliveries.update(next.value);
    if (!isItsBrief) await reportDead(tx, context, { message, delivery: next.value }, { readerEnds: mayRecover });
  }
  const task = agent.taskId === null ? undefined : await tx.tasks.get(agent.taskId);
  if (task?.claimedBy === agent.name) {
    await tx.tasks.update({ ...task, status: "open", claimedBy: null, mergeState: "none", updatedAt: now });
  }
  await post(tx, context, {
    ...fromEngine,
    runId: agent.runId,
    address: agent.parentName,
    recipients: [{ name: await readerOfNotice(tx, agent.parentName), wake: true }],
    subject: `[ENGINE] could not start ${agent.name}`,
    body: [
      `${agent.name} (${agent.capability}) has no worktree: ${problem}. Its task is open again.`,
      `Next: mend that, then ${startAgain(agent) ?? "start it again"}`,
    ].join("\n"),
    type: "error",
    priority: "high",
  });
  await record(tx, ports.clock.now(), { source: "engine", agent, type: "start_failed", data: { problem } });
}
