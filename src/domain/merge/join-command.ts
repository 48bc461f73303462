import { shellWord } from "../text/shell-word.ts";

/**
 * The git command that merges a branch into the branch that is checked out, for a person or an agent. `--ff` allows both
 * a fast-forward and a merge commit, whatever `merge.ff` says: with `merge.ff=only`, git refuses two histories that have
 * parted.
 */
export const joinCommand = (branch: string, checkout?: string): string =>
  `git ${checkout === undefined ? "" : `-C ${shellWord(checkout)} `}merge --ff ${shellWord(branch)}`;
