import { expect, test } from "bun:test";
import { requestPromote } from "../../src/usecases/merge/landing/promotion.ts";
import { planUndo, requestUndo } from "../../src/usecases/merge/landing/request-undo.ts";
import { overview } from "../../src/usecases/status/overview.ts";
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

test("work that an undo of a promoted undo brought back waits for its promotion again", async () => {
  await using world = await landingWorld();
  for (const name of ["a", "b"]) {
    adds(world, name);
    await world.enqueue(name);
    await world.work();
  }
  const waits = async () => (await world.call(overview, { all: false, mailbox: "operator" })).unpromoted;
  expect(await world.promote()).toMatchObject({ status: "done" });
  const undone = await world.undo("a");
  expect(await waits()).toMatchObject([{ target: "main", landings: 0, takenOut: 1 }]);
  expect(await world.promote()).toMatchObject({ status: "done" });
  expect(landed(world, "main")).toEqual(["b.txt"]);
  expect(await waits()).toEqual([]);
  expect(await world.undo(undone.id)).toMatchObject({ status: "done" });
  expect(await waits()).toMatchObject([{ target: "main", landings: 1, takenOut: 0 }]);
  const { promote } = await world.call(requestPromote, { target: "main" });
  await world.work();
  expect(await world.store.read((tx) => tx.mergeOps.get(promote?.id ?? ""))).toMatchObject({ status: "done" });
  expect(landed(world, "main")).toEqual(["a.txt", "b.txt"]);
  expect(await waits()).toEqual([]);
});

/** The branch a landed, and the user committed to the target since. The other branches were begun before. */
async function landedBesideOwnCommit(...others: readonly string[]): Promise<LandingWorld> {
  const world = await landingWorld();
  for (const name of ["a", ...others]) adds(world, name);
  await world.enqueue("a");
  await world.work();
  world.write(world.root, "mine.txt", "mine\n");
  world.git(world.root, "add", "mine.txt");
  world.git(world.root, "commit", "--quiet", "-m", "mine");
  return world;
}

/** The same after a promotion, which brought the user's commit in before it took over. */
async function promotedWithOwnCommit(): Promise<LandingWorld> {
  const world = await landedBesideOwnCommit();
  expect(await world.promote()).toMatchObject({ status: "done" });
  return world;
}

test("the last landing is the last one of work: the user's own commits stay", async () => {
  await using world = await promotedWithOwnCommit();
  const { entries, undo } = await world.call(requestUndo, { last: true });
  expect(entries.map(({ branch }) => branch)).toEqual(["a"]);
  await world.work();
  expect(await world.store.read((tx) => tx.mergeOps.get(undo.id))).toMatchObject({ status: "done" });
  expect(await world.promote()).toMatchObject({ status: "done" });
  expect(landed(world, "main")).toEqual(["mine.txt"]);
  await expect(world.call(planUndo, { last: true })).rejects.toThrow("nothing has landed");
});

test("commits of the target that were brought in cannot be taken out, however they are named", async () => {
  await using world = await promotedWithOwnCommit();
  const [sync] = await world.store.read((tx) => tx.merges.list({ branch: "main" }));
  const [op] = await world.store.read((tx) => tx.mergeOps.list({ kind: "land", queueId: sync?.id ?? 0 }));
  for (const of of ["main", `#${sync?.id}`, op?.id ?? ""]) {
    await expect(world.call(planUndo, { of })).rejects.toThrow("commits of main itself");
  }
  const told = await world.store.read((tx) => tx.messages.list({ to: "operator", type: "merged" }));
  const offers = told.map(({ subject, body }) => [subject, body.includes("ov merge undo")]);
  expect(Object.fromEntries(offers)).toEqual({ "merged: a": true, "merged: main": false });
  expect(landed(world, "main")).toEqual(["a.txt", "mine.txt"]);
});

test("a landing that brought work and commits of the target loses only the work", async () => {
  await using world = await landedBesideOwnCommit("b");
  const { promote } = await world.call(requestPromote, {});
  await world.enqueue("main", { targetBranch: landing });
  const b = await world.enqueue("b", { targetBranch: landing });
  await world.work();
  const [op] = await world.store.read((tx) => tx.mergeOps.list({ kind: "land", queueId: b }));
  expect(op?.queueIds).toHaveLength(2);
  expect(promote).not.toBeNull();
  expect(await world.undo(op?.id ?? "")).toMatchObject({ status: "done", queueIds: [b] });
  expect(landed(world)).toEqual(["a.txt", "mine.txt"]);
});

test("what the user took out of the target by hand cannot be taken out once more", async () => {
  await using world = await landingWorld();
  for (const name of ["a", "b"]) adds(world, name);
  const a = await world.enqueue("a");
  await world.work();
  expect(await world.promote()).toMatchObject({ status: "done" });
  world.git(world.root, "revert", "--no-edit", "-m1", "HEAD");
  await world.enqueue("b");
  await world.work();
  expect(await world.promote()).toMatchObject({ status: "done" });
  const before = world.tip(landing);
  const op = await world.undo(String(a));
  expect(op).toMatchObject({ status: "dropped", problem: expect.stringContaining("nothing to take out") });
  expect(world.tip(landing)).toBe(before);
  expect(await world.entry(a)).toMatchObject({ status: "merged" });
});

test("an undo is not taken back when the branch has landed again since", async () => {
  await using world = await landingWorld();
  for (const name of ["a", "b"]) adds(world, name);
  const a = await world.enqueue("a");
  await world.work();
  await world.enqueue("b");
  await world.work();
  const undone = await world.undo(String(a));
  const again = await world.enqueue("a");
  await world.work();
  expect(landed(world)).toEqual(["a.txt", "b.txt"]);
  const before = world.tip(landing);
  const op = await world.undo(undone.id);
  expect(op).toMatchObject({ status: "dropped", problem: expect.stringContaining(`it landed again as #${again}`) });
  expect(world.tip(landing)).toBe(before);
  expect([(await world.entry(a)).status, (await world.entry(again)).status]).toEqual(["reverted", "merged"]);
  expect(await world.undo(String(again))).toMatchObject({ status: "done" });
  expect(landed(world)).toEqual(["b.txt"]);
});

test("an earlier promotion is not taken back before the later one, which is named", async () => {
  await using world = await landingWorld();
  for (const name of ["a", "b"]) adds(world, name);
  await world.enqueue("a");
  await world.work();
  const first = await world.promote();
  await world.enqueue("b");
  await world.work();
  const second = await world.promote();
  expect((await world.undo(first.id)).problem).toContain(`take that back first: ov merge undo ${second.id}`);
  expect((await world.undo(second.id)).status).toBe("done");
  expect((await world.undo(first.id)).status).toBe("done");
  expect(landed(world, "main")).toEqual([]);
});
