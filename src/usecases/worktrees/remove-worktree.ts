import type { Refusal } from "../../domain/refusal.ts";
import { ok, type Result } from "../../domain/result.ts";
import { shellWord } from "../../domain/text/shell-word.ts";
import type { FoundBranch } from "../../ports/worktrees.ts";
import type { WorktreePorts } from "./ports.ts";
import type { KeptWork, RemovingReply, RemovingRequest } from "./removed.ts";
import { type Judged, unlessDamaged } from "./survey.ts";

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
  /** Git cannot read the worktree, so its work could not be kept; `problem` says why. */
  readonly isDamaged?: boolean;
  /** The branch of the worktree, if the caller deletes it together with others. */
  readonly leftBranch?: FoundBranch;
}

/** `when-landed`: only a branch whose commits are elsewhere too. `always`: they are under the rescue ref. */
export type BranchPolicy = "when-landed" | "always";

/** Is its branch deleted with a worktree that goes? */
export const dropsBranch = ({ tip, landed, exists, verdict }: Judged, policy: BranchPolicy): boolean =>
  tip !== undefined && (landed || (policy === "always" && exists && verdict.class !== "clean"));

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
  {
    branch: policy,
    claim = "ends",
    branches = "now",
  }: {
    readonly branch: BranchPolicy;
    readonly claim?: "ends" | "stays";
    /** `later`: the caller deletes the branches of many worktrees together. */
    readonly branches?: "now" | "later";
  },
): Promise<Result<Removed, Refusal>> {
  const { worktree, owner, verdict, tip } = judged;
  const { agentName, generation, path, branch } = worktree;
  // A server that a turn left running must not write after the last look, nor go on where nothing is any more.
  for (const id of owner?.incarnations ?? []) await processes.endStartedFor(id, graceMs);
  const mustRescue = judged.exists && verdict.class !== "clean";
  const kept = await unlessDamaged(async () =>
    // A snapshot also of one whose directory is gone: of commits that no branch holds.
    mustRescue ? { rescued: await worktrees.rescue(worktree) } : { snapshot: await worktrees.snapshot(worktree) },
  );
  if (!kept.ok) return ok({ ...untouched, agentName, path, branch, problem: kept.refusal, isDamaged: true });
  const { rescued, snapshot } = { rescued: undefined, snapshot: undefined, ...kept.value };
  const intent = await claimRemoval({ facts, processes }, { names: judged.names, agentId: owner?.agent.id });
  if (!intent.ok) return intent;
  if (!intent.value.clear) return ok({ ...untouched, agentName, path, branch, problem: intent.value.why });
  const dropBranch = tip !== undefined && dropsBranch(judged, policy);
  const dropNow = dropBranch && branches === "now";
  const removal = await worktrees.remove(worktree, { deleteBranch: dropNow ? tip : null });
  const left = dropNow ? await worktrees.resolve(`refs/heads/${worktree.branch}`) : undefined;
  const branchDeleted = dropNow && removal.removed && left === undefined;
  const leftBranch = dropBranch && !dropNow && removal.removed ? { branch, tip } : undefined;
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
  if (claim === "ends") {
    const ended = await facts.removalEnded({ names: judged.names.map(({ name }) => name), process: processes.self() });
    if (!ended.ok) return ended;
  }
  const rescue =
    rescued === undefined ? null : { ...rescued, restore: restoreCommand(judged, rescued.ref, branchDeleted) };
  const { removed, problem, trash } = removal;
  const result = { agentName, path, branch, removed, branchDeleted, problem, rescue, trash };
  return ok(leftBranch === undefined ? result : { ...result, leftBranch });
}

/** The result of a removal after the caller has deleted its branch. */
export function withoutBranch(judged: Judged, { leftBranch: _, ...removed }: Removed): Removed {
  const { rescue } = removed;
  const restored = rescue === null ? null : { ...rescue, restore: restoreCommand(judged, rescue.ref, true) };
  return { ...removed, branchDeleted: true, rescue: restored };
}

/**
 * Puts a removal on record, unless somebody works there. One of another process is waited for a while, the engine's is
 * over soon; one that was left by a dead process is taken over.
 */
export async function claimRemoval(
  { facts, processes }: Pick<WorktreePorts, "facts" | "processes">,
  request: Omit<RemovingRequest, "process" | "replaces">,
): Promise<Result<RemovingReply, Refusal>> {
  const process = processes.self();
  const deadline = performance.now() + patienceMs;
  let replaces: RemovingRequest["replaces"];
  for (;;) {
    const asked = await facts.removing({ ...request, process, replaces });
    if (!asked.ok || asked.value.removal === null || performance.now() > deadline) return asked;
    const { removal } = asked.value;
    replaces = processes.check(removal) === "gone" ? removal : undefined;
    if (replaces === undefined) await Bun.sleep(betweenLooksMs);
  }
}

const patienceMs = 5_000;
const betweenLooksMs = 50;

const untouched = { removed: false, branchDeleted: false, rescue: null, trash: null } as const;

/**
 * Brings back commits and uncommitted files alike, where they were; on the old branch when that is free. The branch is
 * made by a command of ours: plain git would take the files of a rescue for what git stores, but they are as they lay in
 * the worktree.
 */
function restoreCommand({ worktree }: Judged, ref: string, branchIsFree: boolean): string {
  const branch = branchIsFree ? worktree.branch : `${worktree.branch}-rescued`;
  const kept = shellWord(ref.slice("refs/overstory/".length));
  const restore = `ov snapshots restore ${kept} --branch ${shellWord(branch)}`;
  return `${restore} && git worktree add ${shellWord(worktree.path)} ${shellWord(branch)}`;
}
