import { hasEnded } from "../../domain/agent/agent.ts";
import { canonical, isIn } from "../../domain/agent/capability.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import type { Message } from "../../domain/mail/types.ts";
import { type MergeEntry, mergeRef, openMergeStatuses } from "../../domain/merge/entry.ts";
import { landingWords } from "../../domain/merge/landing-branch.ts";
import { mergeAsked } from "../../domain/merge/outcome-mail.ts";
import { invalid } from "../../domain/refusal.ts";
import type { Decided } from "../../domain/role/assignment.ts";
import { isUnclearWaiver } from "../../domain/run/checklist.ts";
import type { Tx } from "../../ports/store.ts";
import { isAuthorReplaced } from "../mail/find-message.ts";
import type { Follower } from "../mail/followers.ts";
import { nearestLiveAncestor } from "../mail/hand-on.ts";
import { mayAnswer } from "../mail/waits.ts";
import { completionReceipt, doubtsBefore, ownerOfBranch } from "../merge/branch-owner.ts";

/** Something that waits for the operator's word. */
export interface OpenDecision {
  /** What `ov decide` takes: the id of the message that asks, or `merge:<number>`. */
  readonly id: string;
  readonly kind: "decision" | "merge";
  readonly from: string;
  readonly subject: string;
  readonly context: string;
  readonly options: readonly string[];
  /** ISO-8601. */
  readonly deadline: string | null;
  readonly runId: string | null;
  readonly createdAt: number;
}

const operatorName = "operator";

/** Everything that waits for the operator, longest first. Derived on reading: an answer in the thread is an answer. */
export async function openDecisions(
  tx: Tx,
  { runId }: { readonly runId?: string | undefined } = {},
): Promise<readonly OpenDecision[]> {
  const inRun = runId === undefined ? {} : { runId };
  const asked = await tx.messages.list({ to: operatorName, type: "decision_gate", ...inRun });
  const found: OpenDecision[] = [];
  for (const message of asked) {
    // The merge queue's own questions are read from the queue, which knows whether they still matter.
    if (mergeAsked(message) !== undefined || !(await isOpen(tx, message))) continue;
    found.push(decisionOf(message));
  }
  const waiting = await tx.merges.list({ approval: "waiting", statuses: openMergeStatuses, ...inRun });
  for (const entry of waiting) found.push(approvalOf(entry, await judgementOf(tx, entry)));
  return found.toSorted((a, b) => a.createdAt - b.createdAt);
}

/** The decision of an addressee: an answer in the thread, or a decision message that names the question. */
export async function answerTo(tx: Tx, gate: Message): Promise<Message | undefined> {
  for (const message of await tx.messages.thread(gate.threadId)) {
    const speaksOfIt =
      message.replyTo === gate.id || (message.type === "decision" && payloadFields(message.payload).gateId === gate.id);
    if (!speaksOfIt || message.fromAgent === gate.fromAgent) continue;
    if (await mayAnswer(tx, gate, message)) return message;
  }
  return undefined;
}

/** More answers, and longer ones, than a reviewer of the work has to know. */
const mostMade = 20;
const longestMade = 500;

/** What the operator answered to the agents of a run and told its workers unasked, oldest first. */
export async function decisionsMade(tx: Tx, runId: string): Promise<readonly Decided[]> {
  const made = [...(await answersMade(tx, runId)), ...(await wordsToWorkers(tx, runId))];
  return made
    .toSorted((a, b) => a.seq - b.seq)
    .slice(-mostMade)
    .map(({ seq: _, ...decided }) => decided);
}

type Placed = Decided & Pick<Message, "seq">;

/** Questions about merges and last reviews are left out. */
async function answersMade(tx: Tx, runId: string): Promise<readonly Placed[]> {
  const asked: Message[] = [];
  for (const type of ["decision_gate", "question"] as const) {
    asked.push(...(await tx.messages.list({ to: operatorName, type, runId, limit: mostLookedAt })));
  }
  const made: Placed[] = [];
  for (const question of asked.toSorted((a, b) => b.seq - a.seq)) {
    if (made.length === mostMade) break;
    if (mergeAsked(question) !== undefined || runAsked(question) !== undefined) continue;
    const answer = await answerTo(tx, question);
    if (answer?.fromAgent !== operatorName) continue;
    const { context } = payloadFields(question.payload);
    const words = `${question.subject}: ${whole(context, question.body)}`;
    const { seq, fromAgent: by } = question;
    made.push({ seq, by, question: shortened(words), answer: shortened(answer.body) });
  }
  return made;
}

/** A coordinator turns what it is told into criteria and tasks; any other agent acts on it where nobody else sees it. */
async function wordsToWorkers(tx: Tx, runId: string): Promise<readonly Placed[]> {
  const made: Placed[] = [];
  for (const { seq, type, replyTo, address, subject, body } of await tx.messages.list({
    from: operatorName,
    runId,
    limit: mostLookedAt,
  })) {
    if (replyTo !== null || (type !== "status" && type !== "assign")) continue;
    const agent = await tx.agents.byName(address);
    if (agent === undefined || isIn("persistent", agent.capability)) continue;
    if (canonical(agent.capability) === "reviewer") continue;
    made.push({ seq, by: address, question: null, answer: shortened(`${subject}: ${body}`) });
  }
  return made;
}

/**
 * The run whose last review the engine asks about. What an agent writes may look like that question and counts as none: it
 * has the id of the agent, or is a copy that was handed on.
 */
export function runAsked({ fromAgentId, replyTo, payload }: Message): string | undefined {
  const { lastReview } = payloadFields(payload);
  const isOurs = fromAgentId === null && replyTo === null;
  return isOurs && typeof lastReview === "string" ? lastReview : undefined;
}

/** How many of the newest questions are looked at. */
const mostLookedAt = 200;

function shortened(words: string): string {
  const line = words.trim().replace(/\s+/g, " ");
  return line.length > longestMade ? `${line.slice(0, longestMade)}…` : line;
}

/** A stopped agent waits for no answer; `ov recover` opens its questions again. */
async function isOpen(tx: Tx, gate: Message): Promise<boolean> {
  if ((await answerTo(tx, gate)) !== undefined || (await closingOf(tx, gate)) !== undefined) return false;
  return !(await isAskerGone(tx, gate));
}

/** The agent that asked was stopped or released, and no agent has taken its question over. */
export async function isAskerGone(tx: Tx, gate: Message): Promise<boolean> {
  if (await isAuthorReplaced(tx, gate)) return true;
  const author = await tx.agents.byName(gate.fromAgent);
  if (author === undefined || !hasEnded(author)) return false;
  return author.outcome === "stopped" || (author.releasedAt !== null && (await heirOf(tx, gate)) === undefined);
}

/**
 * The agent that acts on the answer in place of the asker, which finished its work and was released before the operator
 * decided: the nearest live agent above it in its run. Undefined: the asker acts itself, or no agent does.
 */
export async function heirOf(tx: Tx, gate: Pick<Message, "fromAgent" | "runId">): Promise<string | undefined> {
  const author = await tx.agents.byName(gate.fromAgent);
  if (author === undefined || author.releasedAt === null || author.outcome !== "done") return undefined;
  const heir = await tx.agents.byName(await nearestLiveAncestor(tx, author.parentName));
  return heir?.runId === author.runId && author.runId === gate.runId ? heir.name : undefined;
}

/** The message by which the engine took a question of its own back. */
export const closingOf = async (tx: Tx, { id, threadId }: Message): Promise<Message | undefined> =>
  (await tx.messages.thread(threadId)).find(
    ({ fromAgent, payload }) => fromAgent === "system" && payloadFields(payload).closes === id,
  );

function decisionOf(message: Message): OpenDecision {
  const { context, deadline } = payloadFields(message.payload);
  return {
    id: message.id,
    kind: "decision",
    from: message.fromAgent,
    subject: message.subject,
    context: whole(context, message.body),
    options: optionsOf(message),
    deadline: typeof deadline === "string" ? deadline : null,
    runId: message.runId,
    createdAt: message.createdAt,
  };
}

/** The text about a decision: its data and its message, without repeating a sentence that both have. */
function whole(context: unknown, body: string): string {
  if (typeof context !== "string" || context.trim() === "" || body.includes(context)) return body;
  return context.includes(body) ? context : `${context}\n\n${body}`;
}

export function optionsOf({ payload }: Pick<Message, "payload">): readonly string[] {
  const { options } = payloadFields(payload);
  return Array.isArray(options) ? options.filter((option) => typeof option === "string") : [];
}

/** An option that waives nothing although it reads so would leave everybody waiting once it was chosen. */
export const decisionGate: Follower = {
  refuse: async (_tx, _context, _sender, { payload }) => {
    const unclear = optionsOf({ payload }).find(isUnclearWaiver);
    if (unclear === undefined) return undefined;
    const how = 'write the option as "waive criterion <number>", or for several "waive criteria 1, 2"';
    return invalid("options", `would waive nothing: ${how}`, { value: unclear });
  },
  follow: async () => {},
};

/** What can be said about a branch that waits to land. */
export const approvalOptions = ["approve", "reject"] as const;

const approvalOf = (entry: MergeEntry, judgement: string): OpenDecision => ({
  id: mergeRef(entry.id),
  kind: "merge",
  from: entry.enqueuedBy,
  subject: `land ${entry.branch}?`,
  context: `${entry.branch} would land on ${landingWords(entry.targetBranch)}; announced by ${entry.enqueuedBy}.\n${judgement}${doubtAbout(entry)}`,
  options: approvalOptions,
  deadline: null,
  runId: entry.runId,
  createdAt: entry.enqueuedAt,
});

/** The results of the gates when the agent reported exactly this commit. */
async function judgementOf(tx: Tx, entry: MergeEntry): Promise<string> {
  const before = (await doubtsBefore(tx, entry)).map((doubt) => `Before you approve: ${doubt}.\n`).join("");
  const { branch, headCommit } = entry;
  const owner = await ownerOfBranch(tx, branch);
  const receipt = owner === undefined ? undefined : await completionReceipt(tx, owner, headCommit);
  if (receipt === undefined) return `${before}No gate has looked at this commit yet.`;
  const why = receipt.gaps.length === 0 ? "" : ` (${receipt.gaps.join("; ")})`;
  return `${before}The gates on this commit: ${receipt.verdict.replaceAll("_", " ")}${why}.`;
}

/** The doubt of the queue about this entry, for the operator to read before approving. */
function doubtAbout({ id, causeDetail }: MergeEntry): string {
  const { message, difference } = causeDetail ?? {};
  if (message === undefined || difference === undefined) return "";
  const shown = difference === "" ? "" : `\nThe difference (all of the branch: ov merge diff ${id}):\n${difference}`;
  return `\nYou are asked because ${message}.${shown}`;
}

/** A question that an agent asked the operator and waits on. */
export interface OpenQuestion {
  /** What `ov mail reply` takes. */
  readonly id: string;
  readonly from: string;
  readonly subject: string;
  readonly body: string;
  readonly runId: string | null;
  readonly createdAt: number;
}

/**
 * The questions that wait for the operator, oldest first. An agent that asked waits until it is answered, whether or not
 * its message was read, so they are found by the waits. Decisions are asked about elsewhere.
 */
export async function openQuestions(
  tx: Tx,
  { runId }: { readonly runId?: string | undefined } = {},
): Promise<readonly OpenQuestion[]> {
  const asked = (await tx.messages.questionsTo("operator")).filter(
    (message) => message.type !== "decision_gate" && (runId === undefined || message.runId === runId),
  );
  return asked.map(({ id, fromAgent: from, subject, body, runId: of, createdAt }) => ({
    id,
    from,
    subject,
    body,
    runId: of,
    createdAt,
  }));
}
