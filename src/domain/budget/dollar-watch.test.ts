import { expect, test } from "bun:test";
import { dollarNote, dollarWatch } from "./dollar-watch.ts";

test.each([
  ["a program that keeps a limit itself", { costLimit: true, tokens: "answer" }, null, false, "held"],
  ["tokens after each answer, of a model with a price", { costLimit: false, tokens: "answer" }, "m", true, "held"],
  ["tokens at the end", { costLimit: false, tokens: "turn" }, "m", true, "at-end"],
  ["tokens at the end, of a model that is not known", { costLimit: false, tokens: "turn" }, null, false, "at-end"],
  ["a model without a price", { costLimit: false, tokens: "turn" }, "m", false, "unpriced"],
  ["a model that the program chooses", { costLimit: false, tokens: "answer" }, null, false, "no-model"],
] as const)("whether a limit in dollars holds during a turn: %s", (_, signs, model, hasPrice, watch) => {
  expect(dollarWatch(signs, { model, hasPrice })).toBe(watch);
  const note = dollarNote(watch, { runtime: "codex", model }, { scope: "agent", subject: "b1", limit: 1_500_000 });
  if (watch === "held") expect(note).toBeUndefined();
  else expect(note).toStartWith("the limit of $1.50 for agent b1 is n/a ");
});
