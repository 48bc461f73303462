import { type Agent, hasEnded } from "../agent/agent.ts";
import { statusOf } from "../agent/status.ts";
import type { MergeEntry } from "../merge/entry.ts";
import { isCodeTask } from "../task/rights.ts";
import type { Task } from "../task/task.ts";
import { shellWord } from "../text/shell-word.ts";
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
  readonly agents: readonly Pick<
    Agent,
    "name" | "capability" | "state" | "outcome" | "releasedAt" | "parentName" | "taskId"
  >[];
  /** Agents of the run, of whom some hold a task. */
  readonly holders: readonly Pick<Agent, "name" | "state" | "outcome" | "releasedAt">[];
  /** Finished branches that are neither landed nor in the merge queue. */
  readonly unhanded: readonly UnhandedWork[];
  /** Entries of the merge queue that are not settled. */
  readonly landing: readonly Pick<MergeEntry, "id" | "branch" | "status" | "taskId">[];
  readonly criteria: readonly Criterion[];
  /** What the reader, who leads the run, has asked the operator and got no answer to. */
  readonly questions: readonly Question[];
  /** Evidence that was given, and that the landed tree does not have any more, by the number of its criterion. */
  readonly lacks: readonly Lack[];
}

export interface UnhandedWork {
  readonly agentName: string;
  readonly branch: string;
  readonly taskId: string | null;
  /** The nearest live agent above its agent, else the operator. */
  readonly handsOver: string;
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
    ...tasks.map((task) => ofTask(task, facts, reader)),
    ...agents.map((agent) => ofAgent(agent, facts, reader)),
    ...landing.map((entry) => ofBranch(entry, reader)),
    ...criteria.flatMap((criterion) => ofCriterion(criterion, { lacks, which, reader }) ?? []),
    ...questions.map((question) => ofQuestion(question, facts.runId)),
  ];
}

/** One line for each, as its coordinator reads them. What to do about criteria is the same for all, and said once. */
export function openLines(open: readonly OpenEnd[]): readonly string[] {
  const criteria = open.filter(({ kind }) => kind === "criterion");
  if (criteria.length < 2) return open.map(({ what, fix }) => `- ${what}; ${fix}`);
  const last = criteria.at(-1);
  return open.flatMap((end) => {
    if (end.kind !== "criterion") return [`- ${end.what}; ${end.fix}`];
    if (end !== last) return [`- ${end.what}`];
    return [
      `- ${end.what}`,
      '  show each: ov run criteria prove <n> --file <path>, --test <path>:<name> or --commit <id> (tool: criteria_prove); what cannot be met only the operator waives: ask with a decision_gate whose option is "waive criterion <n>"',
    ];
  });
}

function ofTask(task: RunFacts["tasks"][number], facts: RunFacts, reader: string): OpenEnd {
  const { id, status, title, claimedBy } = task;
  const holder = claimedBy === null ? "" : `, held by ${claimedBy}`;
  return {
    kind: "task",
    name: id,
    what: `task ${id} is ${status.replace("_", " ")}${holder}: ${title}`,
    fix: taskFix(task, facts, reader),
  };
}

function taskFix(task: RunFacts["tasks"][number], facts: RunFacts, reader: string): string {
  const { id, status, claimedBy, mergeState } = task;
  const work = facts.unhanded.find(({ taskId }) => taskId === id);
  if (work !== undefined) return handOverFix(work, reader);
  const giveUp = `or give it up: ov task drop ${id} --reason "<why>"`;
  const holder = facts.holders.find(({ name }) => name === claimedBy);
  const isLanding = facts.landing.some(({ taskId }) => taskId === id);
  if (holder !== undefined && !isLanding && hasEnded(holder) && statusOf(holder).tone !== "good") {
    return `${holder.name} has ended (${statusOf(holder).words}); have it go on: ov recover ${holder.name}, ${giveUp}`;
  }
  if (isCodeTask({ mergeState }) && mergeState !== "abandoned") {
    return `let its branch land (ov merge list), ${giveUp}`;
  }
  if (claimedBy !== null || status === "in_review") return `wait for ${claimedBy ?? "what it waits for"}, ${giveUp}`;
  return `have it done: ov sling ${id}, ${giveUp}`;
}

/** To release the agent would leave its finished work out of the run without a word about it. */
function handOverFix({ branch, taskId, handsOver, agentName }: UnhandedWork, reader: string): string {
  const drop =
    taskId === null ? `${releaseOf(agentName, reader)} leaves its work out` : `ov task drop ${taskId} --reason "<why>"`;
  return `${handOver()}, or give the work up: ${drop}`;

  function handOver(): string {
    if (isOperator(reader)) return `hand its finished branch over: ov merge add ${shellWord(branch)}`;
    if (handsOver !== reader && !isOperator(handsOver)) {
      return `its branch ${branch} is finished and not handed over; ask ${handsOver} for it: ov mail send --to ${handsOver} --type question --subject "hand over ${branch}" --body "<what keeps it?>"`;
    }
    const payload = JSON.stringify({ branch });
    return `verify its finished branch and hand it over: ov mail send --to operator --type merge_ready --subject "${branch}" --body "<what was verified and how>" --payload '${payload}'`;
  }
}

const isOperator = (reader: string): boolean => reader === "operator";

function ofAgent(agent: RunFacts["agents"][number], facts: RunFacts, reader: string): OpenEnd {
  const { name, capability } = agent;
  const work = facts.unhanded.find(({ agentName }) => agentName === name);
  const what =
    work === undefined
      ? `${capability} ${name} is not released (${statusOf(agent).words})`
      : `${capability} ${name} has finished ${work.branch}, which has not landed and is not in the merge queue`;
  return {
    kind: "agent",
    name,
    what,
    fix: work === undefined ? agentFix(agent, facts, reader) : handOverFix(work, reader),
  };
}

function agentFix(agent: RunFacts["agents"][number], { tasks }: RunFacts, reader: string): string {
  const { name, parentName, taskId } = agent;
  const mayRelease = isOperator(reader) || reader === parentName;
  if (hasEnded(agent)) {
    // Nobody goes on with a task that is closed, as when its branch landed by another hand.
    const hasWork = taskId === null || tasks.some(({ id }) => id === taskId);
    if (mayRelease && hasWork && statusOf(agent).tone !== "good") {
      return `have it go on: ov recover ${name}, or let it go: ${releaseOf(name, reader)}`;
    }
    return mayRelease ? `let it go: ov release ${name}` : `wait until ${parentName} or the operator lets it go`;
  }
  if (mayRelease) return `wait for it, or: ov stop ${name}, then ${releaseOf(name, reader)}`;
  return taskId === null ? "wait for it" : `wait for it, or give its task up: ov task drop ${taskId} --reason "<why>"`;
}

/** An agent says why, where that gives work up. */
const releaseOf = (name: string, reader: string): string =>
  `ov release ${name}${isOperator(reader) ? "" : ' --reason "<why>"'}`;

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
