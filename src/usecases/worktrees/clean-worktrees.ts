import { atMost } from "../../domain/at-most.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { ok, type Result } from "../../domain/result.ts";
import { fields, flag, list, text } from "../../domain/schema/schema.ts";
import { shellWord } from "../../domain/text/shell-word.ts";
import { damaged, mayBeCleaned, type WorktreeClass } from "../../domain/worktree/classify.ts";
import type { FoundBranch } from "../../ports/worktrees.ts";
import type { Effect } from "../operation.ts";
import type { KeptWork, RemovingReply, RemovingRequest } from "./record-removal.ts";
import {
  type Judged,
  judgeAll,
  type Surveyed,
  survey,
  unlessDamaged,
  type WorktreePorts,
  worktreePorts,
  worktreesAtOnce,
} from "./survey.ts";

export interface CleanWorktreesRequest {
  /** Also tell about worktrees of live agents; they are kept all the same. */
  readonly all: boolean;
  readonly force: boolean;
  /** Only those of these agents. Naming an agent gives it up: it does not matter that its parent could reopen it. */
  readonly agents?: readonly string[] | undefined;
}

export interface KeptWorktree {
  readonly agentName: string;
  readonly path: string;
  readonly branch: string;
  readonly class: WorktreeClass;
  readonly reason: string;
  readonly next: string | null;
}

export interface CleanWorktreesReport {
  readonly removed: readonly Removed[];
  readonly failed: readonly Removed[];
  readonly kept: readonly KeptWorktree[];
  /** Records of worktrees whose directory was gone. */
  readonly pruned: number;
}

export const cleanUpWorktrees: Effect<CleanWorktreesRequest, CleanWorktreesReport> = {
  kind: "effect",
  request: fields({ all: flag, force: flag }, { agents: list(text) }),
  place: "engine",
  run: async (world, request) => cleanWorktrees(await worktreePorts(world), request),
};

/** `ov worktree clean`: removes worktrees with which nothing is lost; with force also others, rescued first. */
export async function cleanWorktrees(
  ports: WorktreePorts,
  { all, force, agents }: CleanWorktreesRequest,
): Promise<Result<CleanWorktreesReport, Refusal>> {
  const owners = await ports.call("worktree.listOwnersForCleaning", {});
  if (!owners.ok) return owners;
  const subjects = (await survey(ports.worktrees, owners.value))
    .filter(({ worktree }) => agents === undefined || agents.includes(worktree.agentName))
    .map((surveyed) => (agents === undefined ? surveyed : givenUp(surveyed)));
  const judged = await judgeAll(ports.worktrees, subjects, owners.value.canonicalBranch);
  const mayGo = ({ exists, verdict }: Judged): boolean =>
    (!exists && verdict.class !== "running") || mayBeCleaned(verdict, { force });
  const stays = judged.filter((one) => !mayGo(one) && (all || one.verdict.class !== "running")).map(asKept);
  const going = judged.filter(mayGo);
  const policy = { branch: force ? "always" : "when-landed" } as const;
  const results = await atMost(worktreesAtOnce, going, (one) => removeOne(ports, removalOf(one), policy));
  const failed = results.find((result) => !result.ok);
  if (failed !== undefined && !failed.ok) return failed;
  // Worktrees that existed at the survey. If the engine has removed one meanwhile, it counts as cleaned too.
  const wasThere = new Set(subjects.filter(({ exists }) => exists).map(({ worktree }) => worktree.path));
  const removed = results.flatMap((result) => (result.ok ? [result.value] : []));
  const there = removed.filter(({ path }) => wasThere.has(path));
  const pruned = removed.length - there.length;
  const kept = [...stays, ...there.filter(isHurt).map(keptAsDamaged)];
  const done = there.filter((one) => !isHurt(one));
  const isDone = ({ removed }: Removed): boolean => removed;
  return ok({ removed: done.filter(isDone), failed: done.filter((one) => !isDone(one)), kept, pruned });
}

export const isHurt = ({ isDamaged = false }: Removed): boolean => isDamaged;

export const asKept = ({ worktree: { agentName, path, branch }, verdict }: Judged): KeptWorktree => ({
  agentName,
  path,
  branch,
  ...verdict,
});

/** One whose damage showed when its work was to be kept. */
export function keptAsDamaged({ agentName, path, branch, problem }: Removed): KeptWorktree {
  return { agentName, path, branch, ...damaged(path, problem ?? "") };
}

const givenUp = (surveyed: Surveyed): Surveyed =>
  surveyed.owner === undefined
    ? surveyed
    : { ...surveyed, owner: { ...surveyed.owner, parentLives: false, waitingMerge: null } };

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

/** Everything that removing a worktree has to know, as plain data: a plan carries it from one process to another. */
export interface Removal extends Pick<Judged, "worktree" | "verdict" | "landed" | "exists" | "names" | "tip"> {
  /** The agent that owns the worktree, and all its incarnations; none for a worktree of no agent on record. */
  readonly agentId: string | null;
  readonly incarnations: readonly string[];
}

export const removalOf = ({ worktree, verdict, landed, exists, names, tip, owner }: Judged): Removal => {
  const { agent, incarnations = [] } = owner ?? {};
  return { worktree, verdict, landed, exists, names, tip, agentId: agent?.id ?? null, incarnations };
};

/** `when-landed`: only a branch whose commits are elsewhere too. `always`: they are under the rescue ref. */
export type BranchPolicy = "when-landed" | "always";

/** Is its branch deleted with a worktree that goes? */
export const dropsBranch = (
  { tip, landed, exists, verdict }: Omit<Removal, "agentId" | "incarnations">,
  policy: BranchPolicy,
): boolean => tip !== undefined && (landed || (policy === "always" && exists && verdict.class !== "clean"));

/** Time for what an ended agent left running to leave by itself. */
const graceMs = 2_000;

/**
 * Removes one worktree: what still runs for its agent ends; its work is kept, under a rescue ref when it exists nowhere
 * else; then the intent, the effect and the fact. Repeating it after a crash finds the work kept already. The intent
 * comes after the keeping, because an engine that sees it may take the same worktree away.
 */
export async function removeOne(
  { worktrees, call, processes }: WorktreePorts,
  going: Removal,
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
  const { worktree, verdict, tip, agentId, incarnations } = going;
  const { agentName, generation, path, branch } = worktree;
  // A server that a turn left running must not write after the last look, nor go on where nothing is any more.
  for (const id of incarnations) await processes.endStartedFor(id, graceMs);
  const mustRescue = going.exists && verdict.class !== "clean";
  const kept = await unlessDamaged(async () =>
    // A snapshot also of one whose directory is gone: of commits that no branch holds.
    mustRescue ? { rescued: await worktrees.rescue(worktree) } : { snapshot: await worktrees.snapshot(worktree) },
  );
  if (!kept.ok) return ok({ ...untouched, agentName, path, branch, problem: kept.refusal, isDamaged: true });
  const { rescued, snapshot } = { rescued: undefined, snapshot: undefined, ...kept.value };
  const intent = await claimRemoval({ call, processes }, { names: going.names, agentId: agentId ?? undefined });
  if (!intent.ok) return intent;
  if (!intent.value.clear) return ok({ ...untouched, agentName, path, branch, problem: intent.value.why });
  const dropBranch = tip !== undefined && dropsBranch(going, policy);
  const dropNow = dropBranch && branches === "now";
  const removal = await worktrees.remove(worktree, { deleteBranch: dropNow ? tip : null });
  const left = dropNow ? await worktrees.resolve(`refs/heads/${worktree.branch}`) : undefined;
  const branchDeleted = dropNow && removal.removed && left === undefined;
  const leftBranch = dropBranch && !dropNow && removal.removed ? { branch, tip } : undefined;
  const stored = await call("worktree.recordRemoved", {
    agentName,
    generation,
    agentId: agentId ?? undefined,
    path,
    branch,
    branchDeleted,
    removed: removal.removed,
    kept: [rescued, snapshot].filter((kept) => kept !== undefined),
    trash: removal.trash,
  });
  if (!stored.ok) return stored;
  if (claim === "ends") {
    const ended = await call("worktree.recordRemovalEnd", {
      names: going.names.map(({ name }) => name),
      process: processes.self(),
    });
    if (!ended.ok) return ended;
  }
  const rescue =
    rescued === undefined
      ? null
      : { ...rescued, restore: restoreCommand(going, rescued.ref, { branchIsFree: branchDeleted }) };
  const { removed, problem, trash } = removal;
  const result = { agentName, path, branch, removed, branchDeleted, problem, rescue, trash };
  return ok(leftBranch === undefined ? result : { ...result, leftBranch });
}

/** The result of a removal after the caller has deleted its branch. */
export function withoutBranch(going: Removal, { leftBranch: _, ...removed }: Removed): Removed {
  const { rescue } = removed;
  const restored =
    rescue === null ? null : { ...rescue, restore: restoreCommand(going, rescue.ref, { branchIsFree: true }) };
  return { ...removed, branchDeleted: true, rescue: restored };
}

/**
 * Puts a removal on record, unless an agent works there. A removal of another process is waited for; the engine's own
 * is over soon. A removal that a dead process left is taken over.
 */
export async function claimRemoval(
  { call, processes }: Pick<WorktreePorts, "call" | "processes">,
  request: Omit<RemovingRequest, "process" | "replaces">,
): Promise<Result<RemovingReply, Refusal>> {
  const process = processes.self();
  const deadline = performance.now() + patienceMs;
  let replaces: RemovingRequest["replaces"];
  for (;;) {
    const asked = await call("worktree.recordRemoving", { ...request, process, replaces });
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
 * Brings back commits and uncommitted files alike, beside the project; on the old branch when that is free. In
 * `.overstory/worktrees` the worktree would count as the agent's, and `ov doctor` would offer to take it away. The branch is
 * made by a command of ours: plain git would take the files of a rescue for what git stores, but they are as they lay in
 * the worktree.
 */
function restoreCommand(
  { worktree }: Removal,
  ref: string,
  { branchIsFree }: { readonly branchIsFree: boolean },
): string {
  const branch = branchIsFree ? worktree.branch : `${worktree.branch}-rescued`;
  const kept = shellWord(ref.slice("refs/overstory/".length));
  const restore = `ov snapshots restore ${kept} --branch ${shellWord(branch)}`;
  const place = worktree.path.replace(/\/\.overstory\/worktrees\/([^/]+)$/, "-$1-rescued");
  return `${restore} && git worktree add ${shellWord(place)} ${shellWord(branch)}`;
}
