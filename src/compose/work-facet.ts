import type { Agent } from "../domain/agent/agent.ts";
import { invalid, notFound, type Refusal } from "../domain/refusal.ts";
import { no, ok, type Result } from "../domain/result.ts";
import { baseOfTakenOut } from "../engine/merge/taken-out.ts";
import { worktreeOf } from "../engine/supervisor/conserve.ts";
import { saveAgentWork } from "../host/git/agent-work.ts";
import { type ScratchMerging, scratchMerging } from "../host/git/merge/scratch.ts";
import type { WorkFacet, WorkPatch } from "../surfaces/cli/facets/work.ts";
import { targetOf } from "../usecases/merge/landing-target.ts";
import { openStore, type Project, settingsOf } from "./project.ts";
import { worktreeOptions } from "./project-worktrees.ts";

/** What agents of this project have done to files. */
export function makeWorkFacet(project: Project): WorkFacet {
  return { patchOf: (agent) => patchOf(project, agent) };
}

async function patchOf(project: Project, agent: Agent): Promise<Result<WorkPatch, Refusal>> {
  const { name, headCommit, branch } = agent;
  const worktree = worktreeOf(agent);
  if (worktree === undefined || agent.baseCommit === null) {
    const why = agent.worktreeKind === "root" ? "works in the project's own checkout" : "has no worktree yet";
    return no(invalid("agent", why, { value: name }));
  }
  const saved = await saveAgentWork(project.root, worktree, worktreeOptions(project));
  using git = await scratchMerging(project.root);
  // Of a worktree that is gone the commits are left, and what could not be committed is in a snapshot.
  const head = saved?.commit ?? (await git.commitOf(headCommit ?? "")) ?? (await git.commitOf(`refs/heads/${branch}`));
  if (head === undefined) return no(notFound("branch", branch ?? name));
  const base = (await takenOutBase(project, git, agent)) ?? agent.baseCommit;
  const uncommitted = saved?.uncommitted ?? false;
  return ok({ base, head, uncommitted, patch: await git.patch(base, head), skipped: saved?.skipped ?? [] });
}

/** Where the work begins of an agent whose landed commits were taken out again. */
async function takenOutBase(project: Project, merging: ScratchMerging, agent: Agent): Promise<string | undefined> {
  const store = openStore(project, { life: "command", readOnly: true });
  try {
    const landing = await store.read((tx) => targetOf(tx, { settings: settingsOf(project) }, agent.runId));
    return (await baseOfTakenOut({ store, merging }, agent.branch ?? "", `refs/heads/${landing}`))?.base;
  } finally {
    await store.close();
  }
}
