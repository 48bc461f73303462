import { expect, test } from "bun:test";
import { allowedEnvironment } from "./environment.ts";

test("agents get locale, proxies and what their runtime asks for, and nothing else", () => {
  const env = {
    LANG: "C",
    LC_ALL: "C",
    HTTPS_PROXY: "p",
    ANTHROPIC_API_KEY: "k",
    AWS_SECRET: "s",
    DATABASE_URL: "d",
    EMPTY: undefined,
  };
  expect(allowedEnvironment(env, ["ANTHROPIC_*"])).toEqual({
    LANG: "C",
    LC_ALL: "C",
    HTTPS_PROXY: "p",
    ANTHROPIC_API_KEY: "k",
  });
});

test("what could change how our own program runs is never passed on, even when asked for", () => {
  const env = { BUN_OPTIONS: "--preload x", NODE_OPTIONS: "-r x", OVERSTORY_TOKEN: "t", LD_PRELOAD: "x" };
  expect(allowedEnvironment(env, ["BUN_*", "NODE_OPTIONS", "OVERSTORY_*", "LD_PRELOAD"])).toEqual({});
});
