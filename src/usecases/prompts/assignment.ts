import { type Agent, hasEnded, newestPerName } from "../../domain/agent/agent.ts";
import { canonical, isIn } from "../../domain/agent/capability.ts";
import { type Assignment, readAsked, type Sibling, type Subject } from "../../domain/role/assignment.ts";
import type { Tx } from "../../ports/store.ts";
import { workUnderReview } from "../completions/role-facts.ts";

/** What an agent works on now, from what is stored. Reads only. */
export async function assignmentOf(tx: Tx, agent: Agent): Promise<Assignment> {
  const asked = readAsked(agent.instructions);
  const task = agent.taskId === null ? undefined : await tx.tasks.get(agent.taskId);
  const spec = agent.taskId === null ? undefined : await tx.specs.get(agent.taskId);
  const parent = await tx.agents.byName(agent.parentName);
  return {
    agent,
    parentCapability: parent?.capability ?? null,
    task: task === undefined ? null : { title: task.title, description: task.description },
    objective: isIn("persistent", agent.capability) ? ((await tx.runs.get(agent.runId))?.objective ?? null) : null,
    hasSpec: spec !== undefined,
    asked,
    siblings: isIn("persistent", agent.capability) ? [] : await siblingsOf(tx, agent, asked.siblings),
    subject: canonical(agent.capability) === "reviewer" ? await subjectOf(tx, agent) : null,
  };
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
