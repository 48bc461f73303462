import type { Agent } from "./agent.ts";

/** What must be said about a new incarnation; everything else starts from nothing. */
export type FreshAgent = Pick<
  Agent,
  "id" | "name" | "generation" | "capability" | "runtime" | "parentName" | "depth" | "runId" | "taskId" | "startedAt"
> &
  Partial<Agent>;

/** A reserved seat: booting, without a worktree, with nothing behind it. */
export function freshAgent(fields: FreshAgent): Agent {
  return { ...nothing, lastActivityAt: fields.startedAt, ...fields };
}

const nothing = {
  driver: "stream-json",
  cliVersion: null,
  model: null,
  topology: "per_turn",
  specPath: null,
  scope: [],
  worktreePath: null,
  worktreeIdentity: null,
  branch: null,
  baseRef: null,
  baseCommit: null,
  envFile: null,
  state: "booting",
  stateVersion: 0,
  outcome: null,
  stopRequestedBy: null,
  providerSessionId: null,
  reminders: 0,
  revivals: 0,
  worktreeKind: "linked",
  headCommit: null,
  ahead: 0,
  dirty: false,
  successorName: null,
  escalationLevel: 0,
  stalledSince: null,
  instructions: null,
  endedAt: null,
  releasedAt: null,
  cleanedAt: null,
} as const;
