/** The use cases about worktrees and cleaning, loaded when called. */
export const worktreeUseCases = {
  "worktree.owners": async () => (await import("./owners.ts")).owners,
  "worktree.ownersForCleaning": async () => (await import("./owners.ts")).ownersForCleaning,
  "worktree.snapshots": async () => (await import("./owners.ts")).snapshots,
  "worktree.removing": async () => (await import("./removed.ts")).worktreeRemoving,
  "worktree.removed": async () => (await import("./removed.ts")).worktreeRemoved,
  "worktree.removalEnded": async () => (await import("./removed.ts")).removalEnded,
  "clean.archive": async () => (await import("./archive.ts")).archive,
} as const;
