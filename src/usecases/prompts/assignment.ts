import { type Agent, hasEnded, newestPerName } from "../../domain/agent/agent.ts";
import { canonical, isIn } from "../../domain/agent/capability.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import {
  type Assignment,
  type Predecessor,
  type ReviewBefore,
  readAsked,
  type Sibling,
  type Subject,
} from "../../domain/role/assignment.ts";
import type { TaskCriterion } from "../../domain/run/checklist.ts";
import { isLastReviewer, type Run } from "../../domain/run/run.ts";
import type { Tx } from "../../ports/store.ts";
import { workUnderReview } from "../completions/role-facts.ts";
import { decisionsMade } from "../operator/decisions.ts";

/** What an agent works on now, from what is stored. Reads only. */
export async function assignmentOf(tx: Tx, agent: Agent): Promise<Assignment> {
  const asked = readAsked(agent.instructions);
  const task = agent.taskId === null ? undefined : await tx.tasks.get(agent.taskId);
  const spec = agent.taskId === null ? undefined : await tx.specs.get(agent.taskId);
  const parent = await tx.agents.byName(agent.parentName);
  const run = await tx.runs.get(agent.runId);
  const readsWhole = run !== undefined && isLastReviewer(run, agent);
  return {
    agent,
    parentCapability: parent?.capability ?? null,
    task: task === undefined ? null : { title: task.title, description: task.description },
    objective: run?.objective ?? null,
    ...(await criteriaFor(tx, agent, run)),
    hasSpec: spec !== undefined,
    specDigest: spec?.digest ?? null,
    asked,
    siblings: isIn("persistent", agent.capability) ? [] : await siblingsOf(tx, agent, asked.siblings),
    subject: canonical(agent.capability) === "reviewer" ? await subjectOf(tx, agent) : null,
    reviewBefore: canonical(agent.capability) === "reviewer" ? await reviewBefore(tx, agent) : null,
    decisions: canonical(agent.capability) === "reviewer" ? await decisionsMade(tx, agent.runId) : [],
    readsWhole,
    waived: run !== undefined && readsWhole ? await waivedCriteria(tx, run) : [],
    predecessor: isIn("implementation", agent.capability) ? await predecessorOf(tx, agent) : null,
  };
}

/**
 * The criteria that the agent's task serves. A task of a lead's builder that names none serves those of the lead, and so on
 * upwards. A coordinator answers for all of them.
 */
async function criteriaFor(
  tx: Tx,
  agent: Agent,
  run: Run | undefined,
): Promise<Pick<Assignment, "criteria" | "isPart">> {
  if (run === undefined) return { criteria: [], isPart: false };
  const wanted = (await tx.criteria.of(run.id)).filter(({ waivedAt }) => waivedAt === null);
  const all = wanted.map(({ number, text }) => ({ number, text }));
  if (all.length === 0 || isIn("persistent", agent.capability)) return { criteria: all, isPart: false };
  const visited = new Set<string>();
  for (let one: Agent | undefined = agent; one !== undefined && !visited.has(one.name); ) {
    visited.add(one.name);
    const served: readonly TaskCriterion[] = one.taskId === null ? [] : await tx.criteria.ofTask(one.taskId);
    if (served.length > 0) {
      const criteria = all.filter(({ number }) => served.some((own) => own.number === number));
      return { criteria, isPart: one !== agent };
    }
    one = await tx.agents.byName(one.parentName);
  }
  return { criteria: [], isPart: false };
}

async function waivedCriteria(tx: Tx, { id }: Run): Promise<Assignment["waived"]> {
  const waived = (await tx.criteria.of(id)).filter(({ waivedAt }) => waivedAt !== null);
  return waived.map(({ number, text, waiveReason }) => ({ number, text, reason: waiveReason ?? "" }));
}

/** The newest verdict of another reviewer on the work that this reviewer judges. */
async function reviewBefore(tx: Tx, reviewer: Agent): Promise<ReviewBefore | null> {
  const branch = (await workUnderReview(tx, reviewer))?.branch ?? reviewer.baseRef;
  if (branch === null) return null;
  const given = (await tx.messages.list({ type: "review", runId: reviewer.runId })).filter(
    ({ fromAgentId, replyTo, createdAt, payload }) =>
      fromAgentId !== reviewer.id &&
      replyTo === null &&
      createdAt <= reviewer.startedAt &&
      payloadFields(payload).branch === branch,
  );
  const last = given.toSorted((a, b) => a.seq - b.seq).at(-1);
  if (last === undefined) return null;
  return { by: last.fromAgent, verdict: String(payloadFields(last.payload).verdict ?? ""), findings: last.body };
}

/** The newest other agent that began this task, unless its work landed or nothing of it is left. */
async function predecessorOf(tx: Tx, agent: Agent): Promise<Predecessor | null> {
  if (agent.taskId === null) return null;
  const others = newestPerName(await tx.agents.list({ taskId: agent.taskId })).filter(
    ({ name, capability, startedAt }) =>
      name !== agent.name && startedAt <= agent.startedAt && isIn("implementation", capability),
  );
  const last = others.toSorted((a, b) => a.startedAt - b.startedAt).at(-1);
  if (last === undefined || last.branch === null || !hasEnded(last)) return null;
  const [entry] = await tx.merges.list({ branch: last.branch, limit: 1 });
  if (entry?.status === "merged") return null;
  const { name, branch, baseCommit, headCommit, ahead } = last;
  const kept = (await tx.snapshots.of(name)).findLast(({ generation }) => generation === last.generation);
  const snapshot = kept === undefined || kept.commitId === headCommit || !last.dirty ? null : kept.ref;
  return ahead === 0 && snapshot === null ? null : { name, branch, baseCommit, headCommit, ahead, snapshot };
}

/** The agents that the sling named, and the agents of the same run and parent that own files. */
async function siblingsOf(tx: Tx, agent: Agent, named: readonly string[]): Promise<readonly Sibling[]> {
  const beside = await tx.agents.list({ runId: agent.runId, parentName: agent.parentName, live: true });
  const owners = beside.filter(({ name, scope }) => name !== agent.name && (scope.length > 0 || named.includes(name)));
  const known = newestPerName(owners).map(siblingFrom);
  const strange = named.filter((name) => name !== agent.name && !known.some((sibling) => sibling.name === name));
  const others: Sibling[] = [];
  for (const name of strange) {
    const found = await tx.agents.byName(name);
    if (found === undefined) others.push({ name, capability: null, branch: null, scope: [] });
    else if (!hasEnded(found)) others.push(siblingFrom(found));
  }
  return [...known, ...others];
}

const siblingFrom = ({ name, capability, branch, scope }: Agent): Sibling => ({ name, capability, branch, scope });

async function subjectOf(tx: Tx, reviewer: Agent): Promise<Subject | null> {
  const work = await workUnderReview(tx, reviewer);
  if (work === undefined || work.branch === null) return null;
  const { name, branch, baseCommit, headCommit } = work;
  const accepted = (await tx.checks.completionsOf(work.id)).findLast(({ status }) => status === "done");
  const summary = accepted?.request.kind === "completion" ? accepted.request.done.summary : null;
  return { name, branch, baseCommit, headCommit, summary };
}
