import { type Agent, hasEnded } from "../agent/agent.ts";

/**
 * running   its agent has not ended
 * held      its agent has ended, but somebody live may still reopen it or work under it
 * dirty     it holds work that is in no commit
 * unmerged  it holds commits that landed nowhere, or nobody can tell
 * clean     nothing is lost with it
 */
export const worktreeClasses = ["running", "held", "dirty", "unmerged", "clean"] as const;
export type WorktreeClass = (typeof worktreeClasses)[number];

export interface WorktreeSituation {
  readonly branch: string;
  /** Undefined for a worktree that no agent on record owns. */
  readonly agent?: Pick<Agent, "name" | "state" | "releasedAt" | "parentName">;
  /** Its parent is an agent that has not ended. */
  readonly parentLives: boolean;
  readonly liveChildren: readonly string[];
  readonly dirty: boolean;
  /** Everything committed there is in the branch it was meant for. */
  readonly landed: boolean;
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
  const { agent, branch, dirty, landed, target } = situation;
  if (agent !== undefined && !hasEnded(agent)) {
    return { class: "running", reason: `${agent.name} is live (${agent.state})`, next: `ov stop ${agent.name}` };
  }
  const holder = holderOf(situation);
  if (agent !== undefined && holder !== undefined) {
    return { class: "held", reason: holder, next: `ov release ${agent.name}` };
  }
  if (dirty) return { class: "dirty", reason: "it holds uncommitted work", next: "ov worktree clean --force" };
  if (!landed) {
    return { class: "unmerged", reason: `its commits are not in ${target}`, next: `ov merge --branch ${branch}` };
  }
  return { class: "clean", reason: "nothing is lost with it", next: null };
}

function holderOf({ agent, parentLives, liveChildren }: WorktreeSituation): string | undefined {
  if (liveChildren.length > 0) return `its children are live (${liveChildren.join(", ")})`;
  if (agent === undefined || agent.releasedAt !== null || agent.state !== "completed") return undefined;
  return parentLives ? `${agent.parentName} may still reopen its agent` : undefined;
}

/** Forcing gives up uncommitted and unmerged work, after it was rescued. It never takes the ground from a live agent. */
export const mayBeCleaned = (verdict: Pick<Verdict, "class">, { force }: { readonly force: boolean }): boolean =>
  verdict.class === "clean" || (force && verdict.class !== "running");
