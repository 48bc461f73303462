import { expect, test } from "bun:test";
import { ensureLandingBranch } from "../../src/engine/merge/landing-branch.ts";
import { type LandingWorld, landingWorld } from "../../testkit/landing-world.ts";
import { activeRun } from "../../testkit/use-case.ts";
import { answer, filesOf, landing, make, questions } from "./rewritten-target.world.ts";

/** a and b landed one after the other and were promoted; the user reset the target, and the operator left both out. */
async function leftOut(): Promise<{ world: LandingWorld; afterA: string; ids: readonly number[] }> {
  const world = await landingWorld();
  const main = world.tip("main");
  const into = "overstory/integration/main";
  make(world, "a", "main");
  make(world, "b", "main");
  const first = await world.enqueue("a");
  await world.work();
  const afterA = world.tip(into);
  make(world, "c", afterA);
  const second = await world.enqueue("b");
  await world.work();
  await world.promote();
  world.git(world.root, "reset", "--quiet", "--hard", main);
  await world.promote();
  await answer(world, "leave out");
  return { world, afterA, ids: [first, second] };
}

test("a branch that rests on an earlier one of the commits that were left out does not bring it back", async () => {
  const { world, afterA } = await leftOut();
  await using _ = world;
  const id = await world.enqueue("c");
  await world.work();
  const { status, causeDetail, targetBranch } = await world.entry(id);
  expect([status, filesOf(world, targetBranch)]).toEqual(["conflict", []]);
  const command = `git rebase --onto ${targetBranch} ${afterA.slice(0, 12)} c`;
  expect(causeDetail?.message).toContain(command);
  world.git(world.root, ...command.split(" ").slice(1), "--quiet");
  world.git(world.root, "checkout", "--quiet", "main");
  await world.enqueue("c");
  await world.work();
  expect(filesOf(world, targetBranch)).toEqual(["c.txt"]);
});

test("landings that were left out are reverted, and the decision names them", async () => {
  const { world, ids } = await leftOut();
  await using _ = world;
  expect(await Promise.all(ids.map(async (id) => (await world.entry(id)).status))).toEqual(["reverted", "reverted"]);
  const [asked] = await world.store.read((tx) => tx.messages.list({ to: "operator", type: "decision_gate" }));
  expect(asked?.body).toContain("these landings go: b (#2), a (#1)");
  await expect(world.undo("a")).rejects.toThrow("it has not landed, or was taken back");
  const [op] = await world.store.read((tx) => tx.mergeOps.list({ kind: "restore" }));
  await expect(world.undo(op?.id ?? "")).rejects.toThrow(`git log refs/overstory/backup/${op?.id}`);
  await expect(world.undo(op?.id ?? "")).rejects.toThrow("ov merge --branch");
});

test("a landing whose changes the rewritten target has in a commit of its own stays landed", async () => {
  await using world = await landingWorld();
  make(world, "a", "main");
  const id = await world.enqueue("a");
  await world.work();
  await world.promote();
  world.git(world.root, "commit", "--quiet", "--amend", "-m", "in my words");
  await world.promote();
  expect(await questions(world)).toEqual([]);
  expect(filesOf(world, "overstory/integration/main")).toEqual(["a.txt"]);
  expect(await world.entry(id)).toMatchObject({ status: "merged" });
});

test("a branch that was left out itself lands again when it is asked for", async () => {
  const { world } = await leftOut();
  await using _ = world;
  const id = await world.enqueue("b");
  await world.work();
  const { status, targetBranch } = await world.entry(id);
  expect([status, filesOf(world, targetBranch)]).toEqual(["merged", ["b.txt"]]);
});

test("landed work that was left out counts as taken back, also when other work landed after it", async () => {
  const world = await landingWorld({ gates: ["true"] });
  await using _ = world;
  const run = activeRun("run-1", 1);
  await world.store.transaction((tx) => tx.runs.insert(run));
  expect(await ensureLandingBranch(world.ports, run)).toBe(landing);
  const ids: number[] = [];
  const land = async (name: string): Promise<void> => {
    // The same content in each: git takes the new file for the removed one under another name.
    world.branch(name, () => world.write(world.root, `${name}.txt`, "same\n"), landing);
    ids.push(await world.enqueue(name, { runId: "run-1", targetBranch: landing }));
    await world.work();
  };
  await land("b1");
  await land("g2");
  expect(await world.promote("run-1")).toMatchObject({ status: "done" });
  world.git(world.root, "reset", "--quiet", "--hard", "HEAD~1");
  expect(await world.promote("run-1")).toMatchObject({ status: "dropped" });
  await land("b3");
  await world.promote("run-1");
  await answer(world, "leave out");
  expect(filesOf(world, landing)).toEqual(["b1.txt", "b3.txt"]);
  const entries = await Promise.all(ids.map((id) => world.entry(id)));
  expect(entries.map(({ branch, status }) => `${branch} ${status}`)).toEqual(["b1 merged", "g2 reverted", "b3 merged"]);
});
