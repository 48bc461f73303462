import type { MergeCause, ResolutionTier } from "../../../domain/merge/entry.ts";

/** One agent as the demonstration shows it. */
export interface DemoAgent {
  readonly name: string;
  readonly capability: string;
  readonly parentName: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly generation: number;
  readonly taskId: string | null;
  readonly released: boolean;
}

export interface DemoMerge {
  readonly branch: string;
  readonly status: string;
  readonly tier: ResolutionTier | null;
  readonly strategy: string | null;
  readonly verdict: string | null;
  readonly cause: MergeCause | null;
  readonly gate: string | null;
}

/** How things stand at one moment. */
export interface DemoState {
  readonly agents: readonly DemoAgent[];
  readonly merges: readonly DemoMerge[];
  readonly runStatus: string;
}

/** What came of it, in numbers and names a person can check. */
export interface DemoSummary {
  readonly complete: boolean;
  /** The user ended the demo early. */
  readonly interrupted: boolean;
  readonly root: string;
  readonly kept: boolean;
  readonly seed: number;
  readonly agents: number;
  readonly turns: number;
  readonly messages: number;
  readonly landed: readonly string[];
  readonly tasksClosed: number;
  readonly tasksOpen: readonly string[];
  readonly gateRuns: number;
  readonly conflicts: readonly { readonly branch: string; readonly strategy: string }[];
  /** Agents whose program died and that went on. */
  readonly recovered: readonly string[];
  readonly reviewsFailed: number;
  readonly caughtByGates: readonly string[];
  readonly testsGreen: boolean;
  readonly promoted: boolean;
  readonly durationMs: number;
}

export interface DemoRequest {
  readonly agents: number;
  readonly seed: number;
  readonly keep: boolean;
}

/** A whole run in a throwaway repository, with scripted agents. */
export interface DemoFacet {
  play(request: DemoRequest, onState: (state: DemoState) => void): Promise<DemoSummary>;
}
