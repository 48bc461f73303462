import { describe, expect, test } from "bun:test";
import type { ConfigKey, CostSeries, RunSpans } from "../src/api/types.ts";
import { areasOf, momentsOf, scaleOf, ticksOf } from "../src/pages/costs/cost-scale.ts";
import { activityOf, ganttRows, ganttScale } from "../src/pages/runs/gantt-scale.ts";
import { problemOf, typedOf } from "../src/pages/settings/config-value.ts";
import { csvOf } from "../src/ui/csv.ts";

test("a cell of a CSV file is quoted where it must be, and is never a formula", () => {
  expect(
    csvOf([
      ["a", 1.5, null],
      ['say "hi"', "x,y", "=1+1"],
    ]),
  ).toBe(`a,1.5,\r\n"say ""hi""","x,y",'=1+1\r\n`);
});

describe("the scale of costs", () => {
  const data = {
    from: new Date(0).toISOString(),
    to: new Date(100_000).toISOString(),
    times: [50_000, 100_000].map((at) => new Date(at).toISOString()),
    series: [
      { key: "a", usd: [1, 3] },
      { key: "b", usd: [0, 1] },
    ],
    rate: null,
    limit: null,
  } as unknown as CostSeries;

  test("areas lie on each other, and the cursor finds the nearest step", () => {
    const scale = scaleOf(data, { width: 476, height: 236 });
    expect([scale.x(data.from), scale.x(data.to), scale.y(0)]).toEqual([64, 464, 212]);
    const [low = "", high = ""] = areasOf(data, scale);
    expect(low.startsWith("M64,")).toBe(true);
    expect(high).toContain(`464,${scale.y(4)}`);
    expect([scale.nearest(70), scale.nearest(460)]).toEqual([0, 1]);
  });

  test("a limit far above all that was spent does not press the curve to the floor", () => {
    const limit = { scope: "run", subject: "r", limitUsd: 4000, spentUsd: 4, percent: 0, reachedAt: null };
    expect(scaleOf({ ...data, limit } as CostSeries, { width: 400, height: 200 }).most).toBeLessThan(5);
    expect(
      scaleOf({ ...data, limit: { ...limit, limitUsd: 10 } } as CostSeries, { width: 400, height: 200 }).most,
    ).toBeCloseTo(10.8);
  });

  test("ticks and hours are round and few", () => {
    expect(ticksOf(16)).toEqual([0, 5, 10, 15]);
    expect(momentsOf(Date.UTC(2026, 0, 1, 12, 7), Date.UTC(2026, 0, 1, 13, 2), 4).length).toBeLessThanOrEqual(4);
  });
});

describe("the scale of a run", () => {
  test("idle time is folded to a narrow break, and moments are found again by their place", () => {
    const scale = ganttScale({ from: 0, to: 1000 }, [{ from: 200, to: 800 }], 428);
    expect(scale.folds).toMatchObject([{ from: 200, to: 800, width: 28 }]);
    expect([scale.x(0), scale.x(200), scale.x(800), scale.x(1000)]).toEqual([0, 200, 228, 428]);
    for (const at of [0, 100, 500, 900]) expect(scale.at(scale.x(at))).toBeCloseTo(at);
  });

  test("agents stand under their parents, each name once with all its incarnations", () => {
    const row = (name: string, parent: string, generation: number, from: number, to: number | null) => ({
      name,
      parent,
      generation,
      capability: "builder",
      state: "completed",
      outcome: "done",
      spans: [
        { kind: "turn", from: new Date(from).toISOString(), to: to === null ? null : new Date(to).toISOString() },
      ],
    });
    const data = {
      rows: [row("b1", "lead", 2, 50, null), row("lead", "operator", 1, 0, 40), row("b1", "lead", 1, 10, 20)],
    } as unknown as RunSpans;
    const rows = ganttRows(data, 100);
    expect(rows.map(({ name, depth, spans }) => [name, depth, spans.map(({ from, to }) => [from, to])])).toEqual([
      ["lead", 0, [[0, 40]]],
      [
        "b1",
        1,
        [
          [10, 20],
          [50, 100],
        ],
      ],
    ]);
    expect(activityOf(rows, { from: 0, to: 100 }, 4)).toEqual([2, 1, 1, 1]);
  });
});

test("a typed value is judged by its kind before it is sent", () => {
  const key = (type: string, more: object = {}) => ({ key: "k", type, ...more }) as unknown as ConfigKey;
  expect(problemOf(key("integer", { min: 1, max: 32 }), "8.5")).toBe("must be a whole number");
  expect(problemOf(key("integer", { min: 1, max: 32 }), "33")).toBe("must be at most 32");
  expect(problemOf(key("number", { min: 0 }), "2.5")).toBeUndefined();
  expect(problemOf(key("boolean"), "yes")).toBe("must be true or false");
  expect(problemOf(key("choice", { choices: ["a", "b"] }), "c")).toBe("must be one of a, b");
  expect([typedOf(null), typedOf("x"), typedOf(["a"])]).toEqual(["", "x", '["a"]']);
});
