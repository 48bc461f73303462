import { invalid, notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import { baseOfTakenOut } from "../merge/landing/taken-out.ts";
import type { Effect } from "../operation.ts";
import { worktreeOf } from "../worktrees/owners.ts";

export interface AgentDiff {
  readonly agentName: string;
  readonly branch: string | null;
  readonly base: string;
  /** The commit, or what stands for a commit while some of it is not committed. */
  readonly head: string;
  /** Some of it is in no commit yet. */
  readonly uncommitted: boolean;
  readonly patch: string;
  /** Files left out: too large, unreadable, or repositories of their own. */
  readonly skipped: readonly string[];
}

/** Everything an agent did to files since where it started, committed or not. Looking changes nothing of it. */
export const diffAgent: Effect<{ readonly name: string }, AgentDiff> = {
  kind: "effect",
  request: fields({ name: text }),
  place: "engine",
  run: async (world, { name: asked }) => {
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
    const saved = await (await world.worktrees()).saveForLooking(worktree);
    return world.lookAhead(async (git) => {
      // Of a worktree that is gone the commits are left, and what could not be committed is in a snapshot.
      const head =
        saved?.commit ?? (await git.commitOf(headCommit ?? "")) ?? (await git.commitOf(`refs/heads/${branch}`));
      if (head === undefined) return no(notFound("branch", branch));
      // The work of an agent whose landed commits were taken out again begins before them.
      const earlier = await baseOfTakenOut(git, { branch, into: `refs/heads/${landing}`, words });
      const base = earlier?.base ?? baseCommit;
      const { uncommitted, skipped } = saved ?? { uncommitted: false, skipped: [] };
      return ok({ agentName, branch, base, head, uncommitted, patch: await git.patch(base, head), skipped });
    });
  },
};
