import { expect, test } from "bun:test";
import { noTokens } from "../budget/usage.ts";
import type { PriceList } from "../prices/prices.ts";
import { type SpendingTerms, watchSpending } from "./spending.ts";
import type { TurnEvent } from "./turn-event.ts";

/** A cent for a thousand tokens, whichever. */
const perToken = 0.00001;
const price = { input: perToken, output: perToken, cacheRead: null, cacheWrite: null, cacheWrite1h: null };
const prices: PriceList = { version: "v1", date: null, models: new Map([["m", [{ from: null, ...price }]]]) };

const watch = (more: Partial<SpendingTerms>) =>
  watchSpending({ allowance: { usd: 10_000 }, model: "m", at: 0, prices, earlier: [], ...more });

const usage = (messageId: string, input: number, model: string | null = null): TurnEvent => ({
  kind: "usage",
  messageId,
  model,
  ...noTokens,
  input,
});
const seen = (...events: TurnEvent[]) => ({ events, reportedUsd: null, elapsedMs: 0 });

test("a turn that costs more by the list of prices than was left is over", () => {
  const spending = watch({});
  expect(spending.overrun(seen(usage("a", 1000)))).toBeUndefined();
  expect(spending.overrun(seen(usage("b", 500)))).toBe("it took $0.015 by the list of prices, and $0.01 were left");
});

test("an answer that is told again counts once", () => {
  const spending = watch({});
  for (let n = 0; n < 5; n++) expect(spending.overrun(seen(usage("a", 900)))).toBeUndefined();
});

test("the program's own word about its cost counts before the list", () => {
  const spending = watch({});
  const cost: TurnEvent = { kind: "cost", usd: 0.002 };
  expect(spending.overrun({ ...seen(usage("a", 5000), cost), reportedUsd: 0.002 })).toBeUndefined();
  const more: TurnEvent = { kind: "cost", usd: 0.02 };
  expect(spending.overrun({ ...seen(more), reportedUsd: 0.02 })).toBe("it took $0.02, and $0.01 were left");
});

test("a model without a price ends no turn: the limit of tokens does", () => {
  expect(watch({}).overrun(seen(usage("a", 1_000_000, "other")))).toBeUndefined();
  const both = watch({ allowance: { usd: 10_000, tokens: 100 } });
  expect(both.overrun(seen(usage("a", 101, "other")))).toBe("it took 101 tokens, and 100 tokens were left");
});

test("what an earlier supervisor stored of the turn counts too", () => {
  const spending = watch({ earlier: [{ messageId: "a", model: null, ...noTokens, input: 900 }] });
  expect(spending.overrun(seen(usage("b", 200)))).toContain("$0.011");
});

test("a program that keeps its limit itself is not counted by the list, and minutes hold for every program", () => {
  expect(watch({ prices: null }).overrun(seen(usage("a", 1_000_000)))).toBeUndefined();
  const spending = watch({ allowance: { minutes: 60_000 } });
  expect(spending.overrun({ events: [], reportedUsd: null, elapsedMs: 61_000 })).toContain("minute");
});
