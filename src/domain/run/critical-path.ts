/** Work of an agent: it was in a turn, or its turn was about to begin. */
export interface Work {
  readonly agent: string;
  /** The name of its parent. */
  readonly parent: string;
  readonly from: number;
  readonly to: number;
}

/** A part of the time that the end of a run depended on. */
export interface PathStep {
  readonly agent: string;
  readonly from: number;
  readonly to: number;
}

/**
 * The chain of work that the end of a run depended on, first step first. It is followed back from the end: the work
 * that went on longest; before that, the work it began from. That is work of the agent itself, of a child that had
 * ended by then, or of its parent; without any of these, the work that had gone on longest until then.
 */
export function criticalPath(works: readonly Work[], end: number): readonly PathStep[] {
  const steps: PathStep[] = [];
  let at = end;
  let last: Work | undefined;
  for (;;) {
    const earlier = works.filter(({ from }) => from < at);
    const kin = earlier.filter((work) => last !== undefined && begins(work, last, at));
    const found = latest(kin.length > 0 ? kin : earlier, at);
    if (found === undefined) return steps.toReversed();
    steps.push({ agent: found.agent, from: found.from, to: Math.min(found.to, at) });
    [at, last] = [found.from, found];
  }
}

/** Can `next`, which began at this moment, have begun because of `work`? */
function begins(work: Work, next: Work, at: number): boolean {
  if (work.agent === next.parent) return true;
  return (work.agent === next.agent || work.parent === next.agent) && work.to <= at;
}

/** The work that went on longest until a moment. If several did, the one that had begun first. */
const latest = (works: readonly Work[], at: number): Work | undefined =>
  works.toSorted((a, b) => Math.min(b.to, at) - Math.min(a.to, at) || a.from - b.from)[0];
