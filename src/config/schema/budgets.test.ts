import { expect, test } from "bun:test";
import { loadedConfig as load } from "../../../testkit/loaded-config.ts";
import { noBudgets } from "../../domain/budget/budget.ts";

test("without a word about them there are no limits", async () => {
  expect((await load("")).config.budgets).toEqual(noBudgets);
});

test("dollars and minutes take decimals, from a file and from the environment", async () => {
  const { config, problems } = await load("budgets: {run: {usd: 2.5, tokens: 1_000_000}, day: {minutes: 90}}\n", {
    OVERSTORY__BUDGETS__AGENT__USD: "0.25",
  });
  expect(problems).toEqual([]);
  expect(config.budgets.run).toEqual({ usd: 2.5, tokens: 1_000_000, turns: 0, minutes: 0 });
  expect([config.budgets.day.minutes, config.budgets.agent.usd]).toEqual([90, 0.25]);
});

test("half a token, a debt and an endless budget are refused", async () => {
  const { problems } = await load("budgets: {run: {tokens: 1.5, usd: -1, minutes: .inf}}\n");
  expect(problems.map(({ key, message }) => `${key} ${message}`)).toEqual([
    "budgets.run.tokens must be a whole number from 0 to 1000000000000, not 1.5",
    "budgets.run.usd must be a number from 0 to 10000000, not -1",
    "budgets.run.minutes must be a number from 0 to 1000000000, not Infinity",
  ]);
});
