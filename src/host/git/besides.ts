import { basename, dirname, join } from "node:path";

/** A place next to a worktree that no agent's worktree can have: names never begin with a dot. */
export const besides = (path: string, purpose: "preparing" | "removing"): string =>
  join(dirname(path), `.${basename(path)}.${purpose}`);
