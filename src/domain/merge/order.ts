import type { Approval, MergeEntry } from "./entry.ts";

/** A branch that has waited this long counts as one step more urgent, without end: nothing waits for ever. */
export const ageStepMs = 30 * 60_000;

export interface ReadyTerms {
  readonly now: number;
  /** The approvals that are enough to land; see `sufficientApprovals`. */
  readonly approvals: readonly Approval[];
  /** Entries that nothing has to wait for any more. */
  readonly settled: ReadonlySet<number>;
}

/** May work on this entry begin now? */
export function isReady(entry: MergeEntry, { now, approvals, settled }: ReadyTerms): boolean {
  if (entry.status !== "pending" && entry.status !== "blocked") return false;
  if (entry.notBefore > now || !approvals.includes(entry.approval)) return false;
  return entry.dependsOn.every((id) => settled.has(id));
}

/**
 * The ready entries in the order in which they are to land: by urgency, which grows with age; then who shares fewer
 * files with those ahead, so that conflicts come late; then by number.
 */
export function landingOrder(entries: readonly MergeEntry[], terms: ReadyTerms): readonly MergeEntry[] {
  const waiting = entries.filter((entry) => isReady(entry, terms)).map((entry) => candidateOf(entry, terms.now));
  const ordered: MergeEntry[] = [];
  const taken = new Set<string>();
  while (waiting.length > 0) {
    for (const candidate of waiting) candidate.overlap = overlapOf(candidate.entry, taken);
    waiting.sort(byTurn);
    const next = waiting.shift();
    if (next === undefined) break;
    ordered.push(next.entry);
    for (const file of next.entry.filesModified) taken.add(file);
  }
  return ordered;
}

/** Smaller is sooner. A clock that was set back makes nothing less urgent than it was when it came. */
export const urgencyOf = ({ priority, enqueuedAt }: MergeEntry, now: number): number =>
  priority - Math.floor(Math.max(0, now - enqueuedAt) / ageStepMs);

interface Candidate {
  readonly entry: MergeEntry;
  readonly urgency: number;
  overlap: number;
}

const candidateOf = (entry: MergeEntry, now: number): Candidate => ({
  entry,
  urgency: urgencyOf(entry, now),
  overlap: 0,
});

const overlapOf = ({ filesModified }: MergeEntry, taken: ReadonlySet<string>): number =>
  filesModified.filter((file) => taken.has(file)).length;

const byTurn = (a: Candidate, b: Candidate): number =>
  a.urgency - b.urgency || a.overlap - b.overlap || a.entry.id - b.entry.id;
