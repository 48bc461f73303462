import type { Agent } from "../../domain/agent/agent.ts";
import type { ToolStep } from "../../domain/event/turn-story.ts";
import type { GateResult, Receipt } from "../../domain/gate/gate.ts";
import type { Message } from "../../domain/mail/types.ts";
import { type MergeEntry, mergeRef } from "../../domain/merge/entry.ts";
import { ok } from "../../domain/result.ts";
import { fields, list, text, whole } from "../../domain/schema/schema.ts";
import type { Task } from "../../domain/task/task.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { Tx } from "../../ports/store.ts";
import { tracedTurn } from "../events/trace.ts";
import type { UseCase } from "../usecase.ts";

/** The work behind a commit: its agent and task, its mail, its turn and its evidence. */
export interface WorkStory {
  readonly agent: Agent | null;
  readonly task: Task | null;
  /** Oldest first: the agent's orders, remarks about its work, and the end. */
  readonly messages: readonly Message[];
  /** In which the commit was made. */
  readonly turn: Turn | null;
  /** Its calls that name the file. */
  readonly calls: readonly ToolStep[];
  readonly receipts: readonly { readonly receipt: Receipt; readonly results: readonly GateResult[] }[];
}

/** How a commit came in: the entry that landed it, and the work behind it. */
export interface LandingStory extends WorkStory {
  /** The merge commit. */
  readonly merge: string;
  readonly entry: MergeEntry;
}

/** A commit that an agent made, and that no landing has brought anywhere. */
export interface UnlandedStory extends WorkStory {
  readonly agent: Agent;
  readonly branch: string;
}

interface LandingQuestion {
  readonly merge: string;
  /** What the merge says about itself; any author of a commit can write that, so the entry must know the merge too. */
  readonly queueId: number;
  /** When the commit was made whose story is asked for. */
  readonly committedAt: number;
  readonly path: string;
}

/** The story of a merge, if it is a landing on record. */
export const explainLanding: UseCase<LandingQuestion, { readonly landing: LandingStory | null }> = {
  kind: "read",
  request: fields({ merge: text, queueId: whole, committedAt: whole, path: text }),
  run: async (tx, _context, { merge, queueId, committedAt, path }) => {
    const entry = queueId === 0 ? undefined : await tx.merges.get(queueId);
    if (entry === undefined || !(await landedBy(tx, entry, merge))) return ok({ landing: null });
    const agent = await agentOf(tx, entry, committedAt);
    const turn = agent === undefined ? undefined : await turnAt(tx, agent, committedAt);
    const work = await workOf(tx, { agent, turn, path, taskId: entry.taskId });
    return ok({
      landing: {
        ...work,
        merge,
        entry,
        agent: agent ?? null,
        receipts: await evidenceOf(tx, agent, mergeRef(entry.id)),
      },
    });
  },
};

interface UnlandedQuestion extends Pick<LandingQuestion, "committedAt" | "path"> {
  /** Branches that have the commit. */
  readonly branches: readonly string[];
}

/** Agents of these branches that were in a turn when the commit was made, each with the work behind it. */
export const explainUnlanded: UseCase<UnlandedQuestion, { readonly candidates: readonly UnlandedStory[] }> = {
  kind: "read",
  request: fields({ branches: list(text), committedAt: whole, path: text }),
  run: async (tx, _context, { branches, committedAt, path }) => {
    const candidates: UnlandedStory[] = [];
    for (const branch of branches) {
      for (const agent of await tx.agents.list({ branch })) {
        const turn = await turnAt(tx, agent, committedAt);
        if (turn === undefined) continue;
        const work = await workOf(tx, { agent, turn, path, taskId: agent.taskId });
        candidates.push({ ...work, agent, branch, receipts: await evidenceOf(tx, agent, undefined) });
      }
    }
    return ok({ candidates });
  },
};

interface Work {
  readonly agent: Agent | undefined;
  readonly turn: Turn | undefined;
  readonly path: string;
  readonly taskId: string | null;
}

const workOf = async (tx: Tx, { agent, turn, path, taskId }: Work) => ({
  task: taskId === null ? null : ((await tx.tasks.get(taskId)) ?? null),
  messages: agent === undefined ? [] : await tellingMail(tx, agent),
  turn: turn ?? null,
  calls: turn === undefined ? [] : await callsAbout(tx, turn, path),
});

/** An entry whose landing was undone has no result any more, but the operation that landed it knows its merge. */
async function landedBy(tx: Tx, { id, resultCommit }: MergeEntry, merge: string): Promise<boolean> {
  if (resultCommit === merge) return true;
  const operations = await tx.mergeOps.list({ kind: "land", queueId: id });
  return operations.some(({ request }) =>
    request.members?.some((member) => member.id === id && member.commit === merge),
  );
}

/** The incarnation that lived when the commit was made. */
async function agentOf(tx: Tx, { agentName }: MergeEntry, committedAt: number): Promise<Agent | undefined> {
  if (agentName === null) return undefined;
  const all = await tx.agents.list({ name: agentName });
  return all.findLast(({ startedAt }) => startedAt <= committedAt + second) ?? all.at(-1);
}

/** Git counts seconds. */
const second = 1_000;

async function turnAt(tx: Tx, agent: Agent, committedAt: number): Promise<Turn | undefined> {
  const turns = await tx.turns.listFor(agent.id);
  return turns.findLast(
    ({ startedAt, endedAt }) =>
      startedAt !== null && startedAt - second <= committedAt && (endedAt ?? Infinity) + second >= committedAt,
  );
}

const mostCalls = 5;

async function callsAbout(tx: Tx, turn: Turn, path: string): Promise<readonly ToolStep[]> {
  const { story } = await tracedTurn(tx, turn);
  const calls = story.steps.filter((step): step is ToolStep => step.kind === "tool" && step.summary.includes(path));
  return calls.slice(-mostCalls);
}

const tellingTypes = ["dispatch", "assign", "question", "worker_done", "review", "merge_ready", "merged", "decision"];
const mostMail = 8;

/** The first message that gave the work, and the newest others that tell about it. */
async function tellingMail(tx: Tx, { name, runId }: Agent): Promise<readonly Message[]> {
  const found = await tx.messages.list({ involving: [name], runId, limit: 200 });
  const telling = found.filter(({ type }) => tellingTypes.includes(type)).toSorted((a, b) => a.seq - b.seq);
  const [first, ...rest] = telling;
  return first === undefined ? [] : [first, ...rest.slice(-(mostMail - 1))];
}

async function evidenceOf(
  tx: Tx,
  agent: Agent | undefined,
  landing: string | undefined,
): Promise<WorkStory["receipts"]> {
  const subjects = [...(agent === undefined ? [] : [`${agent.name}#${agent.generation}`]), landing ?? []].flat();
  const found: { receipt: Receipt; results: readonly GateResult[] }[] = [];
  for (const subject of subjects) {
    const [receipt] = await tx.receipts.about(subject);
    if (receipt !== undefined) found.push({ receipt, results: await tx.gates.all(receipt.results) });
  }
  return found;
}
