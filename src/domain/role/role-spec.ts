import { type Capability, isIn, spawnable, terminalTypes } from "../agent/capability.ts";
import { typesOf } from "../mail/sender.ts";
import type { MailType } from "../mail/types.ts";
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

/** What keeps a mistake from doing harm. `advisory`: nothing but the agent's own judgement. */
export const enforcements = ["rule", "guard", "finish", "engine", "queue", "advisory"] as const;
export type Enforcement = (typeof enforcements)[number];

/** A known way to go wrong, named in capitals so that an agent can recognise it and stop. */
export interface FailureMode {
  readonly name: string;
  readonly means: string;
  readonly enforcedBy: Enforcement;
  /** What exactly stops it, or for an advisory one what to do instead. */
  readonly how: string;
}

/** How the role stands in `agent-manifest.json`, which other tools read. */
export interface ManifestFacts {
  readonly model: "haiku" | "sonnet" | "opus";
  readonly tools: readonly string[];
  readonly words: readonly string[];
}

/** What only the role itself can say. */
export interface RoleFacts {
  readonly capability: Role;
  /** Completes "You are ...". */
  readonly job: string;
  readonly gates: boolean;
  readonly tools: readonly ToolName[];
  /** Commands it may type, as words after `ov`. */
  readonly commands: readonly string[];
  /** Types it must know what to do with when they arrive. */
  readonly awaits: readonly MailType[];
  readonly phases: readonly Phase[];
  readonly failures: readonly FailureMode[];
  readonly manifest: ManifestFacts;
}

/** Everything there is to know about a role. Prompts, overlays, guards, tool lists, manifest and docs are made from it. */
export interface RoleSpec extends Omit<RoleFacts, "gates"> {
  readonly access: Access;
  readonly spawns: readonly Capability[];
  readonly sends: readonly MailType[];
  /** The types that end its work; empty for capabilities that never end by themselves. */
  readonly terminal: readonly MailType[];
}

/** Adds what the rules of agents and mail already decide, so that no role can say otherwise. */
export function defineRole({ gates, ...facts }: RoleFacts): RoleSpec {
  const { capability } = facts;
  const writes = isIn("implementation", capability);
  return {
    ...facts,
    access: {
      files: writes ? "scoped-write" : "read-only",
      place: isIn("persistent", capability) ? "root" : "worktree",
      commits: writes,
      gates,
    },
    spawns: spawnable(capability),
    sends: typesOf(capability),
    terminal: terminalTypes(capability),
  };
}
