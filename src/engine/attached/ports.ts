import type { TerminalLauncher, TurnFiles } from "../../ports/agent-process.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Instructions } from "../../ports/instructions.ts";
import type { Processes } from "../../ports/process.ts";
import type { Runtime, ToolServer } from "../../ports/runtime.ts";
import type { Settings } from "../../ports/settings.ts";
import type { Store } from "../../ports/store.ts";
import type { Worktrees } from "../../ports/worktrees.ts";

/** What giving an agent back needs. */
export interface HandBackPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly processes: Processes;
  readonly worktrees: Worktrees;
  readonly rules: Settings;
}

/** What opening an agent at a terminal needs. */
export interface AttachedPorts extends HandBackPorts {
  readonly files: Pick<TurnFiles, "readEnvironment">;
  readonly instructions: Instructions;
  readonly terminal: TerminalLauncher;
  runtime(id: string): Runtime | undefined;
  /** PATH with `ov` first, HOME, the project, and what a terminal needs. */
  readonly baseEnvironment: Readonly<Record<string, string>>;
  readonly tools: ToolServer;
}
