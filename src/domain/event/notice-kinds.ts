/**
 * Every kind of notice: what the engine tells once and never again. A notice is known by its kind, by what it is about
 * and by its key. The same kind about the same thing is told again only under another key. The words are stored in
 * users' databases, so a kind is never renamed.
 */
export const noticeKinds = [
  // About an agent, by its id
  "worker_died",
  "hopeless",
  "unsettled_work",
  /** Key: when the wait began. */
  "rate_limit",
  /** Key: the turn that does not start, or the agent that gets no worktree. */
  "turn_late",
  "seat_late",
  /** Key: the turn before which it was found, and the words. */
  "worktree_changed",
  // About a run, by its id. Key: a digest of the agents it covers
  "phase",
  "finished",
  /** About the subject of a budget. Key: the ledger and its limit. */
  "budget_exceeded",
  /** About a branch, and about its entry in the merge queue. Key: the commit. */
  "merge_doubt",
] as const;
export type NoticeKind = (typeof noticeKinds)[number];
