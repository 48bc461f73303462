import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Dependencies } from "../task/dependency.ts";
import { type AdvisedTask, adviceLines, advise, criticalPath, planRounds, remainingLengths } from "./advice.ts";

const task = (
  id: string,
  files: readonly string[] = [`src/${id}.ts`],
  facts: Partial<AdvisedTask> = {},
): AdvisedTask => ({
  id,
  title: id,
  files,
  shares: [],
  status: "open",
  claimedBy: null,
  type: "task",
  ...facts,
});
const chain = (...ids: readonly string[]) =>
  ids.slice(1).map((taskId, index) => ({ taskId, dependsOn: ids[index] ?? "" }));
const adviceFor = (
  tasks: readonly AdvisedTask[],
  dependencies: readonly { taskId: string; dependsOn: string }[] = [],
  maxConcurrent = 25,
) => advise({ tasks, dependencies, maxConcurrent });

describe("the adviser", () => {
  test("has nothing to judge without tasks and says so", () => {
    const advice = adviceFor([]);
    expect(advice).toMatchObject({ verdict: "plan", builders: 0, width: 0, rounds: 0, criticalPath: [] });
    expect(adviceLines(advice).join(" ")).toContain("divide the objective first");
  });

  test("gives independent tasks a builder each, as far as turns may run at once", () => {
    const tasks = ["a", "b", "c", "d"].map((id) => task(id));
    expect(adviceFor(tasks)).toMatchObject({ verdict: "parallel", builders: 4, rounds: 1, roundsAlone: 4, width: 4 });
    expect(adviceFor(tasks, [], 2)).toMatchObject({ builders: 2, rounds: 2, width: 4 });
  });

  test("advises one builder for a chain", () => {
    const advice = adviceFor(
      ["a", "b", "c"].map((id) => task(id)),
      chain("a", "b", "c"),
    );
    expect(advice).toMatchObject({
      verdict: "single",
      builders: 1,
      criticalPath: ["a", "b", "c"],
      width: 1,
      rounds: 3,
    });
    expect(adviceLines(advice)[0]).toContain("one after the other");
  });

  test("does not ask for more builders than shorten the work", () => {
    // The chain takes three rounds anyway; the three loose tasks fit beside it with one more builder.
    const tasks = ["a", "b", "c", "x", "y", "z"].map((id) => task(id));
    expect(adviceFor(tasks, chain("a", "b", "c"))).toMatchObject({ builders: 2, rounds: 3, width: 4 });
  });

  test("puts tasks that touch the same files into one cluster and not beside each other", () => {
    const tasks = [task("a", ["src/api.ts"]), task("b", ["src/**"]), task("c", ["docs/x.md"])];
    const advice = adviceFor(tasks);
    expect(advice.clusters).toEqual([{ tasks: ["a", "b"], file: "src/api.ts" }]);
    expect(advice).toMatchObject({ builders: 2, rounds: 2, width: 3 });
    expect(adviceLines(advice).join("\n")).toContain("a, b touch the same files (src/api.ts)");
  });

  test("sees no conflict where one task waits for the other anyway", () => {
    const tasks = [task("a", ["src/api.ts"]), task("b", ["src/mid.ts"]), task("c", ["src/api.ts"])];
    expect(adviceFor(tasks, chain("a", "b", "c")).clusters).toEqual([]);
  });

  test("leaves epics out, ignores closed dependencies and says which tasks name no files", () => {
    const tasks = [task("a", []), task("b"), task("e", [], { type: "epic" }), task("t", ["t"], { claimedBy: "b9" })];
    const advice = adviceFor(tasks, [{ taskId: "b", dependsOn: "long-closed" }]);
    expect(advice).toMatchObject({ openTasks: 3, readyTasks: ["a", "b"], withoutFiles: ["a"] });
  });
});

/** Tasks t0..tn, each waiting for earlier ones only, with files from a small pool so that some overlap. */
const anyWork = fc
  .array(fc.record({ waits: fc.array(fc.nat(), { maxLength: 3 }), file: fc.nat({ max: 5 }) }), { maxLength: 14 })
  .map((drawn) => ({
    tasks: drawn.map(({ file }, index) => task(`t${index}`, [`f${file}`])),
    dependencies: drawn.flatMap(({ waits }, index) =>
      index === 0
        ? []
        : [...new Set(waits.map((n) => n % index))].map((n) => ({ taskId: `t${index}`, dependsOn: `t${n}` })),
    ),
  }));

test("whatever the work, the advice keeps within its limits and never beats the longest chain", () => {
  fc.assert(
    fc.property(anyWork, fc.integer({ min: 1, max: 6 }), ({ tasks, dependencies }, maxConcurrent) => {
      const advice = advise({ tasks, dependencies, maxConcurrent });
      expect(advice.builders).toBeLessThanOrEqual(Math.min(maxConcurrent, tasks.length));
      expect(advice.rounds).toBeGreaterThanOrEqual(advice.criticalPath.length);
      expect(advice.rounds).toBeLessThanOrEqual(tasks.length);
      expect(adviceLines(advice).length).toBeGreaterThan(0);
    }),
  );
});

test("every round holds only tasks that are free, fit together and fit the builders; all tasks come once", () => {
  fc.assert(
    fc.property(anyWork, fc.integer({ min: 1, max: 4 }), ({ tasks, dependencies }, builders) => {
      const ids = tasks.map(({ id }) => id);
      const order = new Dependencies(dependencies);
      const same = (a: string, b: string) =>
        tasks.find(({ id }) => id === a)?.files[0] === tasks.find(({ id }) => id === b)?.files[0];
      const conflicts = new Map(ids.map((id) => [id, new Set(ids.filter((other) => other !== id && same(id, other)))]));
      const lengths = remainingLengths(ids, order);
      const rounds = planRounds({ ids, order, conflicts, lengths, builders });
      const done = new Set<string>();
      for (const round of rounds) {
        expect(round.length).toBeLessThanOrEqual(builders);
        for (const id of round) {
          expect(order.blockedBy(id).every((before) => done.has(before))).toBe(true);
          expect(round.some((other) => conflicts.get(id)?.has(other) === true)).toBe(false);
        }
        for (const id of round) done.add(id);
      }
      expect(rounds.flat().toSorted()).toEqual(ids.toSorted());
      expect(criticalPath(ids, order, lengths).length).toBe(Math.max(0, ...lengths.values()));
    }),
  );
});

test("a cycle, which the tracker refuses, does not hang the adviser", () => {
  expect(adviceFor([task("a"), task("b")], [...chain("a", "b"), ...chain("b", "a")]).rounds).toBe(2);
});
