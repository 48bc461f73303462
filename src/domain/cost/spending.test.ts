import { expect, test } from "bun:test";
import fc from "fast-check";
import type { PriceList } from "../prices/prices.ts";
import {
  growthOf,
  localDay,
  noSpending,
  plus,
  type Spending,
  type SpendingSource,
  type SpendingSum,
  spendingDimensions,
  spendingRows,
} from "./spending.ts";

const price = { from: null, cacheRead: null, cacheWrite: null, cacheWrite1h: null };
const list: PriceList = {
  version: "v1",
  date: null,
  models: new Map([
    ["large", [{ ...price, input: 3e-6, output: 3e-6 }]],
    ["small", [{ ...price, input: 1e-6, output: 1e-6 }]],
  ]),
};

const turn: SpendingSource = {
  source: "turn-1",
  model: "large",
  agentId: "agent-1",
  agentName: "b1",
  capability: "builder",
  runtime: "claude",
  runId: "r1",
  taskId: "T1",
  costMicros: 1_000,
  costSource: "reported",
  priceVersion: null,
  startedAt: 1_000,
  endedAt: 5_000,
};
const answer = (model: string | null, input: number) => ({ model, input, output: 0, cacheRead: 0, cacheWrite: 0 });

test("a turn is one row for each of its models, and a cost of the whole is divided by the prices of the list", () => {
  const rows = spendingRows(turn, [answer("small", 100), answer("large", 100), answer(null, 100)], list);
  expect(rows.map(({ model, part, input, costMicros }) => ({ model, part, input, costMicros }))).toEqual([
    { model: "large", part: 0, input: 200, costMicros: 858 },
    { model: "small", part: 1, input: 100, costMicros: 142 },
  ]);
});

test("where a model has no price the cost is divided by tokens, and an unknown cost stays unknown", () => {
  const answers = [answer("secret", 300), answer("large", 100)];
  expect(spendingRows(turn, answers, list).map(({ costMicros }) => costMicros)).toEqual([750, 250]);
  expect(spendingRows({ ...turn, costMicros: null }, answers, list).map(({ costMicros }) => costMicros)).toEqual([
    null,
    null,
  ]);
});

test("a turn whose program told no tokens is a row of its own, and says so", () => {
  expect(spendingRows(turn, [], list)).toMatchObject([{ model: "large", told: false, input: 0, costMicros: 1_000 }]);
  expect(spendingRows(turn, [answer("large", 0)], list)).toMatchObject([{ told: true }]);
});

test("the parts of a turn add up to it", () => {
  const answers = fc.array(
    fc.record({ model: fc.constantFrom("large", "small", "secret", null), input: fc.nat(9_999) }),
    {
      minLength: 1,
    },
  );
  fc.assert(
    fc.property(answers, fc.nat(1_000_000), (given, costMicros) => {
      const rows = spendingRows(
        { ...turn, costMicros },
        given.map(({ model, input }) => answer(model, input)),
        list,
      );
      const sum = (of: (row: Spending) => number): number => rows.reduce((total, row) => total + of(row), 0);
      expect(sum((row) => row.costMicros ?? 0)).toBe(costMicros);
      expect(sum((row) => row.input)).toBe(given.reduce((total, { input }) => total + input, 0));
    }),
  );
});

test("a session that is told again replaces what it told before, in every sum", () => {
  const first = spendingRows(turn, [answer("large", 100)], list);
  const later = spendingRows(
    { ...turn, costMicros: 5_000, endedAt: 9_000 },
    [answer("large", 300), answer("small", 50)],
    list,
  );
  const straight = new Map(growthOf([], later).map((sum) => [`${sum.dimension} ${sum.key}`, sum]));
  const stepwise = added([...growthOf([], first), ...growthOf(first, later)]);
  expect(stepwise).toEqual(straight);
  for (const dimension of spendingDimensions.filter((one) => one !== "model")) {
    const sums = [...straight.values()].filter((sum) => sum.dimension === dimension);
    expect(sums).toMatchObject([{ turns: 1, input: 350, costMicros: 5_000, durationMs: 8_000 }]);
  }
});

test("a day is the day of the reader's time zone", () => {
  const at = Date.UTC(2026, 10, 18, 2, 30);
  expect(localDay("UTC")?.(at)).toBe("2026-11-18");
  expect(localDay("America/Los_Angeles")?.(at)).toBe("2026-11-17");
  expect(localDay("Asia/Kolkata")?.(Date.UTC(2026, 10, 18, 18, 30))).toBe("2026-11-19");
  expect(localDay("Nowhere/At_All")).toBeUndefined();
});

function added(sums: readonly SpendingSum[]): ReadonlyMap<string, SpendingSum> {
  const all = new Map<string, SpendingSum>();
  for (const sum of sums) {
    const place = `${sum.dimension} ${sum.key}`;
    const known = all.get(place) ?? { ...sum, ...noSpending };
    const firstAt = Math.min(known.firstAt, sum.firstAt);
    all.set(place, { ...known, ...plus(known, sum), firstAt, lastAt: Math.max(known.lastAt, sum.lastAt) });
  }
  return all;
}
