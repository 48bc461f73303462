import type { EventFact } from "../event/event.ts";
import { covers, plainPattern } from "../text/glob.ts";
import type { Agent } from "./agent.ts";
import { isIn } from "./capability.ts";

interface ScopeFacts {
  readonly agent: Pick<Agent, "capability" | "scope" | "shares" | "baseCommit">;
  /** Files that differ from the agent's base commit. */
  readonly changed: readonly string[];
  /** Bodies of the commits since that base. */
  readonly commitBodies: readonly string[];
  /** Subjects of the mail the agent ever sent. */
  readonly mailSubjects: readonly string[];
}

/** Changed files that no entry of the scope covers; a directory covers everything below it. An empty scope restricts nothing. */
export function outsideScope(changed: readonly string[], scope: readonly string[]): string[] {
  if (scope.length === 0) return [];
  return changed.filter((file) => !scope.some((entry) => covers(entry, file)));
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
  const violations = outsideScope(changed, changeable(agent));
  if (violations.length === 0 || isScopeExplained(facts)) return undefined;
  const message =
    `changed outside its scope: ${violations.join(", ")}. ` +
    'To explain it, write "expansion_reason: <why>" in a commit message or send mail whose subject starts with scope_expansion.';
  const data = { violations, fileScope: agent.scope, base: agent.baseCommit, message };
  return { type: "scope_violation", level: "warn", data };
}

/** The files of a task or an agent: those that it owns, and those that it changes together with others. */
export interface FileArea {
  readonly scope: readonly string[];
  readonly shares: readonly string[];
}

/** Every pattern that an agent may change files by. None: it may change everything. */
export const changeable = ({ scope, shares }: FileArea): readonly string[] => [...scope, ...shares];

export interface Overlap {
  readonly owner: string;
  readonly wanted: string;
  readonly owned: string;
  /** The owner lists the file as shared, so another agent may share the file too. */
  readonly shared: boolean;
}

/**
 * Places where two areas may have a file in common that not both of them share. Patterns are paths or globs; a
 * directory owns its files. Two globs that could meet count as meeting: asking once too often is cheaper than two
 * agents in one file.
 */
export function findOverlaps(wanted: FileArea, other: FileArea & { readonly owner: string }): readonly Overlap[] {
  const found: Overlap[] = [];
  for (const owned of patternsOf(other)) {
    for (const want of patternsOf(wanted)) {
      if (!mayMeet(want, owned)) continue;
      const shared = isShared(other, owned, want);
      if (!(shared && isShared(wanted, want, owned))) found.push({ owner: other.owner, wanted: want, owned, shared });
    }
  }
  return found;
}

const patternsOf = ({ scope, shares }: FileArea): readonly string[] => [...new Set([...scope, ...shares])];

/** Does this agent share the file? Either its own pattern is a shared one, or a shared pattern covers the other agent's. */
const isShared = ({ shares }: FileArea, own: string, other: string): boolean =>
  shares.some((pattern) => plainPattern(pattern) === plainPattern(own) || coversPattern(pattern, other));

const coversPattern = (pattern: string, other: string): boolean =>
  plainPattern(pattern) === plainPattern(other) || (!/[*?[{]/.test(other) && covers(pattern, plainPattern(other)));

const mayMeet = (left: string, right: string): boolean => partsMeet(partsOf(left), partsOf(right));

/** The whole project has no parts, so it meets everything. */
function partsOf(pattern: string): readonly string[] {
  const plain = plainPattern(pattern);
  return plain === "" ? [] : plain.split("/");
}

/**
 * Segment by segment; a pattern that ends early is a directory and owns the rest of the other. Each pair of places is
 * looked at once, however often `**` leads there.
 */
function partsMeet(a: readonly string[], b: readonly string[]): boolean {
  const known = new Map<number, boolean>();
  const meet = (i: number, j: number): boolean => {
    const place = i * (b.length + 1) + j;
    const answer = known.get(place) ?? look(i, j);
    known.set(place, answer);
    return answer;
  };
  const look = (i: number, j: number): boolean => {
    const first = a[i];
    const second = b[j];
    if (first === undefined || second === undefined) return true;
    if (first === "**") return i + 1 === a.length || meet(i + 1, j) || (reachesInto(b, j) && meet(i, j + 1));
    if (second === "**") return j + 1 === b.length || meet(i, j + 1) || (reachesInto(a, i) && meet(i + 1, j));
    return segmentsMeet(first, second) && meet(i + 1, j + 1);
  };
  return meet(0, 0);
}

/** Can something lie below this segment? The last one of a pattern is a file when it looks like one. */
const reachesInto = (segments: readonly string[], at: number): boolean =>
  at + 1 < segments.length || !/[.*]/.test(segments[at] ?? "");

/** Two segments with wildcards meet when their literal beginnings and ends do not contradict each other. */
function segmentsMeet(a: string, b: string): boolean {
  if (a === b) return true;
  const wild = /[*?[{]/;
  if (!wild.test(a) && !wild.test(b)) return false;
  const start = (text: string): string => text.split(wild)[0] ?? "";
  const end = (text: string): string => (wild.test(text) ? (text.split(/[*?\]}]/).at(-1) ?? "") : text);
  const begins = wild.test(a)
    ? wild.test(b)
      ? agree(start(a), start(b))
      : b.startsWith(start(a))
    : a.startsWith(start(b));
  const ends = wild.test(a) ? (wild.test(b) ? agreeEnd(end(a), end(b)) : b.endsWith(end(a))) : a.endsWith(end(b));
  return begins && ends;
}

const agree = (a: string, b: string): boolean => a.startsWith(b) || b.startsWith(a);
const agreeEnd = (a: string, b: string): boolean => a.endsWith(b) || b.endsWith(a);
