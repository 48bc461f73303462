import { expect, test } from "bun:test";
import { cpuTimer } from "../../../testkit/cpu-time.ts";
import { fleetTree } from "./fleet-tree.ts";

const agent = (name: string, parentName: string) => ({ name, parentName });
const drawn = (agents: readonly { name: string; parentName: string }[]): readonly string[] =>
  fleetTree(agents, (one) => one).map(({ item, lead }) => lead + item.name);

test("workers stand below their lead, leads below their coordinator", () => {
  const fleet = [
    agent("b1", "l1"),
    agent("l1", "c"),
    agent("c", "operator"),
    agent("l2", "c"),
    agent("b2", "l1"),
    agent("b3", "l2"),
  ];
  expect(drawn(fleet)).toEqual(["c", "├ l1", "│ ├ b1", "│ └ b2", "└ l2", "  └ b3"]);
});

test("an agent whose parent is not there stands at the top", () => {
  expect(drawn([agent("b1", "gone"), agent("b2", "b1")])).toEqual(["b1", "└ b2"]);
});

test("agents that name each other as parents are listed once each", () => {
  expect(drawn([agent("a", "b"), agent("b", "a"), agent("c", "c")]).map((line) => line.replace(/\W/g, ""))).toEqual([
    "c",
    "a",
    "b",
  ]);
});

test("ten times as many agents below one lead cost about ten times as much", () => {
  const fleet = Array.from({ length: 40_000 }, (_, n) => agent(`b${n}`, "lead"));
  const computed = cpuTimer();
  expect(fleetTree([agent("lead", "operator"), ...fleet], (one) => one)).toHaveLength(40_001);
  // A copy of the list for each agent would take seconds.
  expect(computed()).toBeLessThan(500);
});
