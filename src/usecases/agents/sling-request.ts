import type { DollarWatch } from "../../domain/budget/dollar-watch.ts";
import { fields, flag, list, notSent, record, type SchemaOf, text, whole } from "../../domain/schema/schema.ts";

/** The facts that `prepareSeat` adds to a request that starts an agent. Values of the caller are ignored. */
export interface PreparedSeat {
  readonly envFile?: string;
  readonly cliVersion?: string | null;
  readonly programNote?: string;
  readonly dollarWatch?: DollarWatch;
  /** Names that no agent can have, because a branch of the user stands where its branches would be. */
  readonly takenNames?: readonly string[];
}

/** No caller sends them. */
export const preparedFields = {
  envFile: notSent,
  cliVersion: notSent,
  programNote: notSent,
  dollarWatch: notSent,
  takenNames: notSent,
};

/** What `ov sling` and the MCP tool `spawn` ask for. */
export interface SlingRequest extends PreparedSeat {
  readonly taskId: string;
  readonly capability: string;
  /** Files and globs that the agent will own. Empty: the files of its task. */
  readonly files: readonly string[];
  /** Files and globs that it changes together with others. Left out: those of its task. */
  readonly shares?: readonly string[];
  /** The caller's allow-listed variables. */
  readonly environment: Readonly<Record<string, string>>;
  /** Makes the task on the fly. */
  readonly title?: string;
  /** The caller made `taskId` of the title: where another task has that id, the next free number is added. */
  readonly idOfTitle?: boolean;
  readonly name?: string;
  readonly parent?: string;
  /** The id of an active run, or `new`. */
  readonly run?: string;
  /** The branch that its work is meant for; a run that it joins must be for the same one. */
  readonly targetBranch?: string;
  /** The branch that is checked out where it was typed: a new run is for that one, unless a target is named. */
  readonly currentBranch?: string;
  /** No branch is checked out where it was typed; `currentBranch` is the project's then. */
  readonly isLoose?: boolean;
  readonly depth?: number;
  readonly specPath?: string;
  readonly runtime?: string;
  readonly model?: string;
  readonly baseBranch?: string;
  readonly siblings?: readonly string[];
  readonly profile?: string;
  readonly maxAgents?: number;
  readonly dispatchMaxAgents?: number;
  readonly skipScout?: boolean;
  readonly skipReview?: boolean;
  readonly skipTaskCheck?: boolean;
  readonly scoutCheck?: boolean;
  readonly forceHierarchy?: boolean;
  readonly allowOverlap?: boolean;
  /** Set by the program for the reviewer that reads a whole run, which its coordinator may not sling itself. */
  readonly lastReview?: boolean;
}

export const slingFields: SchemaOf<SlingRequest> = fields(
  { taskId: text, capability: text, files: list(text), environment: record(text) },
  {
    title: text,
    idOfTitle: flag,
    name: text,
    parent: text,
    run: text,
    targetBranch: text,
    currentBranch: text,
    isLoose: flag,
    depth: whole,
    specPath: text,
    runtime: text,
    model: text,
    baseBranch: text,
    siblings: list(text),
    shares: list(text),
    profile: text,
    maxAgents: whole,
    dispatchMaxAgents: whole,
    skipScout: flag,
    skipReview: flag,
    skipTaskCheck: flag,
    scoutCheck: flag,
    forceHierarchy: flag,
    allowOverlap: flag,
    ...preparedFields,
    lastReview: notSent,
  },
);

export interface SlingReply {
  readonly agentName: string;
  readonly generation: number;
  readonly capability: string;
  readonly taskId: string;
  readonly branch: string;
  readonly runId: string;
  /** The coordinator of the run; null when only the operator leads it. */
  readonly coordinatorName: string | null;
  /** The branch that the run's work is meant for; null before the first commit. */
  readonly targetBranch: string | null;
  readonly parentAgent: string;
  readonly depth: number;
  readonly runtime: string;
  /** Null: the program's own default. */
  readonly model: string | null;
  readonly state: string;
  /** The merge by which the target's commits could not be taken into the run's landing branch; null when none failed. */
  readonly notTakenIn: number | null;
  readonly warnings: readonly string[];
}
