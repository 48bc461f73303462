import { expect, test } from "bun:test";
import { type LandingWorld, landingWorld } from "../../testkit/landing-world.ts";

const landing = "overstory/integration/main";

const adds = (world: LandingWorld, name: string, from = "main"): string =>
  world.branch(name, () => world.write(world.root, `${name}.txt`, `${name}\n`), from);

const landed = (world: LandingWorld, branch = landing): readonly string[] =>
  world
    .git(world.root, "ls-tree", "--name-only", branch)
    .split("\n")
    .filter((file) => file.endsWith(".txt"));

test("what was undone does not come back with a branch that was begun on top of it", async () => {
  await using world = await landingWorld();
  adds(world, "a");
  const a = await world.enqueue("a");
  await world.work();
  adds(world, "later", landing);
  expect(await world.undo(String(a))).toMatchObject({ status: "done" });
  await world.enqueue("later");
  await world.work();
  expect(landed(world)).toEqual(["later.txt"]);
});

test("what was undone after it was promoted is taken out of the target by the next promotion", async () => {
  await using world = await landingWorld();
  adds(world, "a");
  adds(world, "b");
  const a = await world.enqueue("a");
  await world.work();
  world.git(world.root, "merge", "--quiet", "--ff-only", landing);
  expect(await world.undo(String(a))).toMatchObject({ status: "done" });
  await world.enqueue("b");
  await world.work();
  world.git(world.root, "merge", "--quiet", "--ff-only", landing);
  expect(landed(world, "main")).toEqual(["b.txt"]);
});

test("of two branches one of which holds the other, undoing the one takes nothing of the other with it", async () => {
  await using world = await landingWorld();
  adds(world, "below");
  adds(world, "above", "below");
  const [above, below] = [await world.enqueue("above"), await world.enqueue("below")];
  await world.work();
  expect([(await world.entry(above)).status, (await world.entry(below)).status]).toEqual(["merged", "merged"]);
  const op = await world.undo(String(below));
  expect(landed(world)).toEqual(["above.txt", "below.txt"]);
  expect(op.problem).toContain("brought nothing of its own");
  expect((await world.entry(below)).status).toBe("merged");
});
