import { shellWord } from "../text/shell-word.ts";

/** What others did to a worktree since the last turn of its agent, where it would cost work or mislead the next turn. */
export type WorktreeChange =
  /**
   * Its branch is gone. It is made again at `commit`. `renamedTo` is the branch that the worktree was on instead; null
   * when the worktree was on no other branch that holds the agent's work.
   */
  | {
      readonly kind: "branch-gone";
      readonly branch: string;
      readonly commit: string;
      readonly renamedTo: string | null;
    }
  /** The worktree is on another branch, which stays so: `at` is its name, or the commit where it is on none. */
  | { readonly kind: "other-branch"; readonly branch: string; readonly at: string }
  /** A person began a rebase in it, which is not finished. */
  | { readonly kind: "rebase-open"; readonly branch: string }
  /** The branch was moved to a place that does not hold the commit of the last turn. That commit is kept under a ref. */
  | { readonly kind: "commits-gone"; readonly branch: string; readonly commit: string }
  /** Most of the files are gone, and neither a turn nor a command of git deleted them. They are put back. */
  | { readonly kind: "files-gone"; readonly files: readonly string[] }
  /** A command of git took uncommitted work out of the worktree. It stays out; the snapshot holds it. */
  | { readonly kind: "work-gone"; readonly files: readonly string[]; readonly ref: string };

/** One sentence or two for each change, with the command to type where there is one. */
export function changeLine(change: WorktreeChange): string {
  switch (change.kind) {
    case "branch-gone": {
      const { branch, commit, renamedTo } = change;
      const made = `The branch ${branch} was gone. It was made again at ${shortCommit(commit)}`;
      return renamedTo === null
        ? `${made}.`
        : `${made}, because its worktree was on the branch ${renamedTo}. The worktree is on ${branch} again, and ${renamedTo} stays where it is.`;
    }
    case "other-branch":
      return `The worktree is on ${change.at}, not on ${change.branch}. Only commits on ${change.branch} land. To go back, type in the worktree: git checkout ${change.branch}`;
    case "rebase-open":
      return `A rebase of ${change.branch} was begun in the worktree and is not finished. Look at git status there, then: git rebase --continue or git rebase --abort`;
    case "commits-gone":
      return `The branch ${change.branch} was moved and no longer holds ${shortCommit(change.commit)}, where the last turn ended. That commit is kept. To look at it: git show ${shortCommit(change.commit)}`;
    case "files-gone":
      return `${few(change.files)} were gone, although neither a turn nor a command of git deleted them. They were put back as the last turn left them. Ignored files, and files too large for a snapshot, cannot be put back. To delete files on purpose, use: git rm`;
    case "work-gone":
      return `Uncommitted work of the last turn is no longer in the worktree: ${few(change.files)}. It is kept. To get it: ov snapshots restore ${change.ref.replace("refs/overstory/", "")}`;
  }
}

function few(files: readonly string[]): string {
  const named = files.slice(0, mostNamed).join(", ");
  if (files.length <= mostNamed) return named;
  return `${files.length} files (${named}, ...)`;
}

const mostNamed = 5;
const shortCommit = (commit: string): string => commit.slice(0, 12);

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
      : [
          `A ${open} was left half-way. Look at git status in the worktree, then ${waysOut(open, "git").join(" or ")}.`,
        ]),
    ...(detachedAt === null || open === "rebase"
      ? []
      : [`The worktree is at ${shortCommit(detachedAt)}, and not on its branch ${branch}.`]),
    ...(loose.length === 0
      ? []
      : [`No branch holds ${loose.length === 1 ? "the commit" : "the commits"} ${loose.map(shortCommit).join(", ")}.`]),
  ];
}

/** Commits of an agent that its branch lacks. Only what is on the branch lands. */
export interface OffBranch {
  /** The branch that the worktree is on instead; null when it is on none, or on its own again. */
  readonly on: string | null;
  /** The newest of these commits; more than one when the agent left several lines of them. */
  readonly tips: readonly string[];
  /** The messages of these commits, newest first. */
  readonly messages: readonly string[];
  /** The tip of the agent's own branch, null when that is gone; and the messages of its commits there, newest first. */
  readonly branchTip: string | null;
  readonly branchMessages: readonly string[];
}

/** The first lines of commit messages, each in quotes. Of many, the first ten are named. */
export function subjectsOf(messages: readonly string[]): string {
  const subjects = messages.map((message) => message.split("\n")[0] ?? "").filter((subject) => subject !== "");
  const named = subjects.slice(0, mostSubjects).map((subject) => `"${subject}"`);
  const more = subjects.length > mostSubjects ? [`${subjects.length - mostSubjects} more`] : [];
  return [...named, ...more].join(", ");
}

const mostSubjects = 10;

/** The place of these commits, as the end of a sentence. */
export const offBranchPlace = ({ on, tips }: Pick<OffBranch, "on" | "tips">): string =>
  on === null ? `at ${tips.map(shortCommit).join(", ")}, on no branch` : `on the branch ${on}`;

/** What a person types to bring these commits to the agent's branch. */
export function offBranchFix(
  { on, tips, branchTip }: Pick<OffBranch, "on" | "tips" | "branchTip">,
  place: { readonly agentName: string; readonly branch: string; readonly path: string; readonly isClone: boolean },
  open: HalfWay | null,
): string {
  if (open !== null) return halfWayFix(open, place);
  const inIt = `git -C ${shellWord(place.path)}`;
  const from = on === null ? tips.map(shortCommit).join(" ") : shellWord(on);
  const branch = shellWord(place.branch);
  const [first = "HEAD", ...others] = on === null ? tips.map(shortCommit) : [shellWord(on)];
  // The agent owns the configuration of its clone, and git would run the programs named there.
  if (place.isClone) {
    const made = branchTip === null ? [`git branch ${place.branch} ${first}`] : [];
    const merged = branchTip === null ? others.join(" ") : from;
    const steps = [
      ...made,
      `git checkout ${place.branch}`,
      ...(merged === "" ? [] : [`git merge ${merged}`]),
      "finish",
    ];
    const body = steps.join(", then ");
    return `have it put them there: ov mail send --to ${place.agentName} --type question --subject "Put your commits on your branch" --body ${shellWord(body)}`;
  }
  if (branchTip === null) {
    const rest = others.length === 0 ? "" : ` && ${inIt} checkout ${branch} && ${inIt} merge ${others.join(" ")}`;
    return `its branch is gone; make it again: ${inIt} branch ${branch} ${first}${rest}`;
  }
  return `put them on its branch: ${inIt} checkout ${branch} && ${inIt} merge ${from}`;
}

/** What a person types about an operation of git that an agent left half-way. */
export function halfWayFix(
  open: HalfWay,
  place: { readonly agentName: string; readonly path: string; readonly isClone: boolean },
): string {
  if (place.isClone) {
    const body = `finish the ${open} that you left half-way: ${waysOut(open, "git").join(" or ")}, then finish`;
    return `have it finish the ${open} that it left half-way: ov mail send --to ${place.agentName} --type question --subject "Finish your ${open}" --body ${shellWord(body)}`;
  }
  const ways = waysOut(open, `git -C ${shellWord(place.path)}`);
  return `first end the ${open} that was left half-way: ${ways.join(" or ")}`;
}

/**
 * The commands that end the operation: the one that continues it comes first. `git`: the git command for that place.
 */
export const waysOut = (open: HalfWay, git: string): readonly string[] =>
  open === "bisect" ? [`${git} bisect reset`] : [`${git} ${open} --continue`, `${git} ${open} --abort`];
