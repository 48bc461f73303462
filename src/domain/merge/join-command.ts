import { shellWord } from "../text/shell-word.ts";

/**
 * The git command that merges a branch into the branch that is checked out, for a person or an agent. `--ff` allows both
 * a fast-forward and a merge commit, whatever `merge.ff` says: with `merge.ff=only`, git refuses two histories that have
 * parted.
 */
export const joinCommand = (branch: string, checkout?: string): string =>
  `git ${checkout === undefined ? "" : `-C ${shellWord(checkout)} `}merge --ff ${shellWord(branch)}`;

/** The whole command that promotes what waits for a target: by its run, else by the name of the target. */
export const promoteCommand = ({ runId, target }: { readonly runId: string | null; readonly target: string }): string =>
  `ov merge promote ${runId === null ? `--target ${shellWord(target)}` : `--run ${runId}`}`;
