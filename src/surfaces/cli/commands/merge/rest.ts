import { invalid, type Refusal } from "../../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { AddMergeRequest } from "../../../../usecases/merge/add-entry.ts";
import type { App } from "../../app.ts";
import type { Call } from "../../command.ts";
import { isOn } from "../../given.ts";

/**
 * Uncommitted files of agents would not land, and landing removes their worktrees. So a flag must say what becomes of
 * them. Nothing is changed before every branch was looked at.
 */
export async function settleRest(
  { app, flags, io }: Call,
  branches: readonly string[],
): Promise<Result<readonly string[], Refusal>> {
  const [commit, leave] = [isOn(flags["commit-rest"]), isOn(flags["leave-rest"])];
  if (commit && leave) return no(invalid("--commit-rest", "cannot be combined with --leave-rest"));
  if (leave) return ok([]);
  const found = await app.call("branch.listRests", { branches });
  if (!found.ok) return found;
  const { rests } = found.value;
  const [first] = rests;
  if (first !== undefined && !commit) {
    const { agentName: agent, branch, files, hasCommits } = first;
    return no({ kind: "uncommitted-rest", agent, branch, files, hasCommits });
  }
  const open = rests.map(({ branch }) => branch);
  if (commit && open.length === 0) {
    io.warn("--commit-rest had nothing to commit: it takes what agents left uncommitted, not changes of your own");
  }
  for (const branch of open) {
    const done = await app.call("branch.commitRest", { branch });
    if (!done.ok) return done;
    const hooks = done.value.hooksNotRun.map(visibleLine).join(", ");
    const unchecked = hooks === "" ? "" : `; these git hooks were not run: ${hooks}`;
    io.changed(`what was uncommitted is a commit of ${visibleLine(branch)}`);
    io.warn(`what was uncommitted is a commit of ${visibleLine(branch)} now${unchecked}`);
  }
  return ok(open);
}

/** Queues and approves branches that have a new commit; the new entry replaces the older one. */
export async function queueNewer(
  app: App,
  branches: readonly string[],
  into: string | undefined,
): Promise<Result<unknown, Refusal>> {
  for (const branch of branches) {
    const request = await requestFor(app, branch, into);
    if (!request.ok) return request;
    const added = await app.call("merge.add", { ...request.value, approve: true });
    if (!added.ok) return added;
  }
  return ok(undefined);
}

/** A branch in the form in which it is queued. Refuses a branch that git does not know, before anything is written. */
export async function requestFor(
  app: App,
  branch: string,
  into: string | undefined,
  more: Pick<AddMergeRequest, "dependsOn" | "priority"> = {},
): Promise<Result<AddMergeRequest, Refusal>> {
  const head = await app.call("branch.find", { branch });
  if (!head.ok) return head;
  const { commit: headCommit } = head.value;
  const request: AddMergeRequest = { branch, headCommit, targetBranch: into, ...more };
  const preview = await app.call("merge.preview", request);
  if (!preview.ok) return preview;
  const { targetBranch } = preview.value.entry;
  if (targetBranch === branch) return no(invalid("branch", "is the one it would be merged into", { value: branch }));
  const target = await app.call("branch.find", { branch: targetBranch });
  if (!target.ok) return target;
  const changed = await app.call("branch.listChanges", { target: targetBranch, branch, commit: headCommit });
  return changed.ok ? ok({ ...request, filesModified: changed.value.files }) : changed;
}
