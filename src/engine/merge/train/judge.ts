import { setupGate } from "../../../domain/gate/gate.ts";
import type { CauseDetail } from "../../../domain/merge/entry.ts";
import { failsAsBefore } from "../../../domain/merge/words.ts";
import type { GateLedger, TreeVerdict } from "./gate-ledger.ts";
import type { Evidence, Member, Tip, TrainEntry } from "./steps.ts";

/** What happens to a train whose gates fail before it, too: it lands with a gap, or waits. */
export const baselinePolicies = ["warn", "block"] as const;
export type BaselinePolicy = (typeof baselinePolicies)[number];

export interface JudgeRules {
  readonly parallelGates: number;
  readonly baselineFailing: BaselinePolicy;
}

/**
 * land     all members may land
 * culprit  the member at `index` breaks `gates`; those before it do not, and may land unless `before` is null
 * blocked  `gates` fail on the base already and are not excused; the first `unchanged` members alter nothing and may land all the same
 */
export type Judgement =
  | { readonly kind: "land"; readonly evidence: Evidence }
  | {
      readonly kind: "culprit";
      readonly index: number;
      readonly gates: readonly string[];
      readonly detail: CauseDetail;
      readonly before: Evidence | null;
    }
  | {
      readonly kind: "blocked";
      readonly gates: readonly string[];
      readonly detail: CauseDetail;
      readonly unchanged: number;
    };

/** The tree that lands is the tree that the branch has already. */
export const nothingChanged: Evidence = { checked: false, flaky: false, gaps: [] };

/**
 * Says what of a train may land. One gate run for a good train; for a bad one a second look at what failed, one at the
 * base, and a binary search over the prefixes, which exist as commits already.
 *
 * The search wants an i such that prefix i fails and prefix i-1 does not. Where a later member repairs an earlier one
 * there may be several; any of them is a true statement about the member at i.
 */
export async function judge<E extends TrainEntry>(
  ledger: GateLedger,
  rules: JudgeRules,
  base: Tip,
  members: readonly Member<E>[],
): Promise<Judgement> {
  const last = members.at(-1)?.tip ?? base;
  if (last.tree === base.tree) return { kind: "land", evidence: nothingChanged };
  const first = await ledger.whole(last, base, "train");
  if (first.failed.length === 0) return { kind: "land", evidence: evidenceOf(first) };

  const confirmed = await confirmBesideBaseline(ledger, rules, base, last, first);
  if (confirmed.failed.length === 0) return { kind: "land", evidence: evidenceOf(confirmed) };
  const excused = await ledger.failingOnBase(base, confirmed.failed);
  if (!mayLandWith(excused, rules)) {
    const unchanged = members.findIndex(({ tip }) => tip.tree !== base.tree);
    return { kind: "blocked", ...faultOf(confirmed, excused), unchanged };
  }
  const broken = without(confirmed.failed, excused);
  if (broken.length === 0) return { kind: "land", evidence: evidenceOf(confirmed) };
  return bisect(ledger, rules, base, members, faultOf(confirmed, broken));
}

/**
 * May a tree land on which these gates fail, as they do on the base? Where not even setup worked no gate was asked, and
 * nothing at all speaks for the tree.
 */
const mayLandWith = (excused: readonly string[], { baselineFailing }: JudgeRules): boolean =>
  excused.length === 0 || (baselineFailing === "warn" && !excused.includes(setupGate));

/** The two looks need each other's answer only in part, so they share the time where two gates may run at once. */
async function confirmBesideBaseline(
  ledger: GateLedger,
  { parallelGates }: JudgeRules,
  base: Tip,
  last: Tip,
  { failed }: TreeVerdict,
): Promise<TreeVerdict> {
  if (parallelGates < 2) return ledger.confirm(last, base);
  // Both are waited for even when one breaks: a gate must not go on running behind a train that has ended.
  const [confirmed, baseline] = await Promise.allSettled([
    ledger.confirm(last, base),
    ledger.failingOnBase(base, failed),
  ]);
  if (confirmed.status === "rejected") throw confirmed.reason;
  if (baseline.status === "rejected") throw baseline.reason;
  return confirmed.value;
}

interface Fault {
  readonly gates: readonly string[];
  readonly detail: CauseDetail;
}

const faultOf = ({ detail, details }: TreeVerdict, gates: readonly string[]): Fault => ({
  gates,
  detail: details?.get(gates[0] ?? "") ?? detail,
});

async function bisect<E extends TrainEntry>(
  ledger: GateLedger,
  rules: JudgeRules,
  base: Tip,
  members: readonly Member<E>[],
  whole: Fault,
): Promise<Judgement> {
  let good = 0;
  let bad = members.length;
  let before: Evidence | null = nothingChanged;
  let fault = whole;
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    const tip = members[middle - 1]?.tip ?? base;
    const probe = await probePrefix(ledger, base, tip, whole.gates);
    if (probe.fault !== null) {
      bad = middle;
      fault = probe.fault;
      continue;
    }
    good = middle;
    // A gate that fails on the base only is not the fault of these entries, but that does not mean that they may land.
    before = mayLandWith(probe.failed, rules) ? probe.evidence : null;
  }
  return { kind: "culprit", index: bad - 1, ...fault, before };
}

type Probe =
  | { readonly fault: Fault }
  | { readonly fault: null; readonly evidence: Evidence; readonly failed: readonly string[] };

/**
 * A failure of a gate that failed twice on the whole train is believed at once: that keeps the search at one run per
 * step. Any other failure is new here, so it is looked at again, and the base is asked about it.
 */
async function probePrefix(ledger: GateLedger, base: Tip, tip: Tip, broken: readonly string[]): Promise<Probe> {
  if (tip.tree === base.tree) return { fault: null, evidence: nothingChanged, failed: [] };
  const verdict = await ledger.whole(tip, base, "bisect");
  const excess = without(verdict.failed, [...ledger.knownFailing(base)]);
  if (excess.length === 0) return innocent(verdict);
  const seen = excess.filter((gate) => broken.includes(gate));
  if (seen.length > 0) return { fault: faultOf(verdict, seen) };

  const confirmed = await ledger.confirm(tip, base);
  const gates = without(confirmed.failed, await ledger.failingOnBase(base, confirmed.failed));
  return gates.length === 0 ? innocent(confirmed) : { fault: faultOf(confirmed, gates) };
}

const innocent = (verdict: TreeVerdict): Probe => ({
  fault: null,
  evidence: evidenceOf(verdict),
  failed: verdict.failed,
});

const evidenceOf = ({ failed, flaky }: TreeVerdict): Evidence => ({
  checked: true,
  flaky,
  gaps: failed.map(failsAsBefore),
});

const without = (gates: readonly string[], others: readonly string[]): readonly string[] =>
  gates.filter((gate) => !others.includes(gate));
