import type { ProcessIdentity } from "../../domain/process/process.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { Result } from "../../domain/result.ts";
import type { Processes } from "../../ports/process.ts";
import type { SnapshotRecord } from "../../ports/store/snapshots.ts";
import type { WorktreeKeeping } from "../../ports/worktrees.ts";
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
