import type { GateResult } from "../../domain/gate/gate.ts";
import type { ProcessIdentity } from "../../domain/process/process.ts";
import type { Clock } from "../../ports/clock.ts";
import type { CommandRun, GateRunner } from "../../ports/gate-runner.ts";
import type { Ids } from "../../ports/ids.ts";
import type { ReachKillPoint } from "../../ports/kill-points.ts";
import type { MergeGit } from "../../ports/merge-git.ts";

/** Results by what decided them. */
export interface GateCache {
  /** The latest result for this tree and hash. */
  find(tree: string, gateHash: string): Promise<GateResult | undefined>;
  store(result: GateResult): Promise<void>;
}

/** What running gates needs of the world. */
export interface GatePorts {
  readonly git: Pick<MergeGit, "checkOut" | "keepInstalled" | "formOfFiles">;
  readonly runner: GateRunner;
  readonly cache: GateCache;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "next" | "digest">;
  newRun(): CommandRun;
  /** Puts a process on record; what it answers takes note of its end. */
  recordProcess(identity: ProcessIdentity, run: CommandRun): Promise<() => Promise<void>>;
  /** Writes a list of paths, each ended by a NUL. */
  saveChangedFiles(path: string, files: readonly string[]): Promise<void>;
  readonly reach?: ReachKillPoint;
}
