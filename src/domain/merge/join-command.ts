import { shellWord } from "../text/shell-word.ts";

/**
 * The command with which a person or an agent joins another branch into the one that is checked out. `--ff` allows both
 * a fast-forward and a merge commit, whatever `merge.ff` says: with `merge.ff=only`, git refuses two histories that have
 * parted.
 */
export const joinCommand = (branch: string, checkout?: string): string =>
  `git ${checkout === undefined ? "" : `-C ${shellWord(checkout)} `}merge --ff ${shellWord(branch)}`;
