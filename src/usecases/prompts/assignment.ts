import { type Agent, hasEnded, newestPerName } from "../../domain/agent/agent.ts";
import { canonical, isIn } from "../../domain/agent/capability.ts";
import { type Assignment, readAsked, type Sibling, type Subject } from "../../domain/role/assignment.ts";
import type { TaskCriterion } from "../../domain/run/checklist.ts";
import type { Run } from "../../domain/run/run.ts";
import type { Tx } from "../../ports/store.ts";
import { workUnderReview } from "../completions/role-facts.ts";

/** What an agent works on now, from what is stored. Reads only. */
export async function assignmentOf(tx: Tx, agent: Agent): Promise<Assignment> {
  const asked = readAsked(agent.instructions);
  const task = agent.taskId === null ? undefined : await tx.tasks.get(agent.taskId);
  const spec = agent.taskId === null ? undefined : await tx.specs.get(agent.taskId);
  const parent = await tx.agents.byName(agent.parentName);
  const run = await tx.runs.get(agent.runId);
  return {
    agent,
    parentCapability: parent?.capability ?? null,
    task: task === undefined ? null : { title: task.title, description: task.description },
    objective: run?.objective ?? null,
    criteria: await criteriaFor(tx, agent, run),
    hasSpec: spec !== undefined,
    asked,
    siblings: isIn("persistent", agent.capability) ? [] : await siblingsOf(tx, agent, asked.siblings),
    subject: canonical(agent.capability) === "reviewer" ? await subjectOf(tx, agent) : null,
  };
}

/**
 * The criteria that the agent's task serves. A task of a lead's builder that names none serves those of the lead, and so on
 * upwards. A coordinator answers for all of them.
 */
async function criteriaFor(tx: Tx, agent: Agent, run: Run | undefined): Promise<Assignment["criteria"]> {
  if (run === undefined) return [];
  const wanted = (await tx.criteria.of(run.id)).filter(({ waivedAt }) => waivedAt === null);
  const all = wanted.map(({ number, text }) => ({ number, text }));
  if (all.length === 0 || isIn("persistent", agent.capability)) return all;
  const visited = new Set<string>();
  for (let one: Agent | undefined = agent; one !== undefined && !visited.has(one.name); ) {
    visited.add(one.name);
    const served: readonly TaskCriterion[] = one.taskId === null ? [] : await tx.criteria.ofTask(one.taskId);
    if (served.length > 0) return all.filter(({ number }) => served.some((own) => own.number === number));
    one = await tx.agents.byName(one.parentName);
  }
  return [];
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
  return { name, branch, baseCommit, headCommit };
}
