/**
 * Every named instant at which a test build can be told to die (`OVERSTORY_TEST_KILL_AT=<name>`). One stands before and
 * after each effect, so a sweep over this list is a sweep over every half-done step. Between them, the commit of every
 * write transaction can be named by its number (`tx:<n>`).
 */
export const killPoints = [
  "command.before-commit",
  "command.after-commit",
  "command.before-wake",
  "state.before-copy",
  "state.after-copy",
  "state.after-move",
  "state.after-files",
  "engine.started",
  "engine.listening",
  "engine.before-leave",
  "seat.before-worktree",
  "seat.after-worktree",
  "seat.after-fact",
  "stop.after-kill",
  "release.after-snapshot",
  "release.after-remove",
  "merge.claimed",
  "merge.before-land",
  "merge.after-land",
  "merge.after-fact",
  "promote.staged",
  "promote.locked",
  "promote.verified",
  "promote.after-branch",
  "promote.between-files",
  "promote.after-files",
  "promote.after-index",
  "promote.before-back",
  "promote.during-back",
  "dispatch.after-claim",
  "dispatch.after-supervisor",
  "turn.started",
  "turn.before-spawn",
  "turn.after-spawn",
  "turn.after-identity",
  "turn.after-gate",
  "turn.after-input",
  "turn.after-batch",
  "turn.after-snapshot",
  "turn.before-settle",
  "turn.after-settle",
  "gate.after-checkout",
  "gate.after-setup",
  "gate.after-run",
  "done.after-claim",
  "done.after-check",
  "done.after-fact",
] as const;
export type KillPoint = (typeof killPoints)[number];

/** Does nothing in a release build. */
export type ReachKillPoint = (name: KillPoint) => void;
