import { expect, test } from "bun:test";
import type { Agent, Radar } from "../src/api/types.ts";
import { edgesOf } from "../src/pages/fleet/fleet-edges.ts";

const agent = (name: string, given: Partial<Agent> = {}) => ({ name, parent: null, waits: [], ...given }) as Agent;
const now = Date.parse("2026-01-01T12:00:00Z");
const letter = (from: string, to: string, time: string) => ({ from, to, createdAt: `2026-01-01T${time}Z` });
const pair = (a: string, b: string, files: readonly string[]) => ({ a, b, outcome: "conflict", files });

test("mail joins two agents once, counted in both directions, while it is younger than ten minutes", () => {
  const mail = [
    letter("a", "b", "11:59:00"),
    letter("b", "a", "11:51:00"),
    letter("a", "b", "11:49:00"),
    letter("a", "@all", "11:59:00"),
    letter("operator", "b", "11:59:00"),
  ];
  const edges = edgesOf([agent("a"), agent("b")], mail, undefined, now);
  expect(edges).toEqual([{ id: "mail a b", kind: "mail", source: "a", target: "b", many: 2, files: [] }]);
});

test("files join the owners of two branches, not a branch that no agent has", () => {
  const radar = {
    branches: [
      { branch: "x", agentName: "b" },
      { branch: "y", agentName: "a" },
      { branch: "main", agentName: null },
    ],
    pairs: [pair("x", "y", ["one", "two"]), pair("x", "main", ["one"])],
  } as unknown as Radar;
  const edges = edgesOf([agent("a"), agent("b")], [], radar, now);
  expect(edges.map(({ id, many }) => ({ id, many }))).toEqual([{ id: "overlap a b", many: 2 }]);
});

test("agents that are not shown are joined to nobody, and one that waits twice for another waits once", () => {
  const waits = [
    { kind: "child", ref: "b" },
    { kind: "reply", ref: "b" },
    { kind: "child", ref: "gone" },
  ] as Agent["waits"];
  const edges = edgesOf([agent("a", { parent: "gone", waits }), agent("b", { parent: "a" })], [], undefined, now);
  expect(edges.map(({ id }) => id)).toEqual(["waits a b", "parent a b"]);
});
