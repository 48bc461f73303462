import type { Agent } from "../agent/agent.ts";
import type { Capability } from "../agent/capability.ts";
import type { Asked } from "./asked.ts";

/** What one agent works on, as stored. Texts in it were written by others. */
export interface Assignment {
  readonly agent: Pick<
    Agent,
    | "name"
    | "generation"
    | "capability"
    | "runId"
    | "taskId"
    | "specPath"
    | "scope"
    | "worktreePath"
    | "branch"
    | "baseRef"
    | "baseCommit"
    | "parentName"
    | "depth"
  >;
  /** Null when the parent is the operator. */
  readonly parentCapability: Capability | null;
  readonly task: { readonly title: string; readonly description: string | null } | null;
  /** What the run is for. */
  readonly objective: string | null;
  /** A spec was written for the task. */
  readonly hasSpec: boolean;
  readonly asked: Asked;
  readonly siblings: readonly Sibling[];
  /** For a reviewer: whose work it judges. */
  readonly subject: Subject | null;
}

export interface Subject {
  readonly name: string;
  readonly branch: string;
  /** Where its work began. */
  readonly baseCommit: string | null;
  /** Where it was last seen. */
  readonly headCommit: string | null;
}

/** Somebody who works beside the agent now. */
export interface Sibling {
  readonly name: string;
  /** Null for a name that nobody has yet. */
  readonly capability: Capability | null;
  readonly branch: string | null;
  readonly scope: readonly string[];
}

/** A quality gate as the project's settings name it. */
export interface NamedGate {
  readonly name: string;
  readonly command: string;
  readonly description?: string | undefined;
}

/** What is true for every agent of the project. */
export interface ProjectTerms {
  readonly gates: readonly NamedGate[];
  /** Where the agent's program finds this text. */
  readonly instructionFile: string;
  /** Live children one parent may have; 0: any number. */
  readonly maxAgentsPerLead: number;
  /** The project keeps expertise. */
  readonly expertise: boolean;
}
