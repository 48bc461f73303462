import type { CauseDetail, MergeCause } from "../../../domain/merge/entry.ts";
import { type GateLedger, openLedger } from "./gate-ledger.ts";
import { type JudgeRules, judge, nothingChanged } from "./judge.ts";
import type { CheckPurpose, EntryOutcome, Evidence, Landing, Member, Tip, TrainEntry, TrainSteps } from "./steps.ts";

export interface TrainRequest<E extends TrainEntry> extends JudgeRules {
  /** The landing branch as it is now. */
  readonly base: Tip;
  /** In the order in which they should land. */
  readonly entries: readonly E[];
  /** The most members one train may have. */
  readonly batchSize: number;
  /** How often in a row a train is built again because the landing branch moved meanwhile. */
  readonly maxRebases: number;
}

/** The outcome of every entry, and the effort it took. */
export interface TrainReport<E extends TrainEntry> {
  /** One per entry, in the order the entries came. */
  readonly outcomes: readonly { readonly entry: E; readonly outcome: EntryOutcome }[];
  readonly landings: readonly Landing<E>[];
  /** How often gates were asked, by purpose. */
  readonly gateRuns: Readonly<Record<CheckPurpose, number>>;
  /** Where the landing branch was seen last. */
  readonly tip: Tip;
}

/**
 * Lands every entry that can land, in as many trains as it takes, and says of every other one why not. Nothing is
 * landed whose exact tree was not checked, except a tree that was on the branch already.
 *
 * Nothing here has to survive a crash. Commits are objects without a ref, verdicts are kept by tree below `check`, and
 * the one lasting effect is `land`, which moves the branch or does not. The next engine calls this again with the
 * branch's tip and the entries not in it, and comes to the same end, asking no gate that had answered.
 */
export async function runTrain<E extends TrainEntry>(
  steps: TrainSteps<E>,
  request: TrainRequest<E>,
): Promise<TrainReport<E>> {
  const journey: Journey<E> = {
    steps,
    request,
    ledger: openLedger(steps),
    base: request.base,
    open: request.entries,
    settled: new Map(),
    landings: [],
    moves: 0,
  };
  while (journey.open.length > 0) await runOne(journey);
  return {
    outcomes: request.entries.map((entry) => ({ entry, outcome: outcomeOf(journey, entry) })),
    landings: journey.landings,
    gateRuns: journey.ledger.runs,
    tip: journey.base,
  };
}

interface Journey<E extends TrainEntry> {
  readonly steps: TrainSteps<E>;
  readonly request: TrainRequest<E>;
  readonly ledger: GateLedger;
  readonly settled: Map<number, EntryOutcome>;
  readonly landings: Landing<E>[];
  base: Tip;
  open: readonly E[];
  /** Since the last landing. */
  moves: number;
}

/** One train. Settles at least one entry, or has found the branch moved, which is bounded. */
async function runOne<E extends TrainEntry>(journey: Journey<E>): Promise<void> {
  const { steps, request, ledger, base, open, settled } = journey;
  const train = await assemble(steps, { base, open, settled, batchSize: Math.max(1, request.batchSize) });
  for (const { entry, on } of train.waiting) await settle(journey, entry, { kind: "waiting", on });
  await settleLanded(journey, train.held, null, nothingChanged);
  await settleStops(journey, train, 0);
  if (train.members.length === 0) {
    if (journey.open.length === open.length) await settleCycle(journey);
    return;
  }
  await steps.onProgress?.({ kind: "assembled", base, members: train.members.map(({ entry }) => entry) });

  const judgement = await judge(ledger, request, base, train.members);
  switch (judgement.kind) {
    case "land":
      await landPrefix(journey, train, train.members.length, judgement.evidence);
      return;
    case "blocked": {
      const { unchanged, gates, detail } = judgement;
      if (!(await landPrefix(journey, train, unchanged, nothingChanged))) return;
      const message = `fails on the landing branch already: ${gates.join(", ")}`;
      for (const { entry } of train.members.slice(unchanged)) {
        await settle(journey, entry, { kind: "blocked", cause: "gate_failed", detail: { ...detail, message } });
      }
      return;
    }
    case "culprit": {
      const { index, gates, detail, before } = judgement;
      if (before !== null && !(await landPrefix(journey, train, index, before))) return;
      const culprit = train.members[index];
      if (culprit === undefined) throw new Error(`the train has no member ${index}`);
      const earlier = train.members.slice(0, index);
      await settle(journey, culprit.entry, {
        kind: "rejected",
        cause: "gate_failed",
        gates,
        detail,
        onto: earlier.at(-1)?.tip ?? base,
        with: earlier.map(({ entry }) => entry.id),
      });
    }
  }
}

/**
 * Moves the branch to the first `count` members. False: the branch has moved elsewhere, and every result about this
 * train is void. So is the culprit, whose judgement rests on the members before it.
 */
async function landPrefix<E extends TrainEntry>(
  journey: Journey<E>,
  train: Assembled<E>,
  count: number,
  evidence: Evidence,
): Promise<boolean> {
  const members = train.members.slice(0, count);
  const to = members.at(-1)?.tip;
  if (to === undefined) return true;
  const landing: Landing<E> = { from: journey.base, to, members, ...evidence };
  const answer = await journey.steps.land(landing);
  if (answer.kind === "refused") {
    await blockAll(journey, answer.cause, answer.detail);
    return false;
  }
  if (answer.kind === "moved") {
    await followBranch(journey, answer.tip);
    return false;
  }
  journey.base = to;
  journey.moves = 0;
  journey.landings.push(landing);
  await settleLanded(journey, members, journey.landings.length - 1, evidence);
  await settleStops(journey, train, count);
  return true;
}

async function followBranch<E extends TrainEntry>(journey: Journey<E>, tip: Tip): Promise<void> {
  journey.base = tip;
  await journey.steps.onProgress?.({ kind: "moved", tip });
  if (journey.moves >= journey.request.maxRebases) {
    const message = `the landing branch moved ${journey.moves + 1} times in a row while this was being checked`;
    return blockAll(journey, "stale_head", { message });
  }
  journey.moves++;
}

async function settleLanded<E extends TrainEntry>(
  journey: Journey<E>,
  members: readonly Member<E>[],
  landing: number | null,
  evidence: Evidence,
): Promise<void> {
  for (const { entry, tip, tier, strategy } of members) {
    await settle(journey, entry, { kind: "landed", landing, tier, strategy, ...tip, ...evidence });
  }
}

/** A stop counts once everything the entry was tried on has landed; until then it is merely put off. */
async function settleStops<E extends TrainEntry>(
  journey: Journey<E>,
  { stops }: Assembled<E>,
  landed: number,
): Promise<void> {
  for (const { entry, after, kind, cause, detail } of stops) {
    if (after > landed || journey.settled.has(entry.id)) continue;
    await settle(journey, entry, { kind, cause, detail });
  }
}

/** Nothing could be merged because each of these waits for another one of them. */
async function settleCycle<E extends TrainEntry>(journey: Journey<E>): Promise<void> {
  const ids = new Set(journey.open.map(({ id }) => id));
  for (const entry of journey.open) {
    await settle(journey, entry, { kind: "waiting", on: entry.dependsOn.filter((id) => ids.has(id)) });
  }
}

async function blockAll<E extends TrainEntry>(
  journey: Journey<E>,
  cause: MergeCause,
  detail: CauseDetail,
): Promise<void> {
  for (const entry of journey.open) await settle(journey, entry, { kind: "blocked", cause, detail });
}

async function settle<E extends TrainEntry>(journey: Journey<E>, entry: E, outcome: EntryOutcome): Promise<void> {
  journey.settled.set(entry.id, outcome);
  journey.open = journey.open.filter(({ id }) => id !== entry.id);
  await journey.steps.onProgress?.({ kind: "settled", entry, outcome });
}

function outcomeOf<E extends TrainEntry>({ settled }: Journey<E>, { id }: E): EntryOutcome {
  const outcome = settled.get(id);
  if (outcome === undefined) throw new Error(`entry ${id} left the train without an outcome`);
  return outcome;
}

/** An entry that could not be merged onto the first `after` members; final only once exactly those have landed. */
interface Stop<E extends TrainEntry> {
  readonly entry: E;
  readonly after: number;
  readonly kind: "stopped" | "blocked";
  readonly cause: MergeCause;
  readonly detail: CauseDetail;
}

interface Assembled<E extends TrainEntry> {
  /** What the base holds already. */
  readonly held: readonly Member<E>[];
  readonly members: readonly Member<E>[];
  readonly stops: readonly Stop<E>[];
  /** Entries whose dependencies cannot land any more, with those dependencies, and those the operator was asked about. */
  readonly waiting: readonly { readonly entry: E; readonly on: readonly number[] }[];
}

interface AssembleRequest<E extends TrainEntry> {
  readonly base: Tip;
  readonly open: readonly E[];
  readonly settled: ReadonlyMap<number, EntryOutcome>;
  readonly batchSize: number;
}

/** Chains entries onto the base in their order, leaving out what does not merge or has to come after something else. */
async function assemble<E extends TrainEntry>(
  steps: Pick<TrainSteps<E>, "merge">,
  { base, open, settled, batchSize }: AssembleRequest<E>,
): Promise<Assembled<E>> {
  const held: Member<E>[] = [];
  const members: Member<E>[] = [];
  const stops: Stop<E>[] = [];
  const waiting: { entry: E; on: readonly number[] }[] = [];
  const missing = new Set(open.map(({ id }) => id));
  for (const entry of open) {
    if (members.length >= batchSize) break;
    const lost = entry.dependsOn.filter((id) => settled.has(id) && settled.get(id)?.kind !== "landed");
    if (lost.length > 0) {
      waiting.push({ entry, on: lost });
      continue;
    }
    if (entry.dependsOn.some((id) => missing.has(id))) continue;
    const onto = members.at(-1)?.tip ?? base;
    const answer = await steps.merge(onto.commit, entry, onto === base);
    if (answer.kind === "later") continue;
    if (answer.kind === "waiting") {
      waiting.push({ entry, on: [] });
      continue;
    }
    if (answer.kind !== "merged") {
      stops.push({ entry, after: members.length, ...answer });
      continue;
    }
    const { commit, tree, tier, strategy } = answer;
    const line = commit === base.commit ? held : members;
    line.push({ entry, tip: { commit, tree }, tier, strategy });
    missing.delete(entry.id);
  }
  return { held, members, stops, waiting };
}
