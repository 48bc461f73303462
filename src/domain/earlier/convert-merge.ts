import { type MergeEntry, type MergeStatus, resolutionTiers } from "../merge/entry.ts";
import { jsonIn, nameOf, oneOf, taskIn, textIn, textOf, timeOf, unreadable } from "./columns.ts";
import type { EarlierValues } from "./earlier-project.ts";

const statuses: Readonly<Record<string, MergeStatus>> = {
  pending: "pending",
  merging: "pending",
  merged: "merged",
  conflict: "conflict",
  failed: "failed",
};

export interface MergeTerms {
  readonly targetBranch: string;
  readonly runId: string | null;
  readonly now: number;
}

/**
 * An entry of the merge queue. An open entry waits for the operator, at the commit of its branch now; without a branch
 * it has failed.
 */
export function mergeOf(values: EarlierValues, { targetBranch, runId, now }: MergeTerms): Omit<MergeEntry, "id"> {
  const branch = textOf(values, "branch_name");
  const known = statuses[textOf(values, "status")] ?? unreadable("has an unknown status");
  const headCommit = textIn(values, "!head") ?? "";
  const isLost = known === "pending" && headCommit === "";
  const status = isLost ? "failed" : known;
  const files = jsonIn(values, "files_modified");
  return {
    branch,
    headCommit,
    targetBranch,
    taskId: taskIn(values),
    agentName: nameOf(values, "agent_name"),
    runId,
    filesModified: Array.isArray(files) ? files.filter((file) => typeof file === "string") : [],
    dependsOn: [],
    priority: 2,
    source: "cli",
    enqueuedBy: "operator",
    enqueuedAt: timeOf(values, "enqueued_at"),
    status,
    approval: status === "pending" ? "waiting" : "operator",
    tier: oneOf(resolutionTiers, textIn(values, "resolved_tier")) ?? null,
    strategy: null,
    verdict: null,
    attempts: 0,
    notBefore: 0,
    resultCommit: null,
    cause: isLost ? "missing_ref" : status === "conflict" ? "conflict" : status === "failed" ? "git_error" : null,
    causeDetail: status === "merged" || status === "pending" ? null : { message: isLost ? gone(branch) : before },
    updatedAt: now,
  };
}

const gone = (branch: string): string => `${branch} was gone when the project was imported`;
const before = "it ended so in an earlier version";
