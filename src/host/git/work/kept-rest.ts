import { Failure } from "../../../domain/failure.ts";
import type { KeptRest, OwnedWorktree } from "../../../ports/worktrees.ts";
import { expectGit, git, zeroEnded } from "../git.ts";
import { commitAt } from "../refs.ts";
import type { GitProject } from "../repository.ts";
import { treeOfKept } from "./kept-files.ts";
import { changesBetween, newestOf } from "./kept-work.ts";
import { keptBeside } from "./landed.ts";

/**
 * What the last snapshot of an agent has and its branch lacks: files that were never committed, and commits that were made
 * beside the branch. Commits that were replaced on the branch itself, by an amend or a rebase, are not among them: they
 * are in the branch's own log.
 */
export async function keptRest(project: GitProject, worktree: OwnedWorktree): Promise<KeptRest | undefined> {
  const { agentName, branch, baseCommit } = worktree;
  const [kept, branchTip] = [await newestOf(project, agentName), await commitAt(project, `refs/heads/${branch}`)];
  if (kept === undefined || kept.onTop === null || branchTip === undefined) return undefined;
  const { ref, onTop } = kept;
  const replaced = await branchLog(project, branch);
  const head = replaced.has(onTop) ? [] : await missingFrom(project, worktree, { branchTip, end: onTop });
  const beside: { readonly tip: string; readonly messages: readonly string[] }[] = [];
  for (const tip of await keptBeside(project, kept.commit)) {
    const messages = replaced.has(tip) ? [] : await missingFrom(project, worktree, { branchTip, end: tip });
    if (messages.length > 0) beside.push({ tip, messages });
  }
  const files = await missingFiles(project, kept, branchTip);
  if (head.length + beside.length + files.length === 0) return undefined;
  const joined = await git(project.repository.root, "merge-base", "--is-ancestor", branchTip, onTop);
  return {
    ref,
    files,
    messages: head,
    beside,
    continuesBranch: joined.code === 0,
    branchHasCommits: branchTip !== baseCommit,
  };
}

async function branchLog({ repository }: GitProject, branch: string): Promise<ReadonlySet<string>> {
  // A branch without a log is no failure.
  const log = await git(repository.root, "reflog", "show", "--format=%H", `refs/heads/${branch}`, "--");
  return new Set(log.code === 0 ? log.out.split("\n") : []);
}

/** Messages of the agent's own commits up to `end` that are on its branch neither as themselves nor as picked ones. */
async function missingFrom(
  { repository }: GitProject,
  { agentName, baseCommit, baseRef }: OwnedWorktree,
  { branchTip, end }: { readonly branchTip: string; readonly end: string },
): Promise<readonly string[]> {
  const others = [`--exclude=overstory/${agentName}/*`, "--branches=overstory/*"];
  const theirs = ["--not", ...(baseCommit === null ? [] : [baseCommit]), ...(baseRef == null ? [] : [baseRef])];
  const beside = ["--cherry-pick", "--right-only", `${branchTip}...${end}`];
  const args = ["log", "-z", "--format=%B", "--ignore-missing", ...beside, ...theirs, ...others, "--"];
  const listed = expectGit(await git(repository.root, ...args), "comparing a snapshot with its branch");
  return zeroEnded(listed.raw).map((message) => message.toString());
}

/** Files are compared as git stores them: a snapshot has the bytes that lay there, which a filter may change. */
async function missingFiles(
  project: GitProject,
  kept: { readonly commit: string; readonly onTop: string | null },
  branchTip: string,
): Promise<readonly string[]> {
  const { commit, onTop } = kept;
  if (onTop === null || onTop === commit) return [];
  // Where a filter may not run, the bytes are compared: rather too much than too little is missing then.
  const asGit = await treeOfKept(project, kept).catch((error: unknown) => {
    if (error instanceof Failure && error.data.kind === "filters-not-ready") return commit;
    throw error;
  });
  const uncommitted = await changesBetween(project, onTop, asGit);
  const differs = new Set((await changesBetween(project, branchTip, asGit)).map(({ path }) => path));
  return uncommitted.map(({ path }) => path).filter((path) => differs.has(path));
}
