/** Read as one list: `clean` takes the names of what to take away from where they are declared. */
export const handledByList = [
  "clean --worktrees",
  "clean --branches",
  "clean --mail",
  "clean --sessions",
  "clean --metrics",
  "clean --events",
  "clean --logs",
  "clean --agents",
  "clean --specs",
  "clean --trash",
  "clean --rescue",
] as const;

/** Taken so that scripts written for earlier tools go on working; the help says so, or does not show them. */
export const acceptedOnly = [
  "init --tools",
  "init --skip-mulch",
  "init --skip-seeds",
  "init --skip-canopy",
  "init --skip-onboard",
  "coordinator start --watchdog",
  "coordinator start --accept-existing-watchdog",
  "coordinator output --interval",
  "orchestrator output --interval",
  "orchestrator start --watchdog",
  "orchestrator start --accept-existing-watchdog",
  "discover --watchdog",
  "discover --task-id",
  "inspect --no-tmux",
] as const;

/** Not typed in any test yet, though handled: this list should only ever get shorter. */
export const untypedFlags = [
  ...acceptedOnly,
  "coordinator output --follow",
  "coordinator check-complete --require-clean",
  "orchestrator output --follow",
  "merge approve --ignore-dependencies",
  "merge undo --requeue",
  "agents discover --state",
  "worktree clean --completed",
  "clean --agents",
  "clean --specs",
  "clean --trash",
  "merge-file --union",
  "demo --keep",
  "demo --agents",
  "demo --seed",
] as const;
