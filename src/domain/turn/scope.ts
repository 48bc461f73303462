import type { Agent } from "../agent/agent.ts";
import { isIn } from "../agent/capability.ts";
import type { EventFact } from "../event/event.ts";
import { matchesGlob } from "../text/glob.ts";

export interface ScopeFacts {
  readonly agent: Pick<Agent, "capability" | "scope" | "baseCommit">;
  /** Files that differ from the agent's base commit. */
  readonly changed: readonly string[];
  /** Bodies of the commits since that base. */
  readonly commitBodies: readonly string[];
  /** Subjects of the mail the agent ever sent. */
  readonly mailSubjects: readonly string[];
}

/** Changed files that no entry of the scope covers. An empty scope restricts nothing. */
export function outsideScope(changed: readonly string[], scope: readonly string[]): string[] {
  if (scope.length === 0) return [];
  return changed.filter((file) => !scope.some((entry) => matchesGlob(file, entry)));
}

/** The agent said why it went beyond its scope: in a commit, or by mail. */
export function isScopeExplained({ commitBodies, mailSubjects }: Omit<ScopeFacts, "agent" | "changed">): boolean {
  if (commitBodies.some((body) => /\bexpansion_reason:[^\S\n]*\S/i.test(body))) return true;
  return mailSubjects.some((subject) => /^scope_expansion/i.test(subject));
}

/** What to put on record when an agent changed files outside its scope and did not say why; undefined when all is well. */
export function scopeWarning(facts: ScopeFacts): EventFact<"scope_violation"> | undefined {
  const { agent, changed } = facts;
  if (!isIn("implementation", agent.capability)) return undefined;
  const violations = outsideScope(changed, agent.scope);
  if (violations.length === 0 || isScopeExplained(facts)) return undefined;
  const message =
    `changed outside its scope: ${violations.join(", ")}. ` +
    'To explain it, write "expansion_reason: <why>" in a commit message or send mail whose subject starts with scope_expansion.';
  const data = { violations, fileScope: agent.scope, base: agent.baseCommit, message };
  return { type: "scope_violation", level: "warn", data };
}
