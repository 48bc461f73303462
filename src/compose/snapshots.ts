import { existsSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { branchName } from "../config/schema/shape.ts";
import { nearest } from "../domain/name/nearest.ts";
import { invalid, notFound, type Refusal } from "../domain/refusal.ts";
import { no, ok, type Result } from "../domain/result.ts";
import { unsettledLines } from "../domain/worktree/unsettled.ts";
import { errorCode } from "../host/writable.ts";
import type { SnapshotRecord } from "../ports/store/snapshots.ts";
import type { KeptSnapshot, OwnedWorktree, RestProblem, WorktreeKeeping } from "../ports/worktrees.ts";
import type {
  SnapshotDetail,
  SnapshotPlace,
  SnapshotRestored,
  SnapshotView,
  WorktreeFacet,
} from "../surfaces/cli/facets/worktrees.ts";
import type { Owner } from "../usecases/worktrees/owners.ts";
import type { WorktreeFactKeeper } from "../usecases/worktrees/ports.ts";
import { unlessDamaged } from "../usecases/worktrees/survey.ts";
import { worktreeOf } from "../usecases/worktrees/worktree-of.ts";

interface KeptPorts {
  readonly worktrees: WorktreeKeeping;
  readonly facts: WorktreeFactKeeper;
}

type KeptWorkFacet = Pick<
  WorktreeFacet,
  "restOf" | "unsettledOf" | "commitRest" | "whyNotCommitRest" | "snapshots" | "snapshot" | "restoreSnapshot"
>;

/** Looking at what is kept, and getting it back: git in the command's own process. */
export function keptWork({ worktrees, facts }: KeptPorts): KeptWorkFacet {
  const ownerOf = async (
    branch: string,
    owners: WorktreeFactKeeper["owners"] = facts.owners,
  ): Promise<Result<Owner | undefined, Refusal>> => {
    const read = await owners();
    return read.ok ? ok(read.value.owners.find(({ agent }) => isOn(agent, branch))) : read;
  };
  /** The worktree of a branch in which no turn runs. A command writes in it, so only the operator may ask. */
  const quietWorktree = async (branch: string): Promise<Result<{ readonly worktree: OwnedWorktree }, Refusal>> => {
    const owner = await ownerOf(branch, facts.ownersForCleaning);
    if (!owner.ok) return owner;
    const agent = owner.value?.agent;
    const worktree = agent === undefined ? undefined : worktreeOf(agent);
    if (agent === undefined || worktree === undefined) return no(notFound("branch", branch));
    if (agent.state === "in_turn") return no({ kind: "busy", what: `${agent.name}, which is in a turn,` });
    return ok({ worktree });
  };
  const notCommitted = async (worktree: OwnedWorktree, why: RestProblem): Promise<Refusal> => {
    const { uncommitted: files, ahead } = await worktrees.inspect(worktree);
    const { agentName: agent, branch } = worktree;
    return { kind: "uncommitted-rest", agent, branch, files, hasCommits: ahead > 0, ...why };
  };
  const find = async (of: string): Promise<Result<Found, Refusal>> => {
    const [kept, records] = [await worktrees.snapshots(), await facts.snapshots()];
    if (!records.ok) return records;
    const views = kept.map((one) => ({ kept: one, view: viewOf(one, records.value.snapshots) }));
    // The name of an agent stands for the last one of it.
    const found = views.findLast(({ view }) => [view.name, view.ref, view.agentName].includes(of));
    if (found !== undefined) return ok(found);
    const names = views.flatMap(({ view }) => [view.name, view.agentName]);
    return no(notFound("snapshot", of, nearest(of, names)));
  };
  return {
    restOf: async (branch) => {
      const owner = await ownerOf(branch);
      if (!owner.ok) return owner;
      const worktree = owner.value === undefined ? undefined : worktreeOf(owner.value.agent);
      if (worktree === undefined) return ok(undefined);
      const { uncommitted: files, ahead } = await worktrees.inspect(worktree);
      const rest = { agentName: worktree.agentName, files, hasCommits: ahead > 0 };
      return ok(files.length === 0 ? undefined : rest);
    },
    unsettledOf: async (of) => {
      const read = await facts.owners();
      // Only the operator gets these warnings; an agent looks at its own worktree.
      if (!read.ok) return [];
      const agents = read.value.owners.map(({ agent }) => agent);
      const agent = agents.find(({ name }) => name === of) ?? agents.findLast(({ taskId }) => taskId === of);
      const worktree = agent === undefined ? undefined : worktreeOf(agent);
      if (worktree === undefined) return [];
      const looked = await unlessDamaged(() => worktrees.unsettled(worktree));
      if (!looked.ok) return [`Git cannot read all of the worktree: ${looked.refusal}.`];
      return looked.value === undefined ? [] : unsettledLines(looked.value);
    },
    commitRest: async (branch) => {
      const found = await quietWorktree(branch);
      if (!found.ok) return found;
      const { worktree } = found.value;
      const done = await worktrees.commitRest(worktree, `Commit what ${worktree.agentName} left uncommitted`);
      return "problem" in done ? no(await notCommitted(worktree, done)) : ok({ hooksNotRun: done.hooksNotRun });
    },
    whyNotCommitRest: async (branch) => {
      const found = await quietWorktree(branch);
      if (!found.ok) return found.refusal;
      const { worktree } = found.value;
      const problem = await worktrees.whyNotCommitRest(worktree);
      return problem === undefined ? undefined : notCommitted(worktree, problem);
    },
    snapshots: async () => {
      const [kept, records] = [await worktrees.snapshots(), await facts.snapshots()];
      return records.ok ? ok(kept.map((one) => viewOf(one, records.value.snapshots))) : records;
    },
    snapshot: async (of) => {
      const found = await find(of);
      if (!found.ok) return found;
      const read = await facts.owners();
      if (!read.ok) return read;
      const { kept, view } = found.value;
      const { onTop, commit } = kept;
      const base = read.value.owners.find(({ agent }) => agent.name === kept.agentName)?.agent.baseCommit ?? onTop;
      const trash = (await worktrees.oldTrash(Number.POSITIVE_INFINITY)).filter(
        ({ agentName }) => agentName === kept.agentName,
      );
      const detail: SnapshotDetail = {
        ...view,
        onTop,
        uncommitted: onTop === null ? [] : await worktrees.changes(onTop, commit),
        files: base === null ? [] : await worktrees.changes(base, commit),
        inSubmodules: await worktrees.submoduleWork(kept),
        trash: trash.map(({ path }) => path),
      };
      return ok(detail);
    },
    restoreSnapshot: async (of, place) => {
      // The command writes files anywhere and makes branches, so only the operator may type it.
      const allowed = await facts.ownersForCleaning();
      if (!allowed.ok) return allowed;
      const found = await find(of);
      return found.ok ? restoreTo(worktrees, found.value, place) : found;
    },
  };
}

interface Found {
  readonly kept: KeptSnapshot;
  readonly view: SnapshotView;
}

const isOn = (agent: Owner["agent"], branch: string): boolean =>
  agent.branch === branch && agent.worktreeKind !== "root" && agent.cleanedAt === null;

function viewOf({ ref, commit, agentName, createdAt }: KeptSnapshot, records: readonly SnapshotRecord[]): SnapshotView {
  const record = records.find((one) => one.ref === ref);
  return {
    name: ref.slice("refs/overstory/".length),
    ref,
    commit,
    agentName,
    createdAt: record?.createdAt ?? createdAt,
    reason: record?.reason ?? null,
    skipped: record?.skipped ?? [],
  };
}

async function restoreTo(
  worktrees: WorktreeKeeping,
  { kept, view }: Found,
  { dir, branch }: SnapshotPlace,
): Promise<Result<SnapshotRestored, Refusal>> {
  const to = dir === undefined && branch === undefined ? `restored-${view.name.split("/").slice(1).join("-")}` : dir;
  const place = to === undefined ? null : resolve(to);
  if (place !== null && existsSync(place)) return no(invalid("--to", "is there already", { value: place }));
  if (branch !== undefined && !branchName.fits(branch))
    return no(invalid("--branch", `must be ${branchName.must}`, { value: branch }));
  const taken = no(invalid("--branch", "is there already", { value: branch ?? "" }));
  if (branch !== undefined && (await worktrees.resolve(`refs/heads/${branch}`)) !== undefined) return taken;
  // What can be refused comes first: a filter that may not run leaves neither a branch nor a directory.
  const message = `Restore what ${kept.agentName} left uncommitted\n\nFrom ${kept.ref}.`;
  const commit = branch === undefined ? undefined : await worktrees.commitKept(kept, message);
  const written = place === null ? ok(0) : await exportTo(worktrees, kept, place);
  if (!written.ok) return written;
  if (branch !== undefined && commit !== undefined) {
    const made = await worktrees.makeBranch(branch, commit).catch((error: Error) => error);
    if (made !== true && place !== null) rmSync(place, { recursive: true, force: true });
    if (made === false) return taken;
    // Another branch is in the way, as `a` is of `a/b`.
    if (made !== true) return no(invalid("--branch", `cannot be made: ${made.message}`, { value: branch }));
  }
  const inSubmodules = await worktrees.submoduleWork(kept);
  return ok({ ...view, dir: place, branch: branch ?? null, files: written.value, inSubmodules });
}

/** A place where no directory can be made is a wrong answer to `--to`; what fails after that is a failure. */
async function exportTo(
  worktrees: WorktreeKeeping,
  kept: KeptSnapshot,
  place: string,
): Promise<Result<number, Refusal>> {
  try {
    return ok(await worktrees.exportFiles(kept, place));
  } catch (error) {
    const isPlace = error instanceof Error && "syscall" in error && error.syscall === "mkdir";
    const code = errorCode(error);
    if (!isPlace || !["ENOTDIR", "ENOENT", "ENAMETOOLONG", "ELOOP", "EEXIST", "EINVAL"].includes(code ?? ""))
      throw error;
    return no(invalid("--to", `is no place where a directory can be made (${code})`, { value: place }));
  }
}
