import { engineCaller } from "../caller/caller.ts";
import { payloadFields } from "../mail/payload.ts";
import type { Message } from "../mail/types.ts";
import { forPayload, namedIn } from "../text/long-list.ts";
import { shellWord } from "../text/shell-word.ts";
import type { CauseDetail, MergeCause, MergeEntry, ResolutionTier, Verdict } from "./entry.ts";
import { landingWords } from "./landing-branch.ts";
import { causeWords, howWords, joinCommand } from "./words.ts";

export interface OutcomeMail {
  readonly subject: string;
  readonly body: string;
  /** JSON text. */
  readonly payload: string;
}

export interface LandedFacts {
  readonly entry: Pick<MergeEntry, "id" | "branch" | "taskId" | "targetBranch">;
  readonly tier: ResolutionTier;
  readonly strategy: string | null;
  readonly verdict: Verdict;
  readonly commit: string;
  /** Null: nothing was moved, because the branch was in already. */
  readonly opId: string | null;
  /** Branches that the same operation landed. */
  readonly others?: readonly string[];
  /** Tasks that can be started now because of it. */
  readonly ready: readonly string[];
  /** The entry brought commits of the target itself, which cannot be taken back. */
  readonly stays?: boolean;
  /** The operator reads it: agents take nothing back. */
  readonly mayUndo?: boolean;
}

/** Tells that a branch has landed, how, and what can be begun because of it. */
export function landedMail(facts: LandedFacts): OutcomeMail {
  const { entry, tier, strategy, verdict, commit, opId, ready } = facts;
  const lines = [
    `${entry.branch} is part of ${entry.targetBranch} now (commit ${short(commit)}, ${howWords({ tier, strategy })}).`,
    verdictLines[verdict],
    ...(ready.length === 0 ? [] : [`Ready to be started now: ${namedIn(ready)}`]),
    ...(opId === null || facts.stays === true || facts.mayUndo !== true ? [] : [undoLine(facts, opId)]),
  ];
  return {
    subject: `merged: ${entry.branch}`,
    body: lines.join("\n"),
    payload: JSON.stringify({
      branch: entry.branch,
      ...taskField(entry),
      tier,
      strategy,
      commit,
      opId,
      queueId: entry.id,
      targetBranch: entry.targetBranch,
      verdict,
      readyTasks: ready,
    }),
  };
}

/** The operation stands for everything it landed; the number of an entry for one branch of it. */
function undoLine({ entry, others = [] }: LandedFacts, opId: string): string {
  if (others.length === 0) return `To take it back: ov merge undo ${opId}`;
  const names = others.length > 5 ? [...others.slice(0, 5), `${others.length - 5} more`] : others;
  return `To take it back: ov merge undo ${entry.id}; together with ${names.join(", ")}: ov merge undo ${opId}`;
}

const verdictLines: Readonly<Record<Verdict, string>> = {
  verified: "All gates passed on exactly what landed.",
  verified_with_gaps:
    "The gates that ran passed, but a gate was left out, passed only when repeated, or was changed by what landed.",
  unverified: "What landed is not proved: no gate is configured, or a required one does not pass on it.",
};

export interface FailedFacts {
  readonly entry: Pick<MergeEntry, "id" | "branch" | "taskId" | "targetBranch" | "headCommit">;
  readonly cause: MergeCause;
  readonly detail: CauseDetail;
}

interface RejectedFacts extends FailedFacts {
  readonly entry: FailedFacts["entry"] & Pick<MergeEntry, "enqueuedBy">;
  /**
   * The agent of the branch, the live agent above it, and whether it works on; null where the branch belongs to no
   * agent.
   */
  readonly owner: { readonly name: string; readonly above: string; readonly isBack: boolean } | null;
}

/** Tells that a branch did not land, why, what to do about it, and who hands it over again. */
export function failedMail({ entry, cause, detail, owner }: RejectedFacts): OutcomeMail {
  const { files = [], with: others = [], gate, logPath, logTail } = detail;
  const suggestion =
    (owner === null ? ownSuggestion(entry, cause) : joinedSuggestion(entry, cause)) ?? suggestions[cause];
  const conflicts = forPayload(files);
  const lines = [
    `${entry.branch} did not land on ${entry.targetBranch}: ${detail.message}`,
    ...(gate === undefined ? [] : [`Gate: ${gate}`]),
    ...(files.length === 0 ? [] : [`Files: ${namedIn(files)}`]),
    ...(others.length === 0 ? [] : [`In the way: ${namedIn(others)}`]),
    ...(logPath === undefined ? [] : [`Whole output: ${logPath}`]),
    `What to do: ${suggestion}`,
    `Who acts: ${whoActs(entry, owner)}`,
    ...(logTail === undefined || logTail.trim() === "" ? [] : ["", "The end of the output:", logTail.trimEnd()]),
  ];
  return {
    subject: `merge failed (${causeWords[cause]}): ${entry.branch}`,
    body: lines.join("\n"),
    payload: JSON.stringify({
      branch: entry.branch,
      ...taskField(entry),
      conflictFiles: conflicts.shown,
      ...(conflicts.left === 0 ? {} : { conflictFilesTotal: files.length }),
      errorMessage: detail.message,
      cause,
      ...(gate === undefined ? {} : { gate }),
      ...(logPath === undefined ? {} : { logPath }),
      suggestion,
      queueId: entry.id,
      targetBranch: entry.targetBranch,
      headCommit: entry.headCommit,
    }),
  };
}

/** Tells that a branch waits for something that is no fault of its own. */
export function blockedMail({ entry, cause, detail }: FailedFacts): OutcomeMail {
  const { files = [], logPath } = detail;
  const lines = [
    `${entry.branch} cannot land on ${entry.targetBranch} now: ${detail.message}`,
    ...(files.length === 0 ? [] : [`Files: ${namedIn(files)}`]),
    ...(logPath === undefined ? [] : [`Whole output: ${logPath}`]),
    `It is tried again by itself, later each time. At once: ov merge resume ${entry.id}`,
  ];
  return {
    subject: `merge blocked (${causeWords[cause]}): ${entry.branch}`,
    body: lines.join("\n"),
    payload: JSON.stringify({
      branch: entry.branch,
      ...taskField(entry),
      cause,
      errorMessage: detail.message,
      ...(logPath === undefined ? {} : { logPath }),
      queueId: entry.id,
      targetBranch: entry.targetBranch,
    }),
  };
}

/** One agent mends, one hands over again, and each of them is named: otherwise both wait, or both act. */
function whoActs({ enqueuedBy }: RejectedFacts["entry"], owner: RejectedFacts["owner"]): string {
  if (owner === null) {
    return isAgentsName(enqueuedBy)
      ? `${enqueuedBy} has the branch mended, then hands it over again with merge_ready`
      : "the operator";
  }
  const { name, above, isBack } = owner;
  if (!isBack) return `${above === "operator" ? "the operator" : above} decides; ${name} was not started again`;
  const again =
    above === "operator"
      ? "then it waits for the operator's approval again"
      : `then ${above} hands the branch over again with merge_ready, and waits until then`;
  return `${name} is at work on it and finishes again; ${again}`;
}

/** The merge command in full, because a builder merges only branches that it is told to merge. */
function joinedSuggestion({ targetBranch }: RejectedFacts["entry"], cause: MergeCause): string | undefined {
  const join = `in your worktree: ${joinCommand(targetBranch)}`;
  if (cause === "conflict") return `${join}, settle the files above, commit, and report again`;
  return cause === "gate_failed"
    ? `${join}, run the gate there, mend what it finds, commit, and report again`
    : undefined;
}

/** For a branch of the operator's own, and for the commits of the target that a promotion takes in first. */
function ownSuggestion(entry: RejectedFacts["entry"], cause: MergeCause): string | undefined {
  if (isAgentsName(entry.enqueuedBy)) return undefined;
  const { id, branch, targetBranch } = entry;
  const [from, onto] = [shellWord(branch), shellWord(targetBranch)];
  const giveUp = `to give it up: ov merge cancel ${id}`;
  if (cause === "conflict") {
    const join = `git switch -c <branch> ${onto}, git merge ${from}, settle the files above, commit`;
    return `join them by hand: ${join}, then: ov merge --branch <branch>; ${giveUp}`;
  }
  if (cause !== "gate_failed") return undefined;
  const out = "take out what it does not go with: ov merge log, then ov merge undo <number>";
  return `mend ${branch} and ask again with the same command; or ${out}; ${giveUp}`;
}

const isAgentsName = (name: string): boolean => !["operator", engineCaller.name].includes(name);

const suggestions: Readonly<Record<MergeCause, string>> = {
  conflict: "merge the landing branch into your branch, settle the files above, commit, and report again",
  gate_failed:
    "run the gate in your worktree on top of the landing branch, mend what it finds, commit, and report again",
  hook_rejected:
    "read what the project's hook said, make the change it asks for, commit, and report again; if no change of the branch can satisfy it, tell the operator, who can land without merge hooks: ov config set merge.runGitHooks false",
  missing_ref: "check the name of the branch, and that its commits were not removed, then announce it again",
  lost_submodule:
    "commit inside the submodule, add it to your branch, and report again; or let the branch name a commit that the submodule's remote has",
  no_common_history: "start again from the landing branch and carry the change over: the two share no history",
  local_changes: "commit or put away the files above in the checkout they lie in, then: ov merge resume",
  stale_head: "announce the branch again with its present commit",
  scope_violation: "take the changes outside your files out of the branch, or ask for a wider scope",
  approval_denied: "read the reason, change the work accordingly, and report again",
  resolver_timeout: "settle the conflict by hand in your branch, commit, and report again",
  worker_crash: "nothing is known to be wrong with the branch: ov merge retry",
  foreign_tip: "something other than the merge queue moved the landing branch; the operator decides about it: ov inbox",
  git_error: "read what git said; when the repository is in order again: ov merge retry",
};

/** Tells the operator that a branch waits for their word. */
export function approvalMail(
  entry: Pick<
    MergeEntry,
    "id" | "branch" | "headCommit" | "taskId" | "targetBranch" | "enqueuedBy" | "filesModified" | "causeDetail"
  >,
  why: string,
  doubts: readonly string[] = [],
): OutcomeMail {
  const notes = doubts.map((doubt) => `\nBefore you approve: ${doubt}.`).join("");
  const files = entry.filesModified.length === 0 ? "" : `\nFiles: ${namedIn(entry.filesModified)}`;
  const { difference = "" } = entry.causeDetail ?? {};
  const shown = difference === "" ? "" : `\n\nThe difference:\n${difference}`;
  const at = entry.headCommit === "" ? "" : ` at ${short(entry.headCommit)}`;
  const context = `${entry.branch} would land on ${landingWords(entry.targetBranch)}; ${why}.`;
  return {
    subject: `approve merge ${entry.id}? ${entry.branch}`,
    body: `${context}\nAnnounced by ${entry.enqueuedBy}${at}.${notes}${files}\nDecide with: ov merge approve ${entry.id}, or: ov merge reject ${entry.id} --reason "<why>"\nWhat it changes: ov merge diff ${entry.id}${shown}`,
    payload: JSON.stringify({
      options: ["approve", "reject"],
      context,
      queueId: entry.id,
      branch: entry.branch,
      ...taskField(entry),
    }),
  };
}

/**
 * The number of the merge that this message asks about. Only the queue asks about merges. A forwarded question of an
 * agent keeps the agent's name and payload: an answer to it must not count as an approval.
 */
export function mergeAsked({ payload, fromAgent }: Pick<Message, "payload" | "fromAgent">): number | undefined {
  const { queueId } = payloadFields(payload);
  return fromAgent === "system" && typeof queueId === "number" ? queueId : undefined;
}

const taskField = ({ taskId }: Pick<MergeEntry, "taskId">) => (taskId === null ? {} : { taskId });

const short = (commit: string): string => commit.slice(0, 10);
