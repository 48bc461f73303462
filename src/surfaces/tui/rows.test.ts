import { expect, test } from "bun:test";
import { noSpending } from "../../domain/cost/spending.ts";
import { plain } from "../shared/paint.ts";
import { rowsOf } from "./rows.ts";
import type { Snapshot } from "./snapshot.ts";

const spent = {
  ...noSpending,
  turns: 1234,
  input: 9999,
  output: 123_000,
  cacheRead: 9_999_000,
  costMicros: 12_345_000_000,
};
const group = {
  key: "builder-with-a-rather-long-name",
  totals: spent,
  firstAt: 0,
  lastAt: 0,
  limitUsd: 20_000,
  usedPercent: 61,
};

test("what an agent cost is never cut off, however narrow the terminal", () => {
  for (const width of [60, 70, 79, 80, 95, 96, 120]) {
    const rows = rowsOf("costs", { costs: [group] } as Partial<Snapshot> as Snapshot, { paint: plain, now: 0, width });
    const [head = "", row = ""] = rows.map(({ text }) => text);
    expect([width, head.length <= width, row.length]).toEqual([width, true, head.length]);
    expect(head).toMatch(/Turns .*Output .*Cost +Of limit$/);
    expect(row).toMatch(/\$12345\.00 +61 %$/);
  }
});

test("what no turn told or priced is n/a, and a cost below a cent is not nought", () => {
  const unknown = { ...noSpending, turns: 2, untold: 2, unpriced: 2 };
  const costs = [
    { ...group, key: "silent", totals: unknown, usedPercent: null },
    { ...group, key: "cheap", totals: { ...noSpending, turns: 1, output: 42, costMicros: 1_346 }, usedPercent: 0 },
  ];
  const rows = rowsOf("costs", { costs } as Partial<Snapshot> as Snapshot, { paint: plain, now: 0, width: 60 });
  const cells = rows.map(({ text }) => text.trim().split(/\s{2,}/));
  expect(cells.slice(1)).toEqual([
    ["silent", "2", "n/a", "n/a", "n/a"],
    ["cheap", "1", "42", "<$0.01", "0 %"],
  ]);
});

test("the overview says that landed work waits to be taken over", () => {
  const landed = { runId: "run-1", openRuns: ["run-1"], landing: "l", target: "main", landings: 2, takenOut: 0 };
  const unpromoted = [{ ...landed, notTakenIn: null, unverified: [] }];
  const quiet = { agents: [], criteria: [], approvals: [], decisions: [], questions: [], unhanded: [] };
  const lists = {
    blockedMerges: [],
    mergeTroubles: [],
    mergePause: null,
    missingTargets: [],
    failedMerges: [],
    otherRuns: [],
  };
  const overview = { run: { id: "run-1" }, endedLeader: null, ...quiet, ...lists, unpromoted };
  const snapshot = { overview, merges: [], events: [] } as unknown as Snapshot;
  const rows = rowsOf("overview", snapshot, { paint: plain, now: 0, width: 80 }).map(({ text }) => text);
  expect(rows).toContain("Landed: 2 branches wait to be taken over into main");
  expect(rows).toContain("  take it over: ov merge promote");
});
