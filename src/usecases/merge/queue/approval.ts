import { hasEnded } from "../../../domain/agent/agent.ts";
import type { Message } from "../../../domain/mail/types.ts";
import { type Asker, approvalFor, type MergeEntry, mergeRef, waitingReason } from "../../../domain/merge/entry.ts";
import { approvalMail, mergeAsked } from "../../../domain/merge/outcome-mail.ts";
import type { Settings } from "../../../ports/settings.ts";
import type { Tx } from "../../../ports/store.ts";
import { isBelow } from "../../agents/find-agent.ts";
import { notice } from "../../events/record.ts";
import { markRead } from "../../mail/inbox.ts";
import { tellOperator } from "../../mail/post.ts";
import type { Context } from "../../usecase.ts";
import { doubtsAbout } from "../branch-owner.ts";
import { recordMerge } from "../merge-records.ts";

/**
 * Asks the operator for one decision: sends a message to the inbox, and makes the branch's agent and the coordinator
 * above it wait, so that the watchdog does not take them for stuck.
 */
export async function askForApproval(
  tx: Tx,
  context: Pick<Context, "ids" | "now">,
  entry: MergeEntry,
  why: string,
): Promise<void> {
  const ref = mergeRef(entry.id);
  for (const agentName of await waitersOf(tx, entry)) {
    await tx.waits.add({ agentName, kind: "approval", ref, since: context.now, deadline: null });
  }
  await tellOperator(tx, context, {
    runId: entry.runId,
    ...approvalMail(entry, why, await doubtsAbout(tx, entry)),
    type: "decision_gate",
    priority: "high",
  });
}

/** The unread messages that ask the operator about merges, by the number of the entry. */
export type MergeQuestions = ReadonlyMap<number | undefined, readonly Message[]>;

/** Read once for all entries of a landing or an approval: each reading goes through all questions. */
export const mergeQuestions = async (tx: Tx): Promise<MergeQuestions> =>
  Map.groupBy(await tx.messages.list({ to: "operator", type: "decision_gate", unread: true }), mergeAsked);

/** Ends the wait for an approval that was given or is not needed any more, and marks the message that asked as read. */
export async function endApprovalWait(
  tx: Tx,
  { id }: Pick<MergeEntry, "id">,
  now: number,
  questions?: MergeQuestions,
): Promise<void> {
  await tx.waits.resolve("approval", mergeRef(id));
  for (const message of (questions ?? (await mergeQuestions(tx))).get(id) ?? []) {
    await markRead(tx, now, message, "operator");
  }
}

/** Ends all waits for this entry. Returns the agents that waited for the merge. */
export async function endMergeWaits(
  tx: Tx,
  entry: Pick<MergeEntry, "id">,
  now: number,
  questions?: MergeQuestions,
): Promise<readonly string[]> {
  await endApprovalWait(tx, entry, now, questions);
  return tx.waits.resolve("merge", mergeRef(entry.id));
}

async function waitersOf(tx: Tx, { agentName, runId, enqueuedBy }: MergeEntry): Promise<readonly string[]> {
  const coordinator = runId === null ? null : ((await tx.runs.get(runId))?.coordinatorName ?? null);
  const names = new Set<string>();
  const owner = agentName === null ? undefined : await tx.agents.byName(agentName);
  if (owner !== undefined) names.add(owner.name);
  const head = coordinator === null ? undefined : await tx.agents.byName(coordinator);
  if (head === undefined || hasEnded(head)) return [...names];
  const isItsTeams = owner === undefined ? enqueuedBy === head.name : await isBelow(tx, owner, head.name);
  if (isItsTeams) names.add(head.name);
  return [...names];
}

/** What decides about the approval of a branch in this project. */
export const factsOf = ({ settings }: { readonly settings: Settings }, { asker }: { readonly asker: Asker }) => ({
  asker,
  mode: settings.merge.mode,
  unverified: settings.merge.unverified,
  gated: settings.project.qualityGates.length > 0,
});

/** A question to the operator before a branch lands. */
export interface Doubt {
  /** The reasons for the question, in words. */
  readonly why: readonly string[];
  readonly files: readonly string[];
  /** The patch of these files. */
  readonly difference: string;
}

/**
 * A branch that changes how it is judged, or files outside its scope, lands only with an approval of this very commit,
 * or with one that was given after this question. True when the entry has to wait.
 */
export async function askAbout(tx: Tx, context: Context, entry: MergeEntry, doubt: Doubt): Promise<boolean> {
  const { id, branch, headCommit } = entry;
  // The same commit may be queued again when it is announced again. The answer is about the commit.
  const isFirst = await notice(tx, { kind: "merge_doubt", about: branch, key: headCommit });
  if (!isFirst && entry.approval === "operator") return false;
  const isNew = await notice(tx, { kind: "merge_doubt", about: mergeRef(id), key: headCommit });
  const message = doubt.why.join("; ");
  const difference = beginningOf(doubt.difference);
  const causeDetail = { message, files: doubt.files, difference };
  const change = { approval: "waiting", causeDetail, updatedAt: context.now } as const;
  if (!(await tx.merges.change(id, ["pending", "blocked"], change)) || !isNew) return true;
  const waiting = { ...entry, ...change };
  const { files } = doubt;
  await recordMerge(tx, context, waiting, (facts) => ({
    type: "merge_waits",
    data: { ...facts, why: message, files },
  }));
  await askForApproval(tx, context, waiting, message);
  return true;
}

/**
 * The operator approves this one commit by the number or name of its entry: the engine, which may not have looked at it
 * yet, does not ask about the same commit again. An entry whose commit is not known yet is asked about when it is.
 */
export async function answerDoubt(tx: Tx, { branch, headCommit }: MergeEntry): Promise<void> {
  if (headCommit !== "") await notice(tx, { kind: "merge_doubt", about: branch, key: headCommit });
}

/** As much as an operator reads before deciding; `ov merge diff` shows the rest. */
const mostLines = 200;
const mostCharacters = 16_000;

function beginningOf(text: string): string {
  const lines = text.slice(0, mostCharacters).split("\n").slice(0, mostLines).join("\n");
  return lines.length < text.length
    ? `${lines}\n[${text.length - lines.length} more characters: ov merge diff]\n`
    : text;
}

/**
 * A parent's approval counts on what the project asked for when it was given. Where that has changed since, such as by
 * the last gate being taken out, it does not cover the landing: the operator is asked. True when the entry has to wait.
 */
export async function askAgain(tx: Tx, context: Context, entry: MergeEntry): Promise<boolean> {
  const facts = factsOf(context, { asker: "parent" });
  if (entry.approval !== "parent" || approvalFor(facts) === "parent") return false;
  const change = { approval: "waiting", updatedAt: context.now } as const;
  if (!(await tx.merges.change(entry.id, ["pending", "blocked"], change))) return true;
  const waiting = { ...entry, ...change };
  const why = waitingReason(facts);
  await recordMerge(tx, context, waiting, (merge) => ({ type: "merge_waits", data: { ...merge, why } }));
  await askForApproval(tx, context, waiting, why);
  return true;
}
