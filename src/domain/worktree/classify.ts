import { type Agent, hasEnded, isSubmitted } from "../agent/agent.ts";
import { statusOf } from "../agent/status.ts";
import { shellWord } from "../text/shell-word.ts";

/**
 * running   its agent has not ended
 * awaited   its merge waits for the operator, whose answer may send its agent back to work
 * held      its agent has ended, but a live agent may still reopen it or work under it
 * damaged   git cannot read it, so its work cannot be seen or kept
 * dirty     it holds work that is in no commit
 * unmerged  it holds commits that landed nowhere, or that cannot be told
 * clean     nothing is lost with it
 */
export const worktreeClasses = ["running", "awaited", "held", "damaged", "dirty", "unmerged", "clean"] as const;
export type WorktreeClass = (typeof worktreeClasses)[number];

export interface WorktreeSituation {
  readonly branch: string;
  /** Undefined for a worktree that no agent on record owns. */
  readonly agent?: Pick<Agent, "name" | "state" | "releasedAt" | "parentName">;
  /** Its parent is an agent that has not ended. */
  readonly parentLives: boolean;
  readonly liveChildren: readonly string[];
  /** The merge of its branch that waits for the operator. */
  readonly waitingMerge?: number | null;
  readonly path: string;
  /** Why git cannot read it. */
  readonly damage?: string | undefined;
  readonly dirty: boolean;
  /** Everything committed there is in the branch it was meant for. */
  readonly landed: boolean;
  /** That its commits landed and were taken out again, in words. */
  readonly takenOut?: string | undefined;
  /** Where it was meant to land, in words. */
  readonly target: string;
}

export interface Verdict {
  readonly class: WorktreeClass;
  /** Completes "it was kept because ...". */
  readonly reason: string;
  /** What to type next; null for a clean one. */
  readonly next: string | null;
}

/** May this worktree go, and if not, why and what to do about it. The first reason that applies counts. */
export function classify(situation: WorktreeSituation): Verdict {
  const { agent, branch, damage, dirty, landed, path, target } = situation;
  if (agent !== undefined && !hasEnded(agent)) {
    return {
      class: "running",
      reason: `${agent.name} is not done (${statusOf({ outcome: null, ...agent }).words})`,
      next: `ov stop ${agent.name}`,
    };
  }
  if (damage !== undefined) return damaged(path, damage);
  const { waitingMerge = null } = situation;
  if (agent !== undefined && isSubmitted(agent) && waitingMerge !== null) {
    const reason = `merge ${waitingMerge} of its branch waits for your decision; ov release ${agent.name} gives it up`;
    return { class: "awaited", reason, next: `ov merge show ${waitingMerge}` };
  }
  const holder = holderOf(situation);
  if (agent !== undefined && holder !== undefined) {
    return { class: "held", reason: holder, next: `ov release ${agent.name}` };
  }
  if (dirty) return { class: "dirty", reason: "it holds uncommitted work", next: "ov worktree clean --force" };
  if (!landed) {
    const reason = situation.takenOut ?? `its commits are not in ${target}`;
    return { class: "unmerged", reason, next: `ov merge --branch ${branch}` };
  }
  return { class: "clean", reason: "nothing is lost with it", next: null };
}

/** Its own words, also for damage that shows only when its work is to be kept. */
export function damaged(path: string, problem: string): Verdict {
  const reason = `git cannot read it (${problem})`;
  return { class: "damaged", reason, next: `git -C ${shellWord(path)} fsck` };
}

function holderOf({ agent, parentLives, liveChildren }: WorktreeSituation): string | undefined {
  if (liveChildren.length > 0) return `its children are live (${liveChildren.join(", ")})`;
  if (agent === undefined || agent.releasedAt !== null || agent.state !== "completed") return undefined;
  return parentLives ? `${agent.parentName} may still reopen its agent` : undefined;
}

/**
 * Forcing gives up uncommitted and unmerged work, after a rescue of it. It never takes the worktree of a live agent, of
 * one that the operator is asked about, or one whose work cannot be rescued.
 */
export const mayBeCleaned = (verdict: Pick<Verdict, "class">, { force }: { readonly force: boolean }): boolean =>
  verdict.class === "clean" || (force && !["running", "awaited", "damaged"].includes(verdict.class));

/** What `ov clean` can be asked to remove. */
export const cleanTargets = [
  "worktrees",
  "branches",
  "mail",
  "sessions",
  "metrics",
  "events",
  "logs",
  "agents",
  "specs",
  "trash",
  "rescue",
] as const;
export type CleanTarget = (typeof cleanTargets)[number];

/**
 * Two targets are asked for by name only. Rescued work is there because its removal was forced before. Events say what
 * happened, the cleaning itself included.
 */
export const allTargets: readonly CleanTarget[] = cleanTargets.filter(
  (target) => target !== "rescue" && target !== "events",
);

/** Directories of the project's state that belong to a target; what cannot be made again is moved to the backup. */
export const targetDirs: Readonly<Partial<Record<CleanTarget, { readonly dir: string; readonly backUp: boolean }>>> = {
  mail: { dir: "mail-blobs", backUp: true },
  logs: { dir: "logs", backUp: false },
  agents: { dir: "agents", backUp: true },
  specs: { dir: "specs", backUp: true },
  trash: { dir: "trash", backUp: false },
};
