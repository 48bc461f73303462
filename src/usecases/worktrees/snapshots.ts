import { branchName } from "../../domain/name/name.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { invalid, notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import type { SnapshotRecord } from "../../ports/store/snapshots.ts";
import type { KeptSnapshot, WorktreeKeeping } from "../../ports/worktrees.ts";
import type { Effect, World } from "../operation.ts";

/** One snapshot or rescue, as `ov snapshots` shows it. */
export interface NamedSnapshot {
  /** The short name: what stands behind `refs/overstory/`. */
  readonly name: string;
  readonly ref: string;
  readonly commit: string;
  readonly agentName: string;
  readonly createdAt: number;
  readonly reason: string | null;
  /** Files that were left out: too large, or repositories of their own. */
  readonly skipped: readonly string[];
}

export interface SnapshotDetail extends NamedSnapshot {
  /** The commit its worktree was at. */
  readonly onTop: string | null;
  /** Files that were not committed. */
  readonly uncommitted: readonly { readonly path: string; readonly status: string }[];
  /** Files that differ from where the agent began. */
  readonly files: readonly { readonly path: string; readonly status: string }[];
  /** Uncommitted files inside submodules: the snapshot names only commits of those. */
  readonly inSubmodules: readonly string[];
  /** Where files that no snapshot can hold, and ignored files, were put. */
  readonly trash: readonly string[];
}

export interface SnapshotPlace {
  /** A new directory. */
  readonly dir?: string | undefined;
  /** A new branch. */
  readonly branch?: string | undefined;
}

export interface SnapshotRestored extends NamedSnapshot {
  readonly dir: string | null;
  readonly branch: string | null;
  readonly files: number;
  /** Uncommitted files inside submodules, which were not restored. */
  readonly inSubmodules: readonly string[];
}

export const listSnapshots: Effect<{ readonly agent?: string | undefined }, readonly NamedSnapshot[]> = {
  kind: "effect",
  request: fields({}, { agent: text }),
  place: "engine",
  run: async (world, { agent }) => {
    const all = await (await world.worktrees()).snapshots();
    const kept = agent === undefined ? all : all.filter(({ agentName }) => agentName === agent);
    const records = await world.call("snapshot.listRecords", {});
    return records.ok ? ok(kept.map((one) => namedSnapshot(one, records.value.snapshots))) : records;
  },
};

/** Refused when nothing of that name is kept. */
export const showSnapshot: Effect<{ readonly of: string }, SnapshotDetail> = {
  kind: "effect",
  request: fields({ of: text }),
  place: "engine",
  run: async (world, { of }) => {
    const found = await find(world, of);
    if (!found.ok) return found;
    const read = await world.call("worktree.listOwners", {});
    if (!read.ok) return read;
    const worktrees = await world.worktrees();
    const { kept, named } = found.value;
    const { onTop, commit } = kept;
    const base = read.value.owners.find(({ agent }) => agent.name === kept.agentName)?.agent.baseCommit ?? onTop;
    const trash = (await worktrees.oldTrash(Number.POSITIVE_INFINITY)).filter(
      ({ agentName }) => agentName === kept.agentName,
    );
    return ok({
      ...named,
      onTop,
      uncommitted: onTop === null ? [] : await worktrees.changes(onTop, commit),
      files: base === null ? [] : await worktrees.changes(base, commit),
      inSubmodules: await worktrees.submoduleWork(kept),
      trash: trash.map(({ path }) => path),
    });
  },
};

/** Writes the files of a snapshot to a new directory, or makes a branch of them. */
export const restoreSnapshot: Effect<SnapshotPlace & { readonly of: string }, SnapshotRestored> = {
  kind: "effect",
  request: fields({ of: text }, { dir: text, branch: text }),
  place: "caller",
  run: async (world, { of, ...place }) => {
    // The command writes files anywhere and makes branches, so only the operator may type it.
    const allowed = await world.call("worktree.listOwnersForCleaning", {});
    if (!allowed.ok) return allowed;
    const found = await find(world, of);
    return found.ok ? restoreTo(world, found.value, place) : found;
  },
};

interface Found {
  readonly kept: KeptSnapshot;
  readonly named: NamedSnapshot;
}

async function find(world: World, of: string): Promise<Result<Found, Refusal>> {
  const kept = await (await world.worktrees()).snapshots();
  const records = await world.call("snapshot.listRecords", {});
  if (!records.ok) return records;
  const snapshots = kept.map((one) => ({ kept: one, named: namedSnapshot(one, records.value.snapshots) }));
  // The name of an agent stands for the last one of it.
  const found = snapshots.findLast(({ named }) => [named.name, named.ref, named.agentName].includes(of));
  if (found !== undefined) return ok(found);
  const names = snapshots.flatMap(({ named }) => [named.name, named.agentName]);
  return no(notFound("snapshot", of, nearest(of, names)));
}

function namedSnapshot(
  { ref, commit, agentName, createdAt }: KeptSnapshot,
  records: readonly SnapshotRecord[],
): NamedSnapshot {
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
  world: World,
  { kept, named }: Found,
  { dir, branch }: SnapshotPlace,
): Promise<Result<SnapshotRestored, Refusal>> {
  const [worktrees, files] = [await world.worktrees(), await world.typedFiles()];
  const to = dir === undefined && branch === undefined ? `restored-${named.name.split("/").slice(1).join("-")}` : dir;
  const place = to === undefined ? null : files.absolute(to);
  if (place !== null && files.exists(place)) return no(invalid("--to", "is there already", { value: place }));
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
    if (made !== true && place !== null) files.remove(place);
    if (made === false) return taken;
    // Another branch is in the way, as `a` is of `a/b`.
    if (made !== true) return no(invalid("--branch", `cannot be made: ${made.message}`, { value: branch }));
  }
  const inSubmodules = await worktrees.submoduleWork(kept);
  return ok({ ...named, dir: place, branch: branch ?? null, files: written.value, inSubmodules });
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
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (!isPlace || !["ENOTDIR", "ENOENT", "ENAMETOOLONG", "ELOOP", "EEXIST", "EINVAL"].includes(code)) throw error;
    return no(invalid("--to", `is no place where a directory can be made (${code})`, { value: place }));
  }
}
