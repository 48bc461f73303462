import type { Refusal } from "../../domain/refusal.ts";
import { ok, type Result } from "../../domain/result.ts";
import type { WorktreePorts } from "./ports.ts";
import type { KeptWork } from "./removed.ts";
import type { Judged } from "./survey.ts";

export interface Removed {
  readonly agentName: string;
  readonly path: string;
  readonly branch: string;
  readonly removed: boolean;
  readonly branchDeleted: boolean;
  /** Why not, or what else went wrong. */
  readonly problem: string | null;
  readonly rescue: (KeptWork & { readonly restore: string }) | null;
  readonly trash: string | null;
}

/** `when-landed`: only a branch whose commits are elsewhere too. `always`: they are under the rescue ref. */
export type BranchPolicy = "when-landed" | "always";

/** Time for what an ended agent left running to leave by itself. */
const graceMs = 2_000;

/**
 * Removes one worktree: what still runs for its agent ends; its work is kept, under a rescue ref when it exists nowhere
 * else; then the intent, the effect and the fact. Repeating it after a crash finds the work kept already. The intent
 * comes after the keeping, because an engine that sees it may take the same worktree away.
 */
export async function removeOne(
  { worktrees, facts, processes }: WorktreePorts,
  judged: Judged,
  { branch: policy }: { readonly branch: BranchPolicy },
): Promise<Result<Removed, Refusal>> {
  const { worktree, owner, verdict, landed, tip } = judged;
  const { agentName, generation, path, branch } = worktree;
  // A server that a turn left running must not write after the last look, nor go on where nothing is any more.
  for (const id of owner?.incarnations ?? []) await processes.endStartedFor(id, graceMs);
  const mustRescue = judged.exists && verdict.class !== "clean";
  const rescued = mustRescue ? await worktrees.rescue(worktree) : undefined;
  const snapshot = judged.exists && !mustRescue ? await worktrees.snapshot(worktree) : undefined;
  if (owner !== undefined) {
    const intent = await facts.removing({ agentId: owner.agent.id });
    if (!intent.ok) return intent;
    if (!intent.value.clear)
      return ok({ ...untouched, agentName, path, branch, problem: `${agentName} is live again` });
  }
  const dropBranch = tip !== undefined && (landed || (policy === "always" && rescued !== undefined));
  const removal = await worktrees.remove(worktree, { deleteBranch: dropBranch ? tip : null });
  const left = dropBranch ? await worktrees.resolve(`refs/heads/${worktree.branch}`) : undefined;
  const branchDeleted = dropBranch && removal.removed && left === undefined;
  const stored = await facts.removed({
    agentName,
    generation,
    agentId: owner?.agent.id,
    path,
    branch,
    branchDeleted,
    removed: removal.removed,
    kept: [rescued, snapshot].filter((kept) => kept !== undefined),
    trash: removal.trash,
  });
  if (!stored.ok) return stored;
  const rescue =
    rescued === undefined ? null : { ...rescued, restore: restoreCommand(judged, rescued.ref, branchDeleted) };
  const { removed, problem, trash } = removal;
  return ok({ agentName, path, branch, removed, branchDeleted, problem, rescue, trash });
}

const untouched = { removed: false, branchDeleted: false, rescue: null, trash: null } as const;

/** Brings back commits and uncommitted files alike, where they were; on the old branch when that is free. */
function restoreCommand({ worktree }: Judged, ref: string, branchIsFree: boolean): string {
  const where = quoted(worktree.path);
  return branchIsFree
    ? `git worktree add -b ${quoted(worktree.branch)} ${where} ${ref}`
    : `git worktree add --detach ${where} ${ref}`;
}

/** As a shell takes it back. */
const quoted = (word: string): string => (/^[\w./@:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
