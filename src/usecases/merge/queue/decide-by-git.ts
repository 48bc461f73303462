import type { MergeEntry } from "../../../domain/merge/entry.ts";
import { isSettledByHand } from "../../../domain/merge/words.ts";
import { invalid, type Refusal } from "../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../domain/result.ts";
import { fields, flag, list, text, whole } from "../../../domain/schema/schema.ts";
import { shellWord } from "../../../domain/text/shell-word.ts";
import type { AheadGit } from "../../../ports/merge-git.ts";
import type { Effect, World } from "../../operation.ts";
import type { DecideReply, DecideRequest } from "../../operator/decide.ts";
import { type EntryEffect, ofEntry } from "../merge-records.ts";
import type { AddMergeReply, AddMergeRequest } from "./add-entry.ts";
import type { ApproveRequest } from "./decide-entry.ts";

/**
 * Decisions about branches that need git's word before they are stored: a branch may have more than its entry names. The
 * first step of each checks the rights of the caller.
 */

export interface ApproveBranchesRequest extends Omit<ApproveRequest, "look" | "numbers"> {
  /** Lands a branch as it was queued, without its newer commits and without what its agent left uncommitted. */
  readonly leaveRest?: boolean | undefined;
  /**
   * Only refuses as the approval would after all that is uncommitted has been committed and queued. Approves nothing, and
   * answers the entries.
   */
  readonly beforeCommit?: boolean | undefined;
}

/**
 * The operator's word that branches may land, as they were shown. Refused where work on a branch would be left behind, and
 * where no commit was on record that could have been shown.
 */
export const approveBranches: Effect<ApproveBranchesRequest, { readonly approved: readonly MergeEntry[] }> = {
  kind: "effect",
  request: fields({}, { of: text, all: flag, ignoreDependencies: flag, leaveRest: flag, beforeCommit: flag }),
  place: "engine",
  run: async (world, { leaveRest, beforeCommit, ...request }) => {
    const looked = await world.call("merge.recordApproval", { ...request, look: true });
    if (!looked.ok) return looked;
    const entries = looked.value.approved;
    const willCommit = beforeCommit === true;
    const refused =
      (leaveRest === true ? undefined : await refuseLeftBehind(world, entries, { willCommit })) ??
      (await refuseUnknown(world, entries));
    if (refused !== undefined) return no(refused);
    if (willCommit) return looked;
    // By number: an announcement that comes between would put another commit under the name of a branch, or a branch
    // that was not looked at under `all`.
    const numbers = entries.map(({ id }) => id);
    const which = request.all === true ? { numbers } : { of: String(numbers[0]) };
    return world.call("merge.recordApproval", { ...request, ...which });
  },
};

/** The operator's word on something that waits for it. An approval of a branch is refused as `merge.approve` refuses. */
export const decideByGit: Effect<DecideRequest, DecideReply> = {
  kind: "effect",
  request: fields({ id: text, option: text }, { note: text }),
  place: "engine",
  run: async (world, request) => {
    const found = await world.call("operator.findApproval", { id: request.id, option: request.option });
    if (!found.ok) return found;
    const { entry } = found.value;
    const refused =
      entry === null ? undefined : ((await refuseLeftBehind(world, [entry])) ?? (await refuseUnknown(world, [entry])));
    return refused === undefined ? world.call("operator.recordDecision", request) : no(refused);
  },
};

/** Refuses entries whose agent left files uncommitted, and those whose branch has commits that would not land. */
async function refuseLeftBehind(
  world: World,
  entries: readonly MergeEntry[],
  { willCommit }: { readonly willCommit: boolean } = { willCommit: false },
): Promise<Refusal | undefined> {
  const found = await world.call("branch.listRests", { branches: entries.map(({ branch }) => branch) });
  if (!found.ok) return found.refusal;
  const { rests } = found.value;
  const rest = rests.find(({ mayCommit }) => !willCommit || !mayCommit);
  if (rest !== undefined) return rest.refusal;
  for (const { branch } of willCommit ? rests : []) {
    const allowed = await world.call("branch.checkRest", { branch });
    if (!allowed.ok) return allowed.refusal;
  }
  for (const { id, branch, headCommit } of entries) {
    // Together with the committed work the newest commit of this branch is queued already.
    if (rests.some((one) => one.branch === branch)) continue;
    const tip = await world.call("branch.find", { branch });
    if (!tip.ok || headCommit === "" || !(await hasNewer(world, tip.value.commit, headCommit))) continue;
    return movedSince({ id, branch }, [`ov merge approve ${id} --leave-rest`]);
  }
  return undefined;
}

/** What is refused where the branch has another commit than the queued one. `more`: other ways on than the newest commit. */
export function movedSince({ id, branch }: Pick<MergeEntry, "id" | "branch">, more: readonly string[] = []): Refusal {
  const why = `has moved since it was queued as merge ${id}, and its newer commits would not land`;
  return invalid("branch", why, { value: branch, allowed: [`ov merge --branch ${shellWord(branch)}`, ...more] });
}

/** Has the branch another commit than the queued one, other than for the settled conflicts that the queued one has on top? */
const hasNewer = async (world: World, tip: string, queued: string): Promise<boolean> =>
  tip !== queued && (queued === "" || !(await world.lookAhead((git) => isSettledOn(git, tip, queued))));

/** Conflicts that a person settled are in commits on top of the branch, which the branch itself may lack. */
export async function isSettledOn(
  git: Pick<AheadGit, "commitOf" | "contains" | "commitsSince">,
  tip: string,
  queued: string,
): Promise<boolean> {
  if ((await git.commitOf(queued)) === undefined || !(await git.contains(queued, tip))) return false;
  // A branch that was moved back lacks commits, too: those were dropped on purpose.
  return (await git.commitsSince(tip, queued, "mainLine")).every(({ message }) => isSettledByHand(message));
}

/**
 * Puts the commit of an entry on record that has none yet, and asks for the word again: that commit was never shown.
 */
async function refuseUnknown(world: World, entries: readonly MergeEntry[]): Promise<Refusal | undefined> {
  for (const { id, branch, headCommit } of entries) {
    if (headCommit !== "") continue;
    const tip = await world.call("branch.find", { branch });
    if (!tip.ok) return tip.refusal;
    const { commit } = tip.value;
    const recorded = await world.call("merge.recordHead", { id, headCommit: commit });
    if (!recorded.ok) return recorded.refusal;
    const why = `had no commit on record as merge ${id} when you looked; it is ${commit.slice(0, 12)} now: look, and approve it again`;
    return invalid("branch", why, { value: branch, allowed: [`ov merge diff ${id}`, `ov merge approve ${id}`] });
  }
  return undefined;
}

export interface RetryReply {
  readonly entry: MergeEntry;
  /** A newer commit of the branch was queued: the old one would fail again. */
  readonly isNewer: boolean;
}

/** Tries again what did not land, with the newest commit of its branch. */
export const retryBranch: EntryEffect<RetryReply> = ofEntry<RetryReply>(async (world, { entry }, of) => {
  const { branch, headCommit, targetBranch, status } = entry;
  const tip = await world.call("branch.find", { branch });
  const isOver = ["failed", "conflict"].includes(status);
  if (isOver && tip.ok && (await hasNewer(world, tip.value.commit, headCommit))) {
    const newer = await planAdd(world, { branch, targetBranch, listsFiles: true });
    const added = newer.ok ? await world.call("merge.add", { ...newer.value, approve: true }) : newer;
    return added.ok ? ok({ entry: added.value.entry, isNewer: true }) : added;
  }
  const again = await world.call("merge.recordRetry", { of });
  return again.ok ? ok({ entry: again.value.entry, isNewer: false }) : again;
});

export interface PlanAddRequest
  extends Omit<AddMergeRequest, "headCommit" | "filesModified" | "approve" | "insteadOf"> {
  /** Names the files that the branch changes. Where nothing shows them, the engine finds them when it needs them. */
  readonly listsFiles?: boolean | undefined;
}

/** A branch in the form in which it is queued. Refuses a branch that git does not know, before anything is written. */
export const planAddition: Effect<PlanAddRequest, AddMergeRequest> = {
  kind: "effect",
  request: fields(
    { branch: text },
    { targetBranch: text, taskId: text, priority: whole, dependsOn: list(text), listsFiles: flag },
  ),
  place: "engine",
  run: async (world, request) => planAdd(world, request),
};

/** Puts a branch with its newest commit into the queue. */
export const addBranch: Effect<PlanAddRequest, AddMergeReply> = {
  ...planAddition,
  run: async (world, request) => {
    const planned = await planAdd(world, request);
    return planned.ok ? world.call("merge.add", planned.value) : planned;
  },
};

async function planAdd(
  world: World,
  { listsFiles = false, ...asked }: PlanAddRequest,
): Promise<Result<AddMergeRequest, Refusal>> {
  const { branch } = asked;
  const head = await world.call("branch.find", { branch });
  if (!head.ok) return head;
  const { commit: headCommit } = head.value;
  const request: AddMergeRequest = { ...asked, headCommit };
  const preview = await world.call("merge.preview", request);
  if (!preview.ok) return preview;
  const { targetBranch } = preview.value.entry;
  if (targetBranch === branch) return no(invalid("branch", "is the one it would be merged into", { value: branch }));
  const target = await world.call("branch.find", { branch: targetBranch });
  if (!target.ok) return target;
  if (!listsFiles) return ok(request);
  const changed = await world.call("branch.listChanges", { target: targetBranch, branch, commit: headCommit });
  return changed.ok ? ok({ ...request, filesModified: changed.value.files }) : changed;
}
