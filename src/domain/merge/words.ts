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
  foreign_tip: "somebody else moved the landing branch",
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
