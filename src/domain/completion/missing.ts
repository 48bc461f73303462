/**
 * Why work is not complete, or a check said no.
 *
 *   worktree         its files cannot be read
 *   off-branch       its commits are not on its own branch
 *   uncommitted      changes that no commit holds
 *   no-commits       nothing was done, and nobody said that nothing was to do
 *   code             it says that there is no code, but there is
 *   scope            files of others were changed without a reason
 *   gate             a quality gate did not pass
 *   verdict          a review without a verdict
 *   findings         a review that sends work back without saying why
 *   branch           nobody knows which branch was reviewed
 *   unready-branch   a child's branch is neither handed over nor given up
 *   open-child       a child is still at work
 *   not-merged       a branch that was to be joined is not contained
 *   conflict         it did not land for a conflict, and would meet the same one again
 *   ended            the agent ended meanwhile
 *   mail             the report could not be sent
 *   ref              there is no such commit
 *   differs          another outcome than on record
 *   engine           the engine could not do it
 */
export const missingKinds = [
  "worktree",
  "off-branch",
  "uncommitted",
  "no-commits",
  "code",
  "scope",
  "gate",
  "verdict",
  "findings",
  "branch",
  "unready-branch",
  "open-child",
  "not-merged",
  "conflict",
  "ended",
  "mail",
  "ref",
  "differs",
  "engine",
] as const;
export type MissingKind = (typeof missingKinds)[number];

/** One thing that is missing, and how to mend it. */
export interface Missing {
  readonly kind: MissingKind;
  readonly message: string;
  /** What to do, or the command to type. */
  readonly fix: string;
  /** What it is about: paths, branches or agents. */
  readonly names?: readonly string[];
  readonly gate?: string;
  readonly logPath?: string;
  readonly logTail?: string;
}
