/** Why something is denied: the rule by which it can be found again, and what to do instead, for whoever tried it. */
export interface Denial {
  readonly decision: "deny";
  readonly rule: GuardRule;
  readonly reason: string;
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
] as const;
export type GuardRule = (typeof guardRules)[number];

export const allow: Verdict = { decision: "allow" };

export const deny = (rule: GuardRule, reason: string): Denial => ({ decision: "deny", rule, reason });
