import { operatorMay } from "../../domain/agent/admission.ts";
import type { Agent, AgentOutcome } from "../../domain/agent/agent.ts";
import { canonical } from "../../domain/agent/capability.ts";
import { forwardNote } from "../../domain/mail/forwarding.ts";
import { isLastReviewer } from "../../domain/run/run.ts";
import { isDropped } from "../../domain/task/change.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Tx } from "../../ports/store.ts";
import { notice } from "../events/record.ts";
import { readerOfNotice } from "../mail/hand-on.ts";
import { noteForward, post } from "../mail/post.ts";
import { keepGoing } from "../runs/keep-going.ts";
import { isAskedForMore } from "./asked-for-more.ts";
import { childrenInWords } from "./find-agent.ts";
import { landedNowhere } from "./held-agents.ts";
import { release } from "./release-agent.ts";
import { changeState } from "./reopen-agent.ts";
import { startIdle } from "./turns-ahead.ts";

/** How an agent ends. */
export interface AgentEnd {
  readonly state: "completed" | "zombie";
  readonly outcome: AgentOutcome;
  readonly actor: string;
  readonly reason: string;
  /** Why its parent must be told that it ended without finishing; null when it finished. */
  readonly death: string | null;
  /** What a person can do about that, with the command to type. */
  readonly advice?: string | null;
  /** A sentence about work of the agent that is neither in its worktree nor on its branch. */
  readonly kept?: string | undefined;
  readonly turnId: string | null;
  readonly exit?: { readonly code: number | null; readonly signal: string | null };
}

export interface EndContext {
  readonly ids: Ids;
  readonly now: number;
  /** `watchdog.notifyParentOnDeath`; parents are told unless it is switched off. */
  readonly notifyDeaths?: boolean;
}

/**
 * Ends an agent: drops its queued turns, ends the waits of other agents for it, and tells its parent once. Every cause
 * of an end comes through here, in the transaction that knows the cause. False when the agent had ended before.
 */
export async function endAgent(tx: Tx, context: EndContext, agent: Agent, end: AgentEnd): Promise<boolean> {
  const { ids, now } = context;
  const { state: to, actor, reason, outcome } = end;
  if (!(await changeState(tx, agent, { to, actor, reason, outcome }, now))) return false;
  await tx.turns.cancelQueued(agent.id, now);
  await endParking(tx, agent);
  const waited = await tx.waits.resolve("child", agent.name);
  const dropped = await isDroppedWithTask(tx, agent);
  const told = end.death !== null && context.notifyDeaths !== false && !dropped && !(await stoppedByParent(tx, agent));
  if (told) await announceDeath(tx, { ids, now }, agent, end);
  // Mail that came before the end and asks for more reopens the agent in this transaction, and its parent waits for it
  // again. Other mail, as that its branch has landed, does not.
  const goesOn = outcome === "done" && (await isAskedForMore(tx, agent));
  const over = `${agent.name} has ended, and nothing else that was waited for is left`;
  if (!goesOn) for (const name of waited) await startIdle(tx, { ids, now }, name, over);
  const ended = dropped ? await tx.agents.get(agent.id) : undefined;
  if (ended !== undefined) await release(tx, { ids, now }, ended, "its task was dropped");
  await keepGoing(tx, { ids, now }, agent.runId);
  return true;
}

/**
 * Was the agent stopped because its task, or the task of an agent above it, was dropped? All agents concerned were told
 * when the task was dropped. The agent is released with its end, whichever process puts the end on record.
 */
async function isDroppedWithTask(tx: Tx, { id }: Agent): Promise<boolean> {
  const seen = new Set<string>();
  let one = await tx.agents.get(id);
  while (one !== undefined && one.stopRequestedBy !== null && !seen.has(one.id)) {
    const task = one.taskId === null ? undefined : await tx.tasks.get(one.taskId);
    if (task !== undefined && isDropped(task)) return true;
    seen.add(one.id);
    one = await tx.agents.byName(one.parentName);
  }
  return false;
}

/**
 * Ends the agent's waits for budgets and providers. If the agent is reopened, its first turn meets the limits of that
 * time.
 */
async function endParking(tx: Tx, { name }: Agent): Promise<void> {
  for (const { kind, ref } of await tx.waits.of(name)) {
    if (kind === "budget" || kind === "rate_limit") await tx.waits.remove(name, kind, ref);
  }
}

/** A parent that stopped it itself, the operator included, knows. */
async function stoppedByParent(tx: Tx, { id, parentName }: Agent): Promise<boolean> {
  return (await tx.agents.get(id))?.stopRequestedBy === parentName;
}

async function announceDeath(
  tx: Tx,
  { ids, now }: { ids: Ids; now: number },
  agent: Agent,
  end: AgentEnd,
): Promise<void> {
  if (!(await notice(tx, { kind: "worker_died", about: agent.id }))) return;
  const { parentName } = agent;
  // A parent that has ended reads nothing; a notice that stays with it would leave the whole line above asleep.
  const reader = await readerOfNotice(tx, parentName);
  const isForwarded = reader !== parentName;
  const what = `${agent.capability}${agent.taskId === null ? "" : ` on ${agent.taskId}`}`;
  // A stop on purpose is news for the parent, who waited for the agent, but no death.
  const isStop = end.outcome === "stopped";
  const how = isStop ? `was ended on purpose, ${end.death}` : `ended without finishing: ${end.death}`;
  const run = await tx.runs.get(agent.runId);
  const isLast = run !== undefined && isLastReviewer(run, agent);
  const givesUp = reader !== "operator" && (await landedNowhere(tx, agent));
  const letGo = `ov release ${agent.name}${givesUp ? ' --reason "<why>"' : ""}`;
  const below = await childrenInWords(tx, agent);
  const goOn = `Below it: ${below}. They go on, and what they write to it comes to ${reader} until it is recovered.`;
  const letter = await post(
    tx,
    { ids, now },
    {
      from: agent.name,
      fromAgentId: null,
      byEngine: true,
      runId: agent.runId,
      verified: true,
      address: parentName,
      recipients: [{ name: reader, wake: true, ...(isStop ? { reason: "an agent below it was stopped" } : {}) }],
      subject: `[ENGINE] ${isStop ? "stopped" : "worker_died"}: ${agent.name}`,
      body: [
        `${agent.name} (${what}) ${how}. ${end.kept ?? "Its worktree and branch are kept."}`,
        ...(below === undefined ? [] : [goOn]),
        `Next: ${end.advice ?? (isLast ? nextOfLastReview(agent) : nextStep(agent, end, letGo))}${isForwarded ? forwardNote(parentName, { type: "worker_died", payload: null }) : ""}`,
      ].join("\n"),
      type: isStop ? "status" : "worker_died",
      priority: "high",
      payload: JSON.stringify({
        agentName: agent.name,
        capability: agent.capability,
        taskId: agent.taskId ?? "",
        reason: end.death,
        lastActivity: new Date(agent.lastActivityAt).toISOString(),
        terminatedBy: terminator[end.actor] ?? "runner",
        outcome: end.outcome,
        exitCode: end.exit?.code ?? null,
        signal: end.exit?.signal ?? null,
        turnId: end.turnId,
        generation: agent.generation,
        worktree: agent.worktreePath,
        branch: agent.branch,
        hasUncommittedWork: agent.dirty,
        commits: agent.ahead,
        headCommit: agent.headCommit,
      }),
    },
  );
  if (isForwarded) await noteForward(tx, letter, parentName, reader);
}

/** What the reader can do where the cause of the end names nothing better. */
/** No agent of a run slings its last reviewer: the attempt to end the run starts one, or asks the operator. */
const nextOfLastReview = ({ name }: Agent): string =>
  `let it go on: ov recover ${name}; or have another one read: ov release ${name}, then ov run complete`;

/** `letGo`: the command that releases the agent. Another agent says with it why work is given up. */
function nextStep(agent: Agent, { outcome }: AgentEnd, letGo: string): string {
  const { name, taskId, capability } = agent;
  const sling = slingAnother(agent);
  const another = sling === undefined ? `let it go: ${letGo}` : `${letGo}, then ${sling}`;
  if (outcome === "stopped") {
    // The task of a reviewer is that of the agent whose work it reads.
    const drop =
      taskId === null || capability === "reviewer"
        ? ""
        : `; to give the task up: ov task drop ${taskId} --reason "<why>"`;
    return `to give its task to another agent: ${another}${drop}`;
  }
  return `let it go on: ov recover ${name}; or give its task to another agent: ${another}`;
}

/** The command that starts another agent of the same kind on its task; undefined when it has no task. */
function slingAnother({ taskId, capability, parentName }: Agent): string | undefined {
  if (taskId === null) return undefined;
  const kind = capability === "builder" ? "" : ` --capability ${capability}`;
  const isBelowLeads = parentName === "operator" && !operatorMay.includes(canonical(capability));
  return `ov sling ${taskId}${kind}${isBelowLeads ? " --force-hierarchy" : ""}`;
}

/** The word of the notice for each party that can end an agent. */
const terminator: Readonly<Record<string, string>> = {
  operator: "operator",
  watchdog: "tier0",
  engine: "runner",
  supervisor: "runner",
};
