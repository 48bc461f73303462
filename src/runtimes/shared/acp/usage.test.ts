import { expect, test } from "bun:test";
import { usageAccount } from "./usage.ts";

const usage = { inputTokens: 150, outputTokens: 20, cachedReadTokens: 30, cachedWriteTokens: 20, totalTokens: 170 };
const counted = { input: 100, output: 20, cacheRead: 30, cacheWrite: 20 };

test("tokens of the cache are told apart, whether or not they are among the input", () => {
  const told = usageAccount("prompt");
  expect(told(1, { usage })).toMatchObject([counted]);
  expect(told(2, { usage: { ...usage, inputTokens: 100 } })).toMatchObject([counted]);
  expect(told(3, { usage: { inputTokens: 1, outputTokens: 2, thoughtTokens: 4, totalTokens: 7 } })).toMatchObject([
    { input: 1, output: 6 },
  ]);
});

test("a program that tells the sum since its start has each prompt counted once", () => {
  const told = usageAccount("process");
  expect(told(1, { usage })).toMatchObject([counted]);
  expect(told(2, { usage: { ...usage, outputTokens: 25, totalTokens: 175 } })).toMatchObject([
    { input: 0, output: 5, cacheRead: 0, cacheWrite: 0 },
  ]);
  expect(told(3, {})).toEqual([]);
});

test("Gemini tells the tokens of each model that a prompt took", () => {
  const model_usage = [{ model: "m", token_count: { input_tokens: 5, output_tokens: 3 } }];
  expect(usageAccount("prompt")(1, { _meta: { quota: { model_usage } } })).toMatchObject([
    { model: "m", input: 5, output: 3 },
  ]);
});
