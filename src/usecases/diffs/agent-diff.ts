import type { Agent } from "../../domain/agent/agent.ts";
import { invalid, notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import type { LookingGit } from "../../ports/merge-git.ts";
import { baseOfTakenOut } from "../merge/landing/taken-out.ts";
import type { Effect, World } from "../operation.ts";
import { worktreeOf } from "../worktrees/owners.ts";
import { type Diff, type DiffForm, diffFields, readDiff } from "./read-diff.ts";

/** The work of an agent: from where it started to what its worktree holds. */
export interface AgentWork {
  readonly agentName: string;
  readonly branch: string | null;
  readonly base: string;
  /** The commit; while some work is not committed, a text that stands for it. */
  readonly head: string;
  /** Some of it is in no commit yet. */
  readonly uncommitted: boolean;
  /** Its worktree is gone, so that only commits are left to show. */
  readonly worktreeGone: boolean;
  /** Files left out: too large, unreadable, or repositories of their own. */
  readonly skipped: readonly string[];
}

export interface AgentDiff extends AgentWork {
  readonly patch: string;
}

/** Everything an agent did to files since where it started, committed or not. Looking changes nothing of it. */
export const diffAgent: Effect<{ readonly name: string }, AgentDiff> = {
  kind: "effect",
  request: fields({ name: text }),
  place: "engine",
  run: async (world, { name }) =>
    lookAtWork(world, name, async (git, work) => ok({ ...work, patch: await git.patch(work.base, work.head) })),
};

export interface AgentDiffRequest extends DiffForm {
  readonly name: string;
  /** Only what changed since this commit, as since an earlier look. */
  readonly since?: string | undefined;
}

/** The same for a page: file by file, in hunks. */
export const showAgentDiff: Effect<AgentDiffRequest, AgentWork & Diff> = {
  kind: "effect",
  request: fields({ name: text }, { ...diffFields, since: text }),
  place: "engine",
  run: async (world, { name, since, ...form }) => {
    const settings = await world.settings();
    return lookAtWork(world, name, async (git, work, agent) => {
      const from = since === undefined ? work.base : await git.commitOf(since);
      if (from === undefined) return no(invalid("since", "is no commit of this repository", { value: since ?? "" }));
      const diff = await readDiff(git, { from, to: work.head, form, settings, area: agent });
      return diff.ok ? ok({ ...work, base: from, ...diff.value }) : diff;
    });
  },
};

async function lookAtWork<Reply>(
  world: World,
  asked: string,
  look: (git: LookingGit, work: AgentWork, agent: Agent) => Promise<Result<Reply, Refusal>>,
): Promise<Result<Reply, Refusal>> {
  const found = await world.call("status.agent", { name: asked });
  if (!found.ok) return found;
  const { agent } = found.value;
  const { name: agentName, baseCommit, headCommit, branch, runId } = agent;
  const worktree = worktreeOf(agent);
  if (worktree === undefined || baseCommit === null || branch === null) {
    const why = agent.worktreeKind === "root" ? "works in the project's own checkout" : "has no worktree yet";
    return no(invalid("agent", why, { value: agentName }));
  }
  const record = await world.call("merge.readRecord", { branches: [branch], runId });
  if (!record.ok) return record;
  const {
    words: [words = []],
    landing,
  } = record.value;
  const worktrees = await world.worktrees();
  const saved = await worktrees.saveForLooking(worktree);
  const worktreeGone = !(await worktrees.state(worktree)).exists;
  return world.lookAhead(async (git) => {
    // Of a worktree that is gone the commits are left, and what could not be committed is in a snapshot.
    const head =
      saved?.commit ?? (await git.commitOf(headCommit ?? "")) ?? (await git.commitOf(`refs/heads/${branch}`));
    if (head === undefined) return no(notFound("branch", branch));
    // The work of an agent whose landed commits were taken out again begins before them.
    const earlier = await baseOfTakenOut(git, { branch, into: `refs/heads/${landing}`, words });
    const base = earlier?.base ?? baseCommit;
    const { uncommitted, skipped } = saved ?? { uncommitted: false, skipped: [] };
    return look(git, { agentName, branch, base, head, uncommitted, worktreeGone, skipped }, agent);
  });
}
