import { copyFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { shellWord } from "../../../domain/text/shell-word.ts";
import { halfWayFix } from "../../../domain/worktree/change.ts";
import type { CommittedRest, OwnedWorktree, RestProblem } from "../../../ports/worktrees.ts";
import { rulesFor } from "../filters.ts";
import { expectGit } from "../git.ts";
import { commitAsUser } from "../merge/commit.ts";
import { commitHooks } from "../merge/hooks.ts";
import { placeOf } from "../places.ts";
import { commitAt } from "../refs.ts";
import type { GitProject, Place } from "../repository.ts";
import { changedInSubmodules, checkedOutModules } from "../submodules/agent-modules.ts";
import { halfWayIn } from "../worktree/inspect.ts";
import { openWorktree } from "../worktree/open-worktree.ts";
import { findWork } from "./uncommitted.ts";

/**
 * Commits everything that is uncommitted in a worktree without a running turn, as `git add -A` and `git commit` would:
 * the files as the project wants them stored, on the branch, in the name of the user. Throws `filters-not-ready`, and
 * commits nothing, where a filter that the files need may not run. Safe to repeat: when only the index was not put in
 * its place, it is.
 */
export async function commitRest(
  project: GitProject,
  worktree: OwnedWorktree,
  message: string,
): Promise<CommittedRest> {
  const { repository } = project;
  const ready = await readyToCommit(project, worktree);
  if ("problem" in ready) return ready;
  const { place, head } = ready;
  using open = await openWorktree(project, worktree);
  const { own } = open;
  // The size that a snapshot may store is no matter here.
  const work = await findWork({ ...project, maxFileBytes: Number.MAX_SAFE_INTEGER }, open, worktree.path);
  const stdin = Buffer.concat([...work.changed, ...work.untracked].flatMap((path) => [path, Buffer.of(0)]));
  const add = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
  expectGit(await (await open.asGit()).git(add, { stdin }), "adding files");
  const tree = expectGit(await own.git(["write-tree"]), "writing the files").out.trim();
  // The new commit may name filters that the last commit did not.
  await rulesFor(repository, tree);
  const headTree = expectGit(await own.git(["rev-parse", `${head}^{tree}`]), "reading the branch").out.trim();
  const commit = tree === headTree ? head : await commitAsUser(own, repository, { tree, parent: head, message });
  if (commit !== head) {
    const move = ["update-ref", "--no-deref", "-m", message, `refs/heads/${worktree.branch}`, commit, head];
    expectGit(await own.git(move), `moving ${worktree.branch}`);
  }
  // Beside its place first: no reader sees half an index.
  const copy = join(place.gitDir, "index.rest");
  copyFileSync(join(own.dir, "index"), copy);
  renameSync(copy, join(place.gitDir, "index"));
  const hooksNotRun = await commitHooks(repository);
  return { commit, skipped: work.skipped.map((path) => path.toString()), hooksNotRun };
}

interface Ready {
  readonly place: Place;
  readonly head: string;
}

/** Whether the rest can be committed, and otherwise the problem and what to type about it. Changes nothing. Throws as `commitRest`. */
export async function readyToCommit(project: GitProject, worktree: OwnedWorktree): Promise<Ready | RestProblem> {
  const { repository } = project;
  const { agentName, branch, path } = worktree;
  const inIt = `git -C ${shellWord(path)}`;
  // The agent owns the configuration of its clone, and git would run the programs named there.
  if (worktree.kind === "clone") {
    const fix = `have it commit: ov mail send --to ${agentName} --type question --subject "Commit what you left" --body "git add -A, then git commit"`;
    return { problem: "it works in a clone of its own, in which only the agent commits", fix };
  }
  const place = worktree.kind === "linked" ? placeOf(repository, worktree) : undefined;
  if (place === undefined) return { problem: "its worktree cannot be read", fix: `see what it is: ls -la ${path}` };
  const open = halfWayIn(project, worktree);
  if (open !== null) {
    const fix = halfWayFix(open, { agentName, path, isClone: false });
    return { problem: `a ${open} was left half-way there`, fix };
  }
  if (place.head !== `ref: refs/heads/${branch}`) {
    return { problem: `it is not on ${branch}`, fix: `go there: ${inIt} switch ${branch}` };
  }
  const head = await commitAt(project, `refs/heads/${worktree.branch}`);
  if (head === undefined) return { problem: `there is no branch ${branch}`, fix: `make it: git branch ${branch}` };
  await rulesFor(repository, head);
  // A commit of the project can only name a commit of a submodule.
  const [inside, ...more] = await changedInSubmodules(project, worktree);
  if (inside !== undefined) {
    const others = more.length === 0 ? "" : ` (and ${more.length} more)`;
    const all = [inside, ...more];
    // Inner ones first: a commit there changes the one around it.
    const modules = (await checkedOutModules(project, worktree)).map((found) => found.path).toReversed();
    const changed = modules.filter((module) => all.some((file) => file === module || file.startsWith(`${module}/`)));
    const fix = `commit it there: ${changed.map((module) => commitIn(join(path, module), agentName)).join(" && ")}`;
    return { problem: `${inside}${others} is uncommitted inside a submodule`, fix };
  }
  return { place, head };
}

/** New files are in no `commit -a`. */
function commitIn(module: string, agentName: string): string {
  const inIt = `git -C ${shellWord(module)}`;
  return `${inIt} add -A && ${inIt} commit -m ${shellWord(`Commit what ${agentName} left uncommitted`)}`;
}
