import { expect, test } from "bun:test";
import { noBudgets } from "./budget.ts";
import { countedTokens, estimateTurn, spentOf } from "./usage.ts";

test("tokens read from a cache are not counted against a budget", () => {
  expect(countedTokens([{ input: 1, output: 2, cacheRead: 300, cacheWrite: 4 }])).toBe(7);
  expect(countedTokens([])).toBe(0);
});

const none = { usd: 0, tokens: 0, turns: 0, minutes: 0 };

test("a turn is expected to take what the agent's own took on average, rounded up", () => {
  const own = { usd: 100, tokens: 10, turns: 3, minutes: 60_000 };
  const builders = { usd: 9, tokens: 9, turns: 9, minutes: 9 };
  expect(estimateTurn(own, builders, noBudgets)).toEqual({ usd: 34, tokens: 4, turns: 1, minutes: 20_000 });
});

test("a new agent is expected to be like others of its capability, and the first of all as configured", () => {
  const builders = { usd: 20, tokens: 40, turns: 2, minutes: 60 };
  expect(estimateTurn(none, builders, noBudgets)).toEqual({ usd: 10, tokens: 20, turns: 1, minutes: 30 });
  const configured = { estimate: { usd: 0.5, tokens: 1000, minutes: 2 } };
  expect(estimateTurn(none, none, configured)).toEqual({ usd: 500_000, tokens: 1000, turns: 1, minutes: 120_000 });
});

test("where no cost is ever reported, none is expected", () => {
  expect(estimateTurn({ ...none, tokens: 500, turns: 5 }, none, noBudgets)).toMatchObject({ usd: 0, tokens: 100 });
});

test("spending is read off the ledgers of a subject", () => {
  expect(
    spentOf([
      { unit: "turns", spent: 2 },
      { unit: "usd", spent: 5 },
    ]),
  ).toEqual({ ...none, turns: 2, usd: 5 });
});
