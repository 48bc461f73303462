import { describe, expect, test } from "bun:test";
import listed from "./list.json";
import { ageOf, costOf, overlaid, type PriceList, priceOf, readPriceMap, turnCost } from "./prices.ts";

function listOf(data: unknown): PriceList {
  const read = readPriceMap(data, "v");
  if (!read.ok) throw new Error(read.refusal);
  return read.value;
}

const list = listOf(listed);
const now = Date.parse("2026-11-20T12:00:00Z");
const million = (asked: string): readonly (number | null)[] | undefined => {
  const price = priceOf(list, asked, now);
  if (price === undefined) return undefined;
  const { input, output, cacheWrite, cacheWrite1h, cacheRead } = price;
  return [input, output, cacheWrite, cacheWrite1h, cacheRead].map((cost) =>
    cost === null ? null : Number((cost * 1e6).toFixed(6)),
  );
};

describe("a price is found by the whole name, else by its longest beginning that ends with a word", () => {
  const opus = [5, 25, 6.25, 10, 0.5];
  const cases: readonly (readonly [string, readonly (number | null)[] | undefined])[] = [
    ["claude-opus-4-5", opus],
    ["claude-opus-4-5-20251101", opus],
    ["claude-opus-4-5-20251101[1m]", opus],
    ["anthropic/claude-opus-4.5", opus],
    ["us.anthropic.claude-opus-4-5-20251101-v1:0", opus],
    ["claude-opus-5", opus],
    ["claude-opus-4-20250514", [15, 75, 18.75, 30, 1.5]],
    ["claude-opus-4-1", [15, 75, 18.75, 30, 1.5]],
    ["claude-sonnet-4-6", [3, 15, 3.75, 6, 0.3]],
    ["claude-haiku-4-5", [1, 5, 1.25, 2, 0.1]],
    ["claude-3-5-haiku-20241022", [0.8, 4, 1, 1.6, 0.08]],
    ["gpt-5", [1.25, 10, null, null, 0.125]],
    ["gpt-5-mini-2025-08-07", [0.25, 2, null, null, 0.025]],
    ["openai/gpt-5.2-codex", [1.75, 14, null, null, 0.175]],
    ["gemini-2.5-flash-lite", [0.1, 0.4, null, null, 0.01]],
    ["gemini-2.5-pro-preview", [1.25, 10, null, null, 0.125]],
    // Another version is another model.
    ["claude-opus-4-9", undefined],
    ["claude-opus-5-5", undefined],
    ["gpt-5.9", undefined],
    ["gpt-50", undefined],
    ["claude", undefined],
    ["", undefined],
    ["scripted-model", undefined],
  ];
  for (const [asked, expected] of cases) test(JSON.stringify(asked), () => expect(million(asked)).toEqual(expected));
});

test("the price of the day counts, and a project's own before ours", () => {
  const own = listOf({
    "gpt-5": [
      { input_cost_per_token: 1e-6, output_cost_per_token: 2e-6, effective_from: "2026-01-01" },
      { input_cost_per_token: 3e-6, output_cost_per_token: 4e-6, effective_from: "2026-11-20" },
    ],
  });
  const both = overlaid(list, own);
  expect(both.version).toBe(`${list.version}+v`);
  expect(priceOf(both, "gpt-5", now)).toMatchObject({ input: 3e-6 });
  expect(priceOf(both, "gpt-5", now - 86_400_000)).toMatchObject({ input: 1e-6 });
  expect(priceOf(both, "gpt-5", Date.parse("2025-06-01"))).toBeUndefined();
  expect(priceOf(both, "gpt-5-mini", now)).toMatchObject({ model: "gpt-5-mini" });
});

test("a model may stand in a project's list by the name that its runtime uses", () => {
  const price = (dollars: number) => ({ input_cost_per_token: dollars, output_cost_per_token: 0 });
  const own = listOf({ "claude-sonnet-4.5": price(1e-6), "local/heron-2": price(2e-6) });
  const both = overlaid(list, own);
  expect(priceOf(both, "claude-sonnet-4.5", now)).toMatchObject({ model: "claude-sonnet-4.5", input: 1e-6 });
  expect(priceOf(both, "claude-sonnet-4-5", now)).toMatchObject({ model: "claude-sonnet-4-5" });
  expect(priceOf(both, "Local/Heron-2", now)).toMatchObject({ model: "local/heron-2", input: 2e-6 });
  expect(priceOf(both, "heron-2", now)).toBeUndefined();
});

const counts = { input: 1_000_000, output: 100_000, cacheRead: 2_000_000, cacheWrite: 0 };

test("tokens of each sort have their own price, and one unknown price makes the sum unknown", () => {
  const at = { model: null, at: now };
  expect(costOf(list, [{ ...counts, model: "gpt-5" }], at)).toBe(1_250_000 + 1_000_000 + 250_000);
  expect(costOf(list, [{ ...counts, model: null }], { model: "gpt-5", at: now })).toBe(2_500_000);
  expect(
    costOf(
      list,
      [
        { ...counts, model: "gpt-5" },
        { ...counts, model: "new" },
      ],
      at,
    ),
  ).toBeUndefined();
  // Where no price of cached tokens is named, they cost what input costs.
  expect(
    costOf(listOf({ a: { input_cost_per_token: 1e-6, output_cost_per_token: 0 } }), [{ ...counts, model: "a" }], at),
  ).toBe(3_000_000);
});

test("the runtime's word counts before prices, and no word is never taken for nothing", () => {
  const turn = { answers: [{ ...counts, model: "gpt-5" }], model: null, at: now, list };
  expect(turnCost({ ...turn, reportedUsd: 0.5 })).toEqual({
    costMicros: 500_000,
    costSource: "reported",
    priceVersion: null,
  });
  const priced = { costMicros: 2_500_000, costSource: "prices", priceVersion: list.version } as const;
  expect(turnCost({ ...turn, reportedUsd: null })).toEqual(priced);
  expect(turnCost({ ...turn, reportedUsd: 0 })).toEqual(priced);
  const unknown = { costMicros: null, costSource: "unknown", priceVersion: null } as const;
  expect(turnCost({ ...turn, answers: [{ ...counts, model: "new" }], reportedUsd: 0 })).toEqual(unknown);
  expect(turnCost({ ...turn, answers: [], reportedUsd: null })).toEqual(unknown);
  expect(turnCost({ ...turn, answers: [], reportedUsd: 0 })).toMatchObject({ costMicros: 0, costSource: "reported" });
});

test("prices are stale after 60 days", () => {
  const on = (day: string) => ageOf({ ...list, date: "2026-01-01" }, Date.parse(day));
  expect(on("2026-03-02")).toEqual({ days: 60, isStale: false });
  expect(on("2026-03-03")).toEqual({ days: 61, isStale: true });
  expect(ageOf({ ...list, date: null }, now)).toBeNull();
});

test("a map that cannot be meant is refused by the name of its model, and other fields are ignored", () => {
  const read = (data: unknown) => readPriceMap(data, "v");
  expect(read([])).toEqual({ ok: false, refusal: "it is not a map of models" });
  expect(read({ a: { input_cost_per_token: 5, output_cost_per_token: 25 } })).toMatchObject({
    refusal: "a: input_cost_per_token must be dollars per token, from 0 to 1",
  });
  expect(read({ a: { input_cost_per_token: 0, output_cost_per_token: 0, effective_from: "soon" } })).toMatchObject({
    refusal: "a: effective_from must be a day such as 2026-11-16",
  });
  expect(read({ a: 1 })).toMatchObject({ refusal: "a: an entry is not a map of prices" });
  expect(listOf({ sample_spec: { max_tokens: "text" }, picture: { output_cost_per_image: 0.04 } }).models.size).toBe(0);
});
