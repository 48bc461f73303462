import type { Agent } from "../agent/agent.ts";
import type { MergeEntry } from "../merge/entry.ts";
import { isCodeTask } from "../task/rights.ts";
import type { Task } from "../task/task.ts";
import { type Criterion, criterionStatus, evidenceOf, evidenceWords, waiveOption } from "./checklist.ts";
import { runFlag } from "./run.ts";

export const openEndKinds = ["task", "agent", "branch", "criterion", "question", "mail", "review"] as const;
export type OpenEndKind = (typeof openEndKinds)[number];

/** One thing that keeps a run from ending, and what its coordinator or the operator does about it. */
export interface OpenEnd {
  readonly kind: OpenEndKind;
  /** The id of the task, the name of the agent or of the branch, the number of the criterion, the id of the message. */
  readonly name: string;
  readonly what: string;
  /** What to do, with the command to type. */
  readonly fix: string;
}

export interface RunFacts {
  readonly runId: string;
  /** Tasks of the run that are not closed. */
  readonly tasks: readonly Pick<Task, "id" | "title" | "status" | "claimedBy" | "mergeState">[];
  /** Agents that end with a task and are neither released nor dead. */
  readonly agents: readonly Pick<Agent, "name" | "capability" | "state" | "parentName" | "taskId">[];
  /** Entries of the merge queue that are not settled. */
  readonly landing: readonly Pick<MergeEntry, "id" | "branch" | "status">[];
  readonly criteria: readonly Criterion[];
  /** What the reader, who leads the run, has asked the operator and got no answer to. */
  readonly questions: readonly Question[];
  /** Evidence that was given, and that the landed tree does not have any more, by the number of its criterion. */
  readonly lacks: readonly Lack[];
}

export interface Question {
  readonly id: string;
  readonly subject: string;
}

export interface Lack {
  readonly number: number;
  readonly problem: string;
}

/**
 * Everything that keeps a run from ending, with what this reader may do about it. Empty: it may end. `which`: the flag by
 * which a command of this reader names the run.
 */
export function openEnds(facts: RunFacts, reader: string, which = ""): readonly OpenEnd[] {
  const { tasks, agents, landing, criteria, lacks, questions } = facts;
  return [
    ...tasks.map(ofTask),
    ...agents.map((agent) => ofAgent(agent, reader)),
    ...landing.map((entry) => ofBranch(entry, reader)),
    ...criteria.flatMap((criterion) => ofCriterion(criterion, { lacks, which, reader }) ?? []),
    ...questions.map((question) => ofQuestion(question, facts.runId)),
  ];
}

function ofTask(task: RunFacts["tasks"][number]): OpenEnd {
  const { id, status, title, claimedBy } = task;
  const holder = claimedBy === null ? "" : `, held by ${claimedBy}`;
  return {
    kind: "task",
    name: id,
    what: `task ${id} is ${status.replace("_", " ")}${holder}: ${title}`,
    fix: taskFix(task),
  };
}

function taskFix({ id, status, claimedBy, mergeState }: RunFacts["tasks"][number]): string {
  const giveUp = `or give it up: ov task drop ${id} --reason "<why>"`;
  if (isCodeTask({ mergeState }) && mergeState !== "abandoned") {
    return `let its branch land (ov merge list), ${giveUp}`;
  }
  if (claimedBy !== null || status === "in_review") return `wait for ${claimedBy ?? "what it waits for"}, ${giveUp}`;
  return `have it done: ov sling ${id}, ${giveUp}`;
}

const isOperator = (reader: string): boolean => reader === "operator";

const ofAgent = (agent: RunFacts["agents"][number], reader: string): OpenEnd => ({
  kind: "agent",
  name: agent.name,
  what: `${agent.capability} ${agent.name} is not released (${agent.state.replace("_", " ")})`,
  fix: agentFix(agent, reader),
});

function agentFix({ name, state, parentName, taskId }: RunFacts["agents"][number], reader: string): string {
  const mayRelease = isOperator(reader) || reader === parentName;
  if (state === "completed") {
    return mayRelease ? `let it go: ov release ${name}` : `wait until ${parentName} or the operator lets it go`;
  }
  if (mayRelease) return `wait for it, or: ov stop ${name}, then ov release ${name}`;
  return taskId === null ? "wait for it" : `wait for it, or give its task up: ov task drop ${taskId} --reason "<why>"`;
}

const ofBranch = ({ id, branch, status }: RunFacts["landing"][number], reader: string): OpenEnd => ({
  kind: "branch",
  name: branch,
  what: `branch ${branch} is on its way to land (${status})`,
  fix: `see what it waits for: ov merge show ${id}${isOperator(reader) ? `, or take it out of the queue: ov merge cancel ${id}` : "; only the operator takes it out of the queue"}`,
});

/** An answer that comes after the end of the run would reach no agent. */
const ofQuestion = ({ id, subject }: Question, runId: string): OpenEnd => ({
  kind: "question",
  name: id,
  what: `the operator has not answered "${subject}" (${id})`,
  fix: `end your turn: the answer wakes you; the operator may also type: ov run complete${runFlag(runId)}`,
});

function ofCriterion(
  criterion: Criterion,
  { lacks, which, reader }: { readonly lacks: readonly Lack[]; readonly which: string; readonly reader: string },
): OpenEnd | undefined {
  const { number, text } = criterion;
  const status = criterionStatus(criterion);
  const lack = status === "proved" ? lacks.find((one) => one.number === number) : undefined;
  if (status === "waived" || (status === "proved" && lack === undefined)) return undefined;
  const evidence = evidenceOf(criterion);
  const problem = lack?.problem ?? criterion.proofLost;
  const why = problem === null || evidence === undefined ? "has no proof" : `: ${evidenceWords(evidence)} ${problem}`;
  const asking = isOperator(reader) ? "" : `, or by your decision_gate with the option "${waiveOption(number)}"`;
  return {
    kind: "criterion",
    name: String(number),
    what: `criterion ${number}${why.startsWith(":") ? why : ` ${why}`}: ${text}`,
    fix: `show it: ov run criteria prove ${number}${which} --file <path>, --test <path>:<name> or --commit <id>; only the operator waives it: ov run criteria waive ${number}${which} --reason "<why>"${asking}`,
  };
}
