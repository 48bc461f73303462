/** A file of ours that git should know. */
export interface OwnPath {
  readonly path: string;
  /** Others write in it too: what is in it beside our part is not ours to commit. */
  readonly mixed: boolean;
}

export interface CommitFacts {
  readonly own: readonly OwnPath[];
  /** Which of them held something uncommitted before we wrote to them. */
  readonly uncommitted: readonly { readonly path: string; readonly tracked: boolean }[];
  /** Which of them git is told to ignore. */
  readonly ignored: readonly string[];
}

export interface CommitPlan {
  readonly paths: readonly string[];
  /** Files with changes of their author's that are not committed yet. */
  readonly theirs: readonly string[];
  readonly ignored: readonly string[];
}

/**
 * What a set-up may commit: its own files, but none that would take along work a person has not committed. An untracked
 * file that is ours alone is left from a set-up that was cut short.
 */
export function planCommit({ own, uncommitted, ignored }: CommitFacts): CommitPlan {
  const isTheirs = ({ path, mixed }: OwnPath): boolean =>
    uncommitted.some((file) => file.path === path && (file.tracked || mixed));
  const known = own.filter(({ path }) => !ignored.includes(path));
  return {
    paths: known.filter((file) => !isTheirs(file)).map(({ path }) => path),
    theirs: known.filter(isTheirs).map(({ path }) => path),
    ignored: own.filter(({ path }) => ignored.includes(path)).map(({ path }) => path),
  };
}
