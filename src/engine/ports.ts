import type { BudgetSettings } from "../domain/budget/budget.ts";
import type { ProcessIdentity } from "../domain/process/process.ts";
import type { EngineSide, EnginesAbroad } from "../ports/engine-contact.ts";
import type { Notifying } from "../ports/notify-channels.ts";
import type { Processes } from "../ports/process.ts";
import type { OldFiles } from "../ports/project-files.ts";
import type { WorktreeKeeping } from "../ports/worktrees.ts";
import type { EngineSeat } from "./engine-lease.ts";
import type { MergePorts } from "./merge/ports.ts";
import type { RetentionKey } from "./retention/table.ts";
import type { WatchdogSettings } from "./watchdog/memory.ts";

export interface EnginePorts extends MergePorts {
  /** The project's own checkout. */
  readonly root: string;
  readonly processes: Processes;
  /** Kills this one process, not its children. */
  killOne(identity: ProcessIdentity): void;
  readonly worktrees: WorktreeKeeping;
  readonly side: EngineSide;
  /** Makes the store check before each use that this engine still holds the seat; undefined ends the checks. */
  holdTo(seat: EngineSeat | undefined): void;
  /** Starts the supervisor of a turn, which outlives us; `onExit` tells us early when it ends, if we are still there. */
  startSupervisor(turnId: string, fence: number, onExit: () => void): void;
  readonly abroad: EnginesAbroad;
  readonly notifying: Notifying;
  readonly oldFiles: OldFiles;
  /** Deletes variables captured from a shell. */
  forgetEnvironment(path: string): void;
  /** Gives the space of deleted rows back to the disk, if there is much of it. */
  shrinkDatabase(): void;
  /** Deletes the files that an agent kept to throw away. */
  forgetScratch(agentName: string): void;
  /** Answers a request frame of the command channel. `peer`: see `SocketHandlers`. */
  answer(frame: string, peer: () => number | undefined): Promise<string>;
  worktreePath(agentName: string): string;
  logDir(agentName: string, turnId: string): string;
  readonly settings: EngineSettings;
  /**
   * The limit of file locks that was put on this process since it started. No process below it can be marked as an
   * agent's then.
   */
  lockLimit(): number | undefined;
  /** The path of this engine's own program if the file is missing: no supervisor can be started then. */
  missingProgram(): string | undefined;
  /** Ends this process at once, so that its keeper or the next command starts another engine. */
  giveUp(): void;
  /** Have the settings of the project changed since `settings` were read? */
  settingsChanged(): Promise<boolean>;
}

export interface EngineSettings {
  /** Turns that may run at the same time, over all runs. */
  readonly maxTurns: number;
  /** Turns of one run that may run at the same time. */
  readonly maxTurnsPerRun: number;
  /** A supervisor that has not beaten for twice this time is taken for stuck. */
  readonly leaseMs: number;
  readonly idleExitMs: number;
  readonly canonicalBranch: string;
  readonly budgets: BudgetSettings;
  /** For each configuration key, the days after which old things are deleted; 0 keeps them for ever. */
  readonly retention: Readonly<Record<RetentionKey, number>>;
  /** How many events are kept at most; 0 for any number. */
  readonly mostEvents: number;
  readonly watchdog: WatchdogSettings["watchdog"];
}
