import type { CauseDetail } from "../../../domain/merge/entry.ts";
import type { CheckAnswer, CheckPurpose, CheckRequest, Tip, TrainEntry, TrainSteps } from "./steps.ts";

/** What all gates that apply said about a tree. */
export interface TreeVerdict {
  /** Empty: it passed. */
  readonly failed: readonly string[];
  readonly flaky: boolean;
  readonly detail: CauseDetail;
  readonly details?: ReadonlyMap<string, CauseDetail>;
}

/** Everything the gates said during one call, by tree, so that no tree is asked the same question twice. */
export interface GateLedger {
  /** All gates that apply to what changed since `base`. */
  whole(tip: Tip, base: Tip, purpose: "train" | "bisect"): Promise<TreeVerdict>;
  /** Runs what failed on a tree once more, at most once per tree. A gate that passes now was flaky. */
  confirm(tip: Tip, base: Tip): Promise<TreeVerdict>;
  /** Which of these gates fail on the base. A gate must fail twice there before it excuses an entry. */
  failingOnBase(base: Tip, gates: readonly string[]): Promise<readonly string[]>;
  /** Those already known to fail on the base. */
  knownFailing(base: Tip): ReadonlySet<string>;
  readonly runs: Readonly<Record<CheckPurpose, number>>;
}

interface TreeRecord {
  whole: TreeVerdict | null;
  confirmed: boolean;
  /** Gate to whether it passed. */
  readonly gates: Map<string, boolean>;
  /** Every gate was asked, so those not in `gates` passed. */
  complete: boolean;
}

/** A ledger for one call; what outlives it is kept below `check`. */
export function openLedger<E extends TrainEntry>(steps: Pick<TrainSteps<E>, "check" | "onProgress">): GateLedger {
  const records = new Map<string, TreeRecord>();
  const runs = { train: 0, flaky: 0, baseline: 0, bisect: 0 };

  const recordOf = (tree: string): TreeRecord => {
    const found = records.get(tree);
    if (found !== undefined) return found;
    const made: TreeRecord = { whole: null, confirmed: false, gates: new Map(), complete: false };
    records.set(tree, made);
    return made;
  };

  const ask = async (tip: Tip, request: CheckRequest): Promise<TreeVerdict> => {
    await steps.onProgress?.({ kind: "checking", tip, request });
    runs[request.purpose]++;
    const answer = await steps.check(tip.commit, tip.tree, request);
    const verdict = verdictOf(answer);
    note(recordOf(tip.tree), request, answer, verdict);
    await steps.onProgress?.({ kind: "checked", tip, request, answer });
    return verdict;
  };

  const confirmFailed = (tip: Tip, base: Tip, gates: readonly string[]): Promise<TreeVerdict> =>
    ask(tip, { purpose: "flaky", base: base.commit, gates, rerunFailed: true });

  return {
    runs,
    whole: async (tip, base, purpose) => {
      const record = recordOf(tip.tree);
      record.whole ??= await ask(tip, { purpose, base: base.commit });
      return record.whole;
    },
    confirm: async (tip, base) => {
      const record = recordOf(tip.tree);
      if (record.whole === null) throw new Error(`tree ${tip.tree} is to be confirmed but was never checked`);
      if (record.confirmed || record.whole.failed.length === 0) return record.whole;
      const first = record.whole;
      const second = await confirmFailed(tip, base, first.failed);
      const recovered = first.failed.some((gate) => !second.failed.includes(gate));
      record.confirmed = true;
      record.whole = { ...second, flaky: first.flaky || second.flaky || recovered };
      return record.whole;
    },
    failingOnBase: async (base, gates) => {
      const record = recordOf(base.tree);
      const unknown = record.complete ? [] : gates.filter((gate) => !record.gates.has(gate));
      if (unknown.length > 0) {
        const { failed } = await ask(base, { purpose: "baseline", base: base.commit, gates: unknown });
        if (failed.length > 0) await confirmFailed(base, base, failed);
      }
      return gates.filter((gate) => record.gates.get(gate) === false);
    },
    knownFailing: (base) =>
      new Set([...recordOf(base.tree).gates].filter(([, passed]) => !passed).map(([gate]) => gate)),
  };
}

function verdictOf({ passed, flaky, failedGates, detail, details }: CheckAnswer): TreeVerdict {
  // Without a name it could neither be blamed nor excused, and an empty list would read as passed.
  if (!passed && failedGates.length === 0) throw new Error("a check did not pass, but names no gate that failed");
  const failed = passed ? [] : failedGates;
  return { failed, flaky: flaky ?? false, detail, ...(details === undefined ? {} : { details }) };
}

function note(record: TreeRecord, { gates }: CheckRequest, { ran }: CheckAnswer, { failed }: TreeVerdict): void {
  if (gates === undefined && ran === undefined) record.complete = true;
  for (const gate of [...(ran ?? []), ...(gates ?? [])]) record.gates.set(gate, true);
  for (const gate of failed) record.gates.set(gate, false);
}
