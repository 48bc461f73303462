import type { Agent } from "../domain/agent/agent.ts";
import { invalid, notFound, type Refusal } from "../domain/refusal.ts";
import { no, ok, type Result } from "../domain/result.ts";
import { worktreeOf } from "../engine/supervisor/conserve.ts";
import { saveAgentWork } from "../host/git/agent-work.ts";
import { scratchMerging } from "../host/git/merge/scratch.ts";
import type { WorkFacet, WorkPatch } from "../surfaces/cli/facets/work.ts";
import type { Project } from "./project.ts";
import { worktreeOptions } from "./project-worktrees.ts";

/** What agents of this project have done to files. */
export function makeWorkFacet(project: Project): WorkFacet {
  return { patchOf: (agent) => patchOf(project, agent) };
}

async function patchOf(project: Project, agent: Agent): Promise<Result<WorkPatch, Refusal>> {
  const { name, baseCommit: base, headCommit, branch } = agent;
  const worktree = worktreeOf(agent);
  if (worktree === undefined || base === null) {
    const why = agent.worktreeKind === "root" ? "works in the project's own checkout" : "has no worktree yet";
    return no(invalid("agent", why, { value: name }));
  }
  const saved = await saveAgentWork(project.root, worktree, worktreeOptions(project));
  using git = await scratchMerging(project.root);
  // Of a worktree that is gone the commits are left, and what could not be committed is in a snapshot.
  const head = saved?.commit ?? (await git.commitOf(headCommit ?? "")) ?? (await git.commitOf(`refs/heads/${branch}`));
  if (head === undefined) return no(notFound("branch", branch ?? name));
  const uncommitted = saved?.uncommitted ?? false;
  return ok({ base, head, uncommitted, patch: await git.patch(base, head), skipped: saved?.skipped ?? [] });
}
