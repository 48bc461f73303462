import type { ProcessIdentity } from "../../domain/process/process.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { Result } from "../../domain/result.ts";
import type { Processes } from "../../ports/process.ts";
import type { SnapshotRecord } from "../../ports/store/snapshots.ts";
import type { WorktreeKeeping } from "../../ports/worktrees.ts";
import type { World } from "../operation.ts";
import type { ArchiveReply, ArchiveRequest } from "./archive.ts";
import type { OwnersReply } from "./owners.ts";
import type { RemovedRequest, RemovingReply, RemovingRequest } from "./removed.ts";

/** The transactions of this folder, each as whoever holds the process's identity. */
export interface WorktreeFactKeeper {
  owners(): Promise<Result<OwnersReply, Refusal>>;
  /** Refused for agents. */
  ownersForCleaning(): Promise<Result<OwnersReply, Refusal>>;
  /** Snapshots and rescues on record. */
  snapshots(): Promise<Result<{ readonly snapshots: readonly SnapshotRecord[] }, Refusal>>;
  removing(request: RemovingRequest): Promise<Result<RemovingReply, Refusal>>;
  removalEnded(request: {
    readonly names: readonly string[];
    readonly process: ProcessIdentity;
  }): Promise<Result<object, Refusal>>;
  removed(request: RemovedRequest): Promise<Result<object, Refusal>>;
  archive(request: ArchiveRequest): Promise<Result<ArchiveReply, Refusal>>;
}

/** What removing worktrees needs: git and processes in this process, facts in transactions. */
export interface WorktreePorts {
  readonly worktrees: WorktreeKeeping;
  readonly facts: WorktreeFactKeeper;
  readonly processes: Pick<Processes, "endStartedFor" | "self" | "check">;
}

export async function worktreePorts(world: World): Promise<WorktreePorts> {
  const { call } = world;
  return {
    worktrees: await world.worktrees(),
    processes: await world.processes(),
    facts: {
      owners: () => call("worktree.listOwners", {}),
      ownersForCleaning: () => call("worktree.listOwnersForCleaning", {}),
      snapshots: () => call("snapshot.listRecords", {}),
      removing: (request) => call("worktree.recordRemoving", request),
      removed: (request) => call("worktree.recordRemoved", request),
      removalEnded: (request) => call("worktree.recordRemovalEnd", request),
      archive: (request) => call("clean.archive", request),
    },
  };
}
