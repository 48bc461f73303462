import type { WorktreeKind } from "../domain/agent/agent.ts";
import type { Footprint } from "./runtime.ts";

/** A program of an agent that is about to be started. */
export interface AgentProgram {
  /** Its name or path; null where it is our own. */
  readonly program: string | null;
  readonly agentName: string;
  readonly worktreeKind: WorktreeKind;
  readonly cwd: string;
  /** The directory of the turn; null outside of a turn. */
  readonly turnDir: string | null;
  /** Files that steer the program, by their paths. It may read them and never change them. */
  readonly steering: readonly string[];
  /** Directories below the home that must be there before it starts. */
  readonly makes: readonly string[];
  readonly footprint: Footprint;
  readonly env: Readonly<Record<string, string>>;
  /** All variables that were kept of the operator's shell. They say where programs of vendors keep their files. */
  readonly shell: Readonly<Record<string, string>>;
}

/** A command of a gate, setup or regenerate step: code of agents without an agent around it. */
export interface GateProgram {
  /** The checkout that it works in, which is all that it may change. */
  readonly place: string;
  /** Further files that the program reads, as far as they exist. */
  readonly reads: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The variables that were kept of the shells of agents. */
  readonly shells: readonly Readonly<Record<string, string>>[];
}

/** A vendor's program that is asked for its version. */
export interface ProbeProgram {
  /** Its path. */
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
}

/** How a confined program is started. */
export interface Confinement {
  /** Goes before the command line of the program. */
  readonly before: readonly string[];
  /** The whole environment of the program. */
  readonly env: Readonly<Record<string, string>>;
}

/** Has the operating system confine programs of agents (`sandbox.mode: os`). */
export interface Sandbox {
  /** Is an agent with this kind of worktree confined? Its `ov` then goes by the engine (`OVERSTORY_CHANNEL`). */
  confines(worktreeKind: WorktreeKind): boolean;
  /** Null where this program is not confined, because the mode or its kind of worktree does not ask for it. */
  forAgent(program: AgentProgram): Confinement | null;
  /** Null where agents are not confined. */
  forProbe(program: ProbeProgram): Confinement | null;
  /** Throws where gates must be confined and cannot be. */
  forGate(program: GateProgram): Confinement | null;
  /** Why an agent with this kind of worktree must not start: it would not be confined, and `sandbox.required` says that it must be. */
  refusal(worktreeKind: WorktreeKind): string | undefined;
}
