import { expect, test } from "bun:test";
import { openDecisions } from "../../src/usecases/operator/decisions.ts";
import { type LandingWorld, landingWorld } from "../../testkit/landing-world.ts";
import { seatWorld } from "../../testkit/seat-world.ts";
import { storedAgent } from "../../testkit/use-case.ts";

const landing = "overstory/integration/main";

const make = (world: LandingWorld, name: string): string =>
  world.branch(name, () => world.write(world.root, `${name}.txt`, `${name}\n`));

/** Work has landed and its branch is gone; then a user deletes the landing branch and runs `git gc`. */
async function deleted(): Promise<{ world: LandingWorld; landed: string }> {
  const world = await landingWorld();
  for (const name of ["a", "b"]) make(world, name);
  await world.enqueue("a");
  await world.work();
  const landed = world.tip(landing);
  forget(world, landing, "a");
  return { world, landed };
}

function forget(world: LandingWorld, ...branches: readonly string[]): void {
  world.git(world.root, "branch", "--quiet", "-D", ...branches);
  world.git(world.root, "reflog", "expire", "--expire=now", "--all");
  world.git(world.root, "gc", "--quiet", "--prune=now");
}

test("landed work outlives a deleted landing branch, and is promoted", async () => {
  const { world, landed } = await deleted();
  await using _ = world;
  expect(await world.promote()).toMatchObject({ status: "done", afterCommit: landed });
  expect(world.tip("main")).toBe(landed);
  expect(await world.store.read((tx) => openDecisions(tx))).toEqual([]);
});

test("more work lands on it, and what landed can be undone", async () => {
  const { world, landed } = await deleted();
  await using _ = world;
  const b = await world.enqueue("b", { targetBranch: landing });
  await world.work();
  expect(await world.entry(b)).toMatchObject({ status: "merged" });
  expect(world.git(world.root, "rev-parse", `${landing}^1`)).toBe(landed);
  forget(world, landing);
  expect(await world.undo("b")).toMatchObject({ status: "done" });
  expect(world.tip(landing)).toBe(landed);
  expect(world.git(world.root, "rev-parse", "refs/overstory/landing/main")).toBe(landed);
});

test("the pin of a landing branch is let go of when everything on it was promoted", async () => {
  const { world } = await deleted();
  await using _ = world;
  const pins = (): string => world.git(world.root, "for-each-ref", "refs/overstory/landing");
  expect(pins()).not.toBe("");
  await world.promote();
  expect(pins()).toBe("");
});

test("new agents start on a landing branch that was deleted", async () => {
  await using seats = await seatWorld();
  const { landing: world } = seats;
  await seats.look();
  const branch = "overstory/integration/run-1";
  make(world, "a");
  await world.enqueue("a", { runId: "run-1", targetBranch: branch });
  await world.work();
  const landed = world.tip(branch);
  forget(world, branch);
  const waiting = { worktreeKind: "linked", branch: "overstory/b4/t", state: "booting", parentName: "lead" } as const;
  await world.store.transaction((tx) => tx.agents.reserve(storedAgent("b4", waiting)));
  await seats.look();
  const agent = await world.store.read((tx) => tx.agents.byName("b4"));
  expect(agent).toMatchObject({ state: "booting", baseCommit: landed });
  expect(world.tip(branch)).toBe(landed);
});

test("a landing branch that stands for another ref moves nothing, and the way out is named and works", async () => {
  await using world = await landingWorld();
  for (const name of ["a", "b"]) make(world, name);
  await world.enqueue("a");
  await world.work();
  const landed = world.tip(landing);
  world.git(world.root, "branch", "mine", landed);
  world.git(world.root, "symbolic-ref", `refs/heads/${landing}`, "refs/heads/mine");
  const b = await world.enqueue("b", { targetBranch: landing });
  await world.work();
  const { status, causeDetail } = await world.entry(b);
  const wayOut = `git symbolic-ref -d refs/heads/${landing}`;
  expect([status, world.tip("mine")]).toEqual(["blocked", landed]);
  expect(causeDetail?.message).toContain(wayOut);
  expect(Bun.spawnSync({ cmd: ["sh", "-c", wayOut], cwd: world.root }).success).toBe(true);
  world.later(60_000);
  await world.work();
  expect([(await world.entry(b)).status, world.show(landing, "b.txt"), world.tip("mine")]).toEqual([
    "merged",
    "b",
    landed,
  ]);
});
