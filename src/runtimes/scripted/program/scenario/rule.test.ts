import { expect, test } from "bun:test";
import fc from "fast-check";
import { chooseRule, type Rule, type TurnFacts } from "./rule.ts";

const facts: TurnFacts = { agent: "b1", capability: "builder", task: "T-1", turn: 1, attempt: 1, input: "hello there" };
const never = { agent: undefined, capability: undefined, task: undefined };
const rule = (when: Partial<Rule["when"]>): Rule => ({
  when: { ...never, turn: undefined, attempt: undefined, input: undefined, ...when },
  do: [],
});
const holds = (when: Partial<Rule["when"]>, about: Partial<TurnFacts> = {}) =>
  chooseRule([rule(when)], { ...facts, ...about }) !== undefined;

test("a rule without conditions always holds; every condition must hold", () => {
  expect(holds({})).toBe(true);
  expect(holds({ agent: "b1", turn: 1, input: "hello" })).toBe(true);
  expect(holds({ agent: "b1", turn: 2, input: "hello" })).toBe(false);
  expect(holds({ agent: "b2", turn: 1 })).toBe(false);
});

test("the first of two rules that hold is chosen", () => {
  const rules = [rule({ agent: "x" }), rule({ agent: "b*" }), rule({})];
  expect(chooseRule(rules, facts)?.when.agent).toBe("b*");
});

test("a glob without wildcards matches exactly itself, whatever characters it has", () => {
  const text = fc.string().filter((value) => !/[*?]/.test(value));
  fc.assert(fc.property(text, text, (glob, agent) => holds({ agent: glob }, { agent }) === (glob === agent)));
  fc.assert(fc.property(text, (agent) => holds({ agent }, { agent })));
});

test("a star stands for any text between its neighbours", () => {
  const text = fc.string({ unit: "binary" }).filter((value) => !/[*?]/.test(value));
  fc.assert(
    fc.property(text, text, text, (before, middle, after) =>
      holds({ agent: `${before}*${after}` }, { agent: before + middle + after }),
    ),
  );
});
