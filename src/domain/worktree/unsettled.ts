/** Operations of git that a worktree can be in the middle of. */
export const halfWay = ["rebase", "merge", "cherry-pick", "revert", "bisect"] as const;
export type HalfWay = (typeof halfWay)[number];

/** The state of a worktree that a checkout of its branch would not show. */
export interface Unsettled {
  readonly branch: string;
  readonly halfWay: HalfWay | null;
  /** The commit that the worktree is at; null when it is at the tip of its branch. */
  readonly detachedAt: string | null;
  /** Commits that no branch holds. */
  readonly loose: readonly string[];
}

/** A sentence for each such state, with the command to type. */
export function unsettledLines({ branch, halfWay: open, detachedAt, loose }: Unsettled): readonly string[] {
  return [
    ...(open === null
      ? []
      : [`A ${open} was left half-way. Look at git status in the worktree, then ${wayOut[open]}.`]),
    ...(detachedAt === null || open === "rebase"
      ? []
      : [`The worktree is at ${short(detachedAt)}, and not on its branch ${branch}.`]),
    ...(loose.length === 0
      ? []
      : [`No branch holds ${loose.length === 1 ? "the commit" : "the commits"} ${loose.map(short).join(", ")}.`]),
  ];
}

const wayOut: Readonly<Record<HalfWay, string>> = {
  rebase: "git rebase --continue or git rebase --abort",
  merge: "git merge --continue or git merge --abort",
  "cherry-pick": "git cherry-pick --continue or git cherry-pick --abort",
  revert: "git revert --continue or git revert --abort",
  bisect: "git bisect reset",
};

const short = (commit: string): string => commit.slice(0, 12);
