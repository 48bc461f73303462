import { flag, list, oneOf, orNull, text } from "../schema/schema.ts";

/**
 * What a tool does, whatever its program calls it. The first ten are those of the Agent Client Protocol; beside them,
 * `delegate`: starts or steers agents of its own; `ask`: waits for a person; `own`: a tool of ours, which knows its rights.
 */
export const toolKinds = [
  "read",
  "edit",
  "delete",
  "move",
  "search",
  "execute",
  "think",
  "fetch",
  "switch_mode",
  "other",
  "delegate",
  "ask",
  "own",
] as const;
export type ToolKind = (typeof toolKinds)[number];

/** One use of a tool in the guard's own words. The adapter of each runtime reads it from the input of the tool. */
export interface ToolUse {
  readonly kind: ToolKind;
  /** The shell command that is run; null when the input holds none. */
  readonly command: string | null;
  /** The files that are worked on, as the program named them. */
  readonly paths: readonly string[];
  /** The input holds new text for a file. */
  readonly changes: boolean;
}

export const toolUseFields = {
  kind: oneOf(toolKinds),
  command: orNull(text),
  paths: list(text),
  changes: flag,
} as const;

/**
 * Why a call is denied: the rule by which it can be found again, and what to do instead, for the agent that tried it.
 */
export interface Denial {
  readonly decision: "deny";
  readonly rule: GuardRule;
  readonly reason: string;
  /** The part of the command that is meant, where there is one. */
  readonly of?: string;
}

/** `note`: it may be done, and this should be known about it. */
export type Verdict = { readonly decision: "allow"; readonly note?: string } | Denial;

export const guardRules = [
  "unreadable",
  "team-tools",
  "person-tools",
  "unknown-tool",
  "read-only",
  "boundary",
  "guard-files",
  "syntax",
  "dynamic",
  "opaque-code",
  "variables",
  "git-push",
  "git-discard",
  "git-branch",
  "git-merge",
  "git-shared",
  "git-elsewhere",
  "git-unknown",
  "publish",
  "tracker",
  "removal",
  "identity",
  "ov-rights",
  "database",
  "machine",
  "secrets",
] as const;
export type GuardRule = (typeof guardRules)[number];

export const allow: Verdict = { decision: "allow" };

export const deny = (rule: GuardRule, reason: string): Denial => ({ decision: "deny", rule, reason });
