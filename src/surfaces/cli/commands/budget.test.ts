import { expect, test } from "bun:test";
import { type BudgetWorld, budgetWorld, limited } from "../../../../testkit/budget-world.ts";
import { cliInMemory } from "../../../../testkit/cli-in-memory.ts";
import { catalog } from "../../../usecases/catalog.ts";
import type { UseCase } from "../../../usecases/usecase.ts";
import { budgetCommand } from "../tree/watch-commands.ts";

const ov = (world: BudgetWorld, ...argv: string[]) => cliInMemory([budgetCommand], callOf(world), argv);

/** The real use cases. */
const callOf = (world: BudgetWorld) => async (name: string, request: unknown) =>
  world.call((await catalog[name as keyof typeof catalog]()) as UseCase<unknown, unknown>, request);

async function parkedWorld(): Promise<BudgetWorld> {
  const world = await budgetWorld(limited("run", { usd: 2 }));
  await world.agent("ann");
  await world.turn("ann", "t1", { costUsd: 2.5, tokens: 1200, minutes: 4 });
  await world.reserve("ann", "t2");
  return world;
}

test("show lists limits with spending and parked agents; as a table all subjects", async () => {
  await using world = await parkedWorld();
  const { out } = await ov(world, "budget", "show");
  expect(out).toMatch(/^SCOPE +SUBJECT +UNIT +LIMIT +SPENT +RESERVED +USED +PARKED\n/);
  expect(out).toMatch(/\nrun +run-1 +usd +2\.00 +2\.50 +0\.00 +125% +ann\n/);
  expect(out).not.toContain("minutes");
  expect(out).toContain("ov budget --format table");
  expect((await ov(world, "budget")).out).toBe(out);
  const all = (await ov(world, "budget", "--format", "table")).out;
  expect(all).toMatch(/\nrun +run-1 +tokens +- +1200 +0 +- +-\n/);
  expect(all).toMatch(/\nagent +ann +minutes +- +4\.0 +0\.0 +- +-\n/);
  const { budgets } = JSON.parse((await ov(world, "budget", "show", "--json")).out);
  expect(budgets).toContainEqual({
    scope: "run",
    subject: "run-1",
    unit: "usd",
    limit: 2,
    raised: 0,
    spent: 2.5,
    reserved: 0,
    percent: 125,
    reported: true,
    unpriced: 0,
    parked: ["ann"],
  });
});

test("show says where limits are set when there are none, and never calls an unknown cost nothing", async () => {
  await using world = await budgetWorld();
  expect((await ov(world, "budget", "show")).out).toContain(
    "No limit is set.\n  Nothing was spent yet.\n  set one: ov config",
  );
  await world.agent("ann");
  await world.turn("ann", "t1", { tokens: 5 });
  expect((await ov(world, "budget", "show")).out).toMatch(/run-1 has used n\/a usd, 5 tokens/);
  await world.turn("ann", "t2", { costUsd: 1.5, tokens: 5 });
  expect((await ov(world, "budget", "show")).out).toMatch(/run-1 has used 1\.50 \+ n\/a usd, 10 tokens/);
  world.limits = limited("run", { usd: 5 });
  expect((await ov(world, "budget", "show")).out).toContain("limits in dollars do not count them");
});

test("small amounts are shown with as many digits as it takes to tell them apart", async () => {
  await using world = await budgetWorld(limited("run", { usd: 0.003 }));
  await world.agent("ann");
  await world.turn("ann", "t1", { costUsd: 0.00402 });
  expect((await ov(world, "budget", "show")).out).toMatch(/\nrun +run-1 +usd +0\.003 +0\.00402 +0\.00 +134%/);
});

test("raise says who goes on", async () => {
  await using world = await parkedWorld();
  const { exit, out } = await ov(world, "budget", "raise", "run", "run-1", "usd", "1.50");
  expect([exit, out]).toEqual([0, "✓ Raised: run run-1, 2.50 of 3.50 usd spent\n  goes on: ann\n"]);
  expect(await world.ready()).toEqual(["ann"]);
});

test("raise says when it was not enough", async () => {
  await using world = await parkedWorld();
  const { exit, out } = await ov(world, "budget", "raise", "run", "run-1", "usd", "0.25");
  expect(exit).toBe(0);
  expect(out).toContain("more than that is already spent");
  const again = JSON.parse((await ov(world, "budget", "raise", "run", "run-1", "usd", "0.10", "--json")).out);
  expect(again).toMatchObject({ limit: 2.35, resumed: [], parked: ["ann"], exhausted: true });
});

test("what cannot be raised is refused and changes nothing", async () => {
  await using world = await parkedWorld();
  for (const words of [
    ["herd", "run-1", "usd", "1"],
    ["run", "run-1", "cows", "1"],
    ["run", "run-1", "usd", "lots"],
    ["run", "run-1", "usd", "1e3"],
    ["run", "run-1", "turns", "3"],
  ]) {
    expect((await ov(world, "budget", "raise", ...words)).exit).toBe(2);
  }
  expect((await ov(world, "budget", "raise", "run", "run-9", "usd", "1")).exit).toBe(7);
  const { budgets } = JSON.parse((await ov(world, "budget", "show", "--json")).out);
  expect(budgets.every(({ raised }: { raised: number }) => raised === 0)).toBe(true);
});
