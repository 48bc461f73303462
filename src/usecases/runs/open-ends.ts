import { type Agent, hasEnded, isSubmitted, newestPerName } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import { openMergeStatuses } from "../../domain/merge/entry.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { ok } from "../../domain/result.ts";
import { type Lack, type OpenEnd, openEnds, type Question, type UnhandedWork } from "../../domain/run/open-ends.ts";
import { isLastReviewer, type Run } from "../../domain/run/run.ts";
import { noFields } from "../../domain/schema/schema.ts";
import type { Task } from "../../domain/task/task.ts";
import type { Tx } from "../../ports/store.ts";
import { goesAfterTurn, landedNowhere } from "../agents/held-agents.ts";
import { nearestLiveAncestor } from "../mail/hand-on.ts";
import { heirOf, openDecisions, openQuestions } from "../operator/decisions.ts";
import type { UseCase } from "../usecase.ts";
import { checklist } from "./checklist.ts";
import { runFlagFor } from "./read-runs.ts";

/** What keeps this run from ending, as it is now, with what this reader may do about it. */
export async function openEndsOf(
  tx: Tx,
  run: Run,
  reader: string,
  lacks: readonly Lack[] = [],
): Promise<readonly OpenEnd[]> {
  const agents = newestPerName(await tx.agents.list({ runId: run.id }));
  const open = await openAgents(tx, run, agents);
  const landing = await tx.merges.list({ runId: run.id, statuses: openMergeStatuses });
  const facts = {
    runId: run.id,
    tasks: await openTasksOf(tx, run, agents),
    agents: open,
    unhanded: await unhandedOf(tx, open),
    holders: agents,
    landing,
    criteria: (await checklist(tx, run)).criteria,
    questions: reader === run.coordinatorName ? await unanswered(tx, run, reader) : [],
    lacks,
  };
  return openEnds(facts, reader, await runFlagFor(tx, reader, run.id));
}

/** What the coordinator asked the operator, and decisions that it acts on in place of an agent that finished. Whether to do without the last review is the engine's question. */
async function unanswered(tx: Tx, { id }: Run, coordinator: string): Promise<readonly Question[]> {
  const decisions = (await openDecisions(tx, { runId: id })).filter(({ kind }) => kind === "decision");
  const own: Question[] = [];
  for (const question of [...decisions, ...(await openQuestions(tx, { runId: id }))]) {
    const heir = question.from === coordinator ? undefined : await heirOf(tx, { fromAgent: question.from, runId: id });
    if ((heir ?? question.from) !== coordinator) continue;
    const message = await tx.messages.get(question.id);
    if (message !== undefined && message.fromAgentId !== null) own.push(question);
  }
  return own;
}

/** An active run, and what `ov clean` would leave open of it. Agents are released by the same command. */
export interface OpenRun {
  readonly runId: string;
  readonly open: readonly string[];
}

/** More runs than a project has active at a time. */
const mostRuns = 1000;

export const listOpenRuns: UseCase<object, { readonly runs: readonly OpenRun[] }> = {
  kind: "read",
  request: noFields,
  operatorOnly: true,
  run: async (tx, { caller }) => {
    const runs: OpenRun[] = [];
    for (const run of await tx.runs.list(mostRuns)) {
      if (run.status !== "active") continue;
      const open = (await openEndsOf(tx, run, caller.name)).filter(({ kind }) => kind !== "agent");
      runs.push({ runId: run.id, open: open.map(({ what }) => what) });
    }
    return ok({ runs });
  },
};

export const isStillOpen = async (
  tx: Tx,
  run: Pick<Run, "id">,
  caller: Caller,
  open: readonly OpenEnd[],
): Promise<Refusal> => ({
  kind: "run-open",
  which: await runFlagFor(tx, caller.name, run.id),
  run: run.id,
  agents: namesOf(open, "agent"),
  branches: namesOf(open, "branch"),
  tasks: namesOf(open, "task"),
  criteria: namesOf(open, "criterion").map(Number),
  open: open.map(({ what, fix }) => ({ what, fix })),
  mayForce: caller.kind !== "agent",
});

const namesOf = (open: readonly OpenEnd[], kind: OpenEnd["kind"]): readonly string[] =>
  open.filter((end) => end.kind === kind).map(({ name }) => name);

/** An agent whose report is being read goes by itself when that turn ends: no action is needed for it. */
async function openAgents(tx: Tx, run: Run, agents: readonly Agent[]): Promise<readonly Agent[]> {
  const open: Agent[] = [];
  for (const agent of agents) {
    if (!isOpen(agent) || (hasEnded(agent) && isLastReviewer(run, agent))) continue;
    if (!(await goesAfterTurn(tx, agent))) open.push(agent);
  }
  return open;
}

async function unhandedOf(tx: Tx, agents: readonly Agent[]): Promise<readonly UnhandedWork[]> {
  const found: UnhandedWork[] = [];
  for (const agent of agents) {
    const { name: agentName, branch, taskId } = agent;
    if (branch === null || agent.outcome !== "done" || !isSubmitted(agent) || !(await landedNowhere(tx, agent)))
      continue;
    found.push({ agentName, branch, taskId, handsOver: await nearestLiveAncestor(tx, agent.parentName) });
  }
  return found;
}

/** Persistent agents end with the run, not before it. */
const isOpen = (agent: Agent): boolean => !isHead(agent) && agent.state !== "zombie" && agent.releasedAt === null;

/**
 * Tasks of the run that are not closed. A task that is older than the run belongs to it when an agent of the run took it
 * on and no agent of another run holds it now. The task of a coordinator that was slung with one ends with the run, and so
 * do those of last reviewers: `lastReviewOf` judges them.
 */
async function openTasksOf(tx: Tx, run: Run, agents: readonly Agent[]): Promise<readonly Task[]> {
  const runId = run.id;
  const heads = new Set(agents.filter(isHead).map(({ name }) => name));
  const tasks = new Map((await tx.tasks.list({ runId, unclosed: true })).map((task) => [task.id, task]));
  const names = new Set(agents.map(({ name }) => name));
  for (const { taskId } of agents) {
    const task = taskId === null || tasks.has(taskId) ? undefined : await tx.tasks.get(taskId);
    if (task === undefined || task.runId !== null || task.status === "closed") continue;
    if (task.claimedBy === null || names.has(task.claimedBy)) tasks.set(task.id, task);
  }
  const reviews = new Set(agents.filter((agent) => isLastReviewer(run, agent)).map(({ taskId }) => taskId));
  return [...tasks.values()].filter(
    ({ id, claimedBy }) => !reviews.has(id) && (claimedBy === null || !heads.has(claimedBy)),
  );
}

const isHead = ({ capability }: Agent): boolean => isIn("persistent", capability);
