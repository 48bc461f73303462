import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  clashes,
  failingGates,
  holds,
  type ModelEntry,
  type ModelRule,
  type ModelRules,
  ModelWorld,
  partsOf,
  treeOf,
} from "../../../../testkit/train-model.ts";
import type { EntryOutcome } from "./steps.ts";
import { runTrain, type TrainReport, type TrainRequest } from "./train.ts";

type Ride = Omit<TrainRequest<ModelEntry>, "base" | "entries">;
interface Case {
  readonly rules: ModelRules;
  readonly entries: readonly ModelEntry[];
  readonly ride: Ride;
}

const gates = ["test", "lint", "build"] as const;

/** `wild` worlds have repairs, strangers, dependencies on later entries and projects that block; the others are monotone. */
const aCase = ({ wild }: { readonly wild: boolean }): fc.Arbitrary<Case> =>
  fc.integer({ min: 0, max: 10 }).chain((count) => {
    const ids = Array.from({ length: count }, (_, at) => at + 1);
    const part = fc.constantFrom("b", ...ids.map((id) => `p${id}`));
    const need = fc.oneof({ weight: 1, arbitrary: fc.constant("b") }, { weight: 6, arbitrary: part });
    const rule: fc.Arbitrary<ModelRule> = fc.record(
      {
        gate: fc.constantFrom(...gates),
        needs: fc.array(need, { minLength: 1, maxLength: 2 }),
        repairedBy: wild ? part : fc.constantFrom("never"),
      },
      { requiredKeys: wild ? ["gate", "needs"] : ["gate", "needs", "repairedBy"] },
    );
    const entry = (id: number): fc.Arbitrary<ModelEntry> => {
      const others = wild ? ids : ids.filter((other) => other < id);
      return fc.record({
        id: fc.constant(id),
        branch: fc.constant(`e${id}`),
        dependsOn:
          others.length === 0
            ? fc.constant([])
            : rarely(fc.uniqueArray(fc.constantFrom(...others), { maxLength: 2 }), []),
        adds: fc.oneof(
          { weight: 8, arbitrary: fc.constant([`p${id}`]) },
          { weight: 1, arbitrary: fc.constant(["b"]) },
          { weight: 1, arbitrary: part.map((other) => [`p${id}`, other]) },
        ),
      });
    };
    return fc.record({
      entries: fc.tuple(...ids.map(entry)),
      rules: fc.record({
        base: fc.constant(["b"]),
        held: fc.constant([]),
        rules: fc.array(rule, { maxLength: 5 }),
        conflicts: fc.array(fc.tuple(part, part), { maxLength: 3 }),
        wobbles: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 1000 })).map(wobbling),
        strangersAt: wild ? fc.uniqueArray(fc.nat({ max: 8 }), { maxLength: 5 }) : fc.constant([]),
      }),
      ride: fc.record({
        batchSize: fc.integer({ min: 1, max: 10 }),
        parallelGates: fc.integer({ min: 1, max: 3 }),
        maxRebases: fc.nat({ max: 3 }),
        baselineFailing: wild ? fc.constantFrom("warn", "block") : fc.constant("warn"),
      }),
    });
  });

const rarely = <T>(arbitrary: fc.Arbitrary<T>, otherwise: T): fc.Arbitrary<T> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(otherwise) }, { weight: 1, arbitrary });

/** About every third tree wobbles; seed 0: none does. */
const wobbling = (seed: number) => (tree: string) =>
  seed > 0 && [...tree].reduce((hash, char) => (hash * 31 + char.charCodeAt(0)) % 9973, seed) % 3 === 0;

async function travel({ rules, entries, ride }: Case) {
  const world = new ModelWorld(rules);
  let trains = 0;
  const report = await runTrain(
    {
      merge: world.merge.bind(world),
      check: world.check.bind(world),
      land: world.land.bind(world),
      onProgress: ({ kind }) => {
        if (kind === "assembled") trains++;
      },
    },
    { ...ride, base: world.tip, entries },
  );
  return { world, report, trains };
}

/** One entry after the other: whatever merges and breaks nothing that was whole at the start is in. */
function oneByOne({ rules, entries }: Case): Map<number, EntryOutcome["kind"]> {
  const outcomes = new Map<number, EntryOutcome["kind"]>();
  const broken = failingGates(rules, treeOf(rules.base));
  let parts: readonly string[] = rules.base;
  for (const { id, adds, dependsOn } of entries) {
    const next = treeOf([...parts, ...adds]);
    if (dependsOn.some((other) => outcomes.get(other) !== "landed")) outcomes.set(id, "waiting");
    else if (adds.some((part) => clashes(rules, parts, part))) outcomes.set(id, "stopped");
    else if (failingGates(rules, next).some((gate) => !broken.includes(gate))) outcomes.set(id, "rejected");
    else {
      outcomes.set(id, "landed");
      parts = partsOf(next);
    }
  }
  return outcomes;
}

const kindsOf = (report: TrainReport<ModelEntry>) =>
  new Map(report.outcomes.map(({ entry, outcome }) => [entry.id, outcome.kind]));

const isSubset = (some: readonly string[], all: readonly string[]) => some.every((one) => all.includes(one));

test("where nothing is repaired or moved, a train ends as trying the entries one by one would", async () => {
  await fc.assert(
    fc.asyncProperty(aCase({ wild: false }), async (given) => {
      const { report } = await travel(given);
      expect(kindsOf(report)).toEqual(oneByOne(given));
    }),
    { numRuns: 2000 },
  );
}, 60_000);

test("a culprit costs at most two gate runs and its share of the search", async () => {
  const whole = aCase({ wild: false })
    .filter(({ rules }) => failingGates(rules, "b").length === 0)
    .map((given) => ({ ...given, rules: { ...given.rules, wobbles: () => false } }));
  await fc.assert(
    fc.asyncProperty(whole, async (given) => {
      const { report, trains } = await travel(given);
      const culprits = [...kindsOf(report).values()].filter((kind) => kind === "rejected").length;
      const longest = Math.max(1, Math.min(given.ride.batchSize, given.entries.length));
      const { baseline, ...others } = report.gateRuns;
      const search = culprits * (2 + Math.ceil(Math.log2(longest)));
      expect(others.train + others.flaky + others.bisect).toBeLessThanOrEqual(search + trains - culprits);
      // The base is asked about each gate once, and only if it was not landed, and so checked, by this very call.
      expect(baseline).toBeLessThanOrEqual(culprits === 0 ? 0 : gates.length);
    }),
    { numRuns: 1000 },
  );
}, 60_000);

test("whatever happens, only checked trees land, nothing is lost, and every answer is true", async () => {
  await fc.assert(
    fc.asyncProperty(aCase({ wild: true }), async (given) => {
      const { world, report } = await travel(given);
      expect(report.outcomes.map(({ entry }) => entry)).toEqual([...given.entries]);
      expect(world.busiest).toBeLessThanOrEqual(given.ride.parallelGates);
      expectSoundLandings(given, report);
      expectNoQuestionTwice(world);
      for (const { entry, outcome } of report.outcomes) expectTrue(given, world, report, entry, outcome);
    }),
    { numRuns: 3000 },
  );
}, 60_000);

function expectSoundLandings({ rules, ride }: Case, { landings }: TrainReport<ModelEntry>): void {
  for (const { from, to, gaps, checked } of landings) {
    const failing = failingGates(rules, to.tree);
    expect(checked).toBe(from.tree !== to.tree);
    if (!checked) continue;
    expect(gaps).toHaveLength(failing.length);
    expect(isSubset(failing, ride.baselineFailing === "warn" ? failingGates(rules, from.tree) : [])).toBe(true);
  }
}

/** The second question about a tree is a flaky re-run, or one about gates that were not asked before. */
function expectNoQuestionTwice({ asked }: ModelWorld): void {
  const questions = asked.flatMap(({ tree, request: { gates: names, rerunFailed } }) =>
    (names ?? ["all"]).map((gate) => `${tree}: ${gate}${rerunFailed ? " again" : ""}`),
  );
  expect(new Set(questions).size).toBe(questions.length);
}

function expectTrue(
  { rules, ride }: Case,
  { tip, history }: ModelWorld,
  report: TrainReport<ModelEntry>,
  { branch, adds, dependsOn }: ModelEntry,
  outcome: EntryOutcome,
): void {
  expect(holds(tip.commit, branch)).toBe(outcome.kind === "landed");
  switch (outcome.kind) {
    case "landed":
      expect(isSubset(adds, partsOf(tip.tree))).toBe(true);
      expect(dependsOn.every((id) => kindsOf(report).get(id) === "landed")).toBe(true);
      return;
    case "rejected": {
      const { onto, gates: named } = outcome;
      expect(named.length).toBeGreaterThan(0);
      expect(isSubset(named, failingGates(rules, treeOf([...partsOf(onto.tree), ...adds])))).toBe(true);
      expect(named.some((gate) => failingGates(rules, onto.tree).includes(gate))).toBe(false);
      if (ride.baselineFailing === "warn") expect(history).toContainEqual(onto);
      return;
    }
    case "stopped":
      expect(history.some(({ tree }) => adds.some((part) => clashes(rules, partsOf(tree), part)))).toBe(true);
      return;
    case "waiting":
      expect(dependsOn.some((id) => kindsOf(report).get(id) !== "landed")).toBe(true);
      return;
    case "blocked":
      if (outcome.cause === "stale_head") expect(rules.strangersAt.length).toBeGreaterThan(ride.maxRebases);
      else expect(history.some(({ tree }) => failingGates(rules, tree).length > 0)).toBe(true);
  }
}

test("a train that died at any step is finished by the next one as if it had not", async () => {
  await fc.assert(
    fc.asyncProperty(aCase({ wild: false }), fc.nat({ max: 60 }), async (given, diesAt) => {
      const world = new ModelWorld({ ...given.rules, diesAt });
      // Whoever comes next may not even know what had landed: what is in is found to be in.
      const ride = () => runTrain(world, { ...given.ride, base: world.tip, entries: given.entries });
      await ride().catch((error: Error) => {
        expect(error.message).toBe("the process died");
        return ride();
      });
      const landed = given.entries.filter(({ branch }) => holds(world.tip.commit, branch)).map(({ id }) => id);
      const expected = [...oneByOne(given)].filter(([, kind]) => kind === "landed").map(([id]) => id);
      expect(landed).toEqual(expected);
    }),
    { numRuns: 1000 },
  );
}, 60_000);
