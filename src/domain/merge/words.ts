import { shellWord } from "../text/shell-word.ts";
import { visibleLine } from "../text/visible.ts";
import type { MergeCause, MergeEntry } from "./entry.ts";

/** Why an entry did not land, in words for the user. */
export const causeWords: Readonly<Record<MergeCause, string>> = {
  conflict: "conflict",
  gate_failed: "a gate failed",
  hook_rejected: "a hook refused",
  missing_ref: "branch or commit missing",
  lost_submodule: "commit of a submodule missing",
  no_common_history: "no common history",
  local_changes: "files in the way",
  stale_head: "the branch has moved on",
  scope_violation: "files outside its scope",
  approval_denied: "sent back",
  resolver_timeout: "no answer in time",
  worker_crash: "the engine died on it",
  git_error: "git failed",
  foreign_tip: "something other than the merge queue moved the landing branch",
};

/** How a branch landed, in words for the user. */
export function howWords({ tier, strategy }: Pick<MergeEntry, "tier" | "strategy">): string {
  // The branch landed as a part of another branch.
  if (strategy?.startsWith("with ") === true) return strategy;
  switch (tier) {
    case null:
    case "clean-merge":
      return "without a conflict";
    case "auto-resolve": {
      const ways = (strategy ?? "").split("+").map((way) => wayWords[way] ?? way);
      return `conflict settled by rule: ${ways.join(", ")}`;
    }
    case "ai-resolve":
      return "conflict settled by an agent";
    case "reimagine":
      return "written again by an agent";
  }
}

const wayWords: Readonly<Record<string, string>> = {
  trivial: "only one side had changed it",
  identical: "both sides made the same change",
  union: "the lines of both sides were kept",
  lines: "the lines did not overlap",
  remembered: "as it was settled before",
  landed: "as it was settled before",
  regenerate: "the file was made anew",
  generated: "the file was made anew",
  structured: "by the structure of the file",
  redo: "done again on what landed before",
};

/** The gap that a gate leaves which does not pass on the base either. */
export const failsAsBefore = (gate: string): string => `gate ${gate} fails, as it did before this change`;

/**
 * The git command that merges a branch into the branch that is checked out, for a person or an agent. `--ff` allows both
 * a fast-forward and a merge commit, whatever `merge.ff` says: with `merge.ff=only`, git refuses two histories that have
 * parted.
 */
export const joinCommand = (branch: string, checkout?: string): string =>
  `git ${checkout === undefined ? "" : `-C ${shellWord(checkout)} `}merge --ff ${shellWord(branch)}`;

/** What a promotion must name. Both null: the current run, which needs no name. */
export interface Promotion {
  readonly runId: string | null;
  readonly target: string | null;
}

/** The whole command that promotes what waits for a target: by its run, else by the name of the target. */
export function promoteCommand({ runId, target }: Promotion): string {
  if (runId !== null) return `ov merge promote --run ${runId}`;
  return target === null ? "ov merge promote" : `ov merge promote --target ${shellWord(target)}`;
}

type MessageFacts = Pick<MergeEntry, "id" | "branch" | "targetBranch" | "taskId" | "agentName" | "runId"> & {
  readonly tier: string;
  readonly strategy: string | null;
  /** What the task is called, when there is one. */
  readonly title: string | null;
};

/** The words of a landing's commit: what a person reads first, then what tools look for. */
export function landingMessage(facts: MessageFacts): string {
  const { branch, targetBranch, taskId, title } = facts;
  const what = title === null ? visibleLine(branch) : `${oneLine(title)} (${visibleLine(branch)})`;
  const trailers = [
    ["Overstory-Task", taskId],
    ["Overstory-Agent", facts.agentName],
    ["Overstory-Run", facts.runId],
    ["Overstory-Tier", facts.tier],
    ["Overstory-Strategy", facts.strategy],
    ["Overstory-Queue-Id", String(facts.id)],
  ].filter((trailer): trailer is [string, string] => trailer[1] !== null);
  const body = trailers.map(([name, value]) => `${name}: ${oneLine(value)}`).join("\n");
  return `Merge ${what} into ${visibleLine(targetBranch)}\n\n${body}\n`;
}

/** A title must not be able to forge a trailer, nor to act on the terminal of a person who reads the history. */
const oneLine = (text: string): string => visibleLine(text.replace(/\s+/g, " ").trim().slice(0, 200));

/** Why a branch that points at such a commit of a submodule, or at a repository inside the worktree, cannot land. */
export const lostPointerWords = ({ path, problem }: { readonly path: string; readonly problem: string }): string =>
  `the submodule ${path} cannot land: ${problem}`;

/** The first line of the commit by which a person settled conflicts on top of a branch. */
export const settledSubject = (branch: string, target: string): string => `${settledWords}${branch} with ${target}`;

export const isSettledByHand = (message: string): boolean => message.startsWith(settledWords);

const settledWords = "Settle the conflicts of ";
