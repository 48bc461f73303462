import { type Capability, isIn, spawnable, terminalTypes } from "../agent/capability.ts";
import { typesOf } from "../mail/sender.ts";
import type { MailType } from "../mail/types.ts";
import { type FailureMode, failuresOf } from "./failures.ts";
import type { ToolName } from "./tools.ts";

/** A capability with a role of its own; `supervisor` is an older name of `lead`. */
export type Role = Exclude<Capability, "supervisor">;

export const accessKinds = ["read-only", "scoped-write"] as const;
export type AccessKind = (typeof accessKinds)[number];

/** What an agent may do to files. Guards, sandbox profiles and prompts all go by this. */
export interface Access {
  readonly files: AccessKind;
  /** `root`: the project's own checkout, to which no agent writes. */
  readonly place: "worktree" | "root";
  /** Commits on its own branch. */
  readonly commits: boolean;
  /** May run the project's quality gates. */
  readonly gates: boolean;
}

export interface Phase {
  readonly name: string;
  readonly does: string;
}

/** What only the role itself can say. */
interface RoleFacts {
  readonly capability: Role;
  /** Completes "You are ...". */
  readonly job: string;
  readonly tools: readonly ToolName[];
  /** Commands it may type, as words after `ov`. */
  readonly commands: readonly string[];
  /** Types it must know what to do with when they arrive. */
  readonly awaits: readonly MailType[];
  readonly phases: readonly Phase[];
  /** Beside those that all roles of its sort share. */
  readonly failures: readonly FailureMode[];
  /** How it stands in `agent-manifest.json`, which other tools read. */
  readonly model: "haiku" | "sonnet" | "opus";
  readonly words: readonly string[];
}

/** Everything there is to know about a role. Prompts, overlays, guards, tool lists, manifest and docs are made from it. */
export interface RoleSpec extends RoleFacts {
  readonly access: Access;
  readonly spawns: readonly Capability[];
  readonly sends: readonly MailType[];
  /** The types that end its work; empty for capabilities that never end by themselves. */
  readonly terminal: readonly MailType[];
  /** Tools of the agent's program, by the names of the manifest. */
  readonly programTools: readonly string[];
}

/** Adds what the rules of agents and mail already decide, so that no role can say otherwise. */
export function defineRole(facts: RoleFacts): RoleSpec {
  const { capability } = facts;
  const writes = isIn("implementation", capability);
  const isPersistent = isIn("persistent", capability);
  return {
    ...facts,
    failures: [...facts.failures, ...failuresOf(capability)],
    access: {
      files: writes ? "scoped-write" : "read-only",
      place: isPersistent ? "root" : "worktree",
      commits: writes,
      // Those that stay leave the gates to those who build and review.
      gates: !isPersistent,
    },
    spawns: spawnable(capability),
    sends: typesOf(capability),
    terminal: terminalTypes(capability),
    programTools: ["Read", ...(writes ? ["Write", "Edit"] : []), "Glob", "Grep", "Bash"],
  };
}
