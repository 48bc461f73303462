import { expect, test } from "bun:test";
import type { Gate } from "../../src/domain/gate/gate.ts";
import type { Run } from "../../src/domain/run/run.ts";
import { ensureLandingBranch } from "../../src/engine/merge/landing-branch.ts";
import { promotionDoubts } from "../../src/usecases/merge/landing/promotion.ts";
import { showMerge } from "../../src/usecases/merge/read-merges.ts";
import { overview } from "../../src/usecases/status/overview.ts";
import { type LandingWorld, landingWorld } from "../../testkit/landing-world.ts";

async function begin(world: LandingWorld, id: string): Promise<string> {
  const rest = {
    objective: null,
    targetBranch: null,
    landingBranch: null,
    coordinatorName: null,
    checklist: false,
    startCommit: null,
    completedAt: null,
  };
  const run: Run = { id, ...rest, status: "active", startedAt: world.ports.clock.now() };
  await world.store.transaction((tx) => tx.runs.insert(run));
  return (await ensureLandingBranch(world.ports, run)) ?? "";
}

/** A branch with one commit that changes no file. */
function emptyBranch(world: LandingWorld, name: string, from: string): void {
  world.git(world.root, "checkout", "--quiet", "-b", name, from);
  world.git(world.root, "commit", "--quiet", "--allow-empty", "-m", "nothing");
  world.git(world.root, "checkout", "--quiet", "main");
}

const doubts = async (world: LandingWorld): Promise<readonly (readonly string[])[]> => {
  const { unpromoted } = await world.call(overview, { all: false, mailbox: "operator" });
  const { unverified } = await world.call(promotionDoubts, {});
  return [...unpromoted.map((one) => one.unverified), unverified];
};

test("a branch that changes no file is as verified as the tree it leaves in place", async () => {
  await using world = await landingWorld({ gates: ["true", "test -e README.md || true"] });
  const landing = await begin(world, "run-1");
  world.branch("a", () => world.write(world.root, "a.txt", "a\n"));
  await world.enqueue("a", { runId: "run-1", targetBranch: landing });
  await world.work();
  emptyBranch(world, "empty", landing);
  const id = await world.enqueue("empty", { runId: "run-1", targetBranch: landing });
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "merged", verdict: "verified" });
  const { receipts } = await world.call(showMerge, { of: String(id) });
  expect(receipts).toMatchObject([{ verdict: "verified", gaps: [] }]);
  expect(receipts[0]?.results).toHaveLength(2);
  // The same commit once more: the landing branch has it already.
  const again = await world.enqueue("empty", { runId: "run-1", targetBranch: landing });
  await world.work();
  expect(await world.entry(again)).toMatchObject({ status: "merged", verdict: "verified" });
  expect(await doubts(world)).toEqual([[], []]);
});

test("doubts before a promotion are about its tree and the gates of now, not about landings on the way", async () => {
  await using world = await landingWorld({ gates: ["true"] });
  const landing = await begin(world, "run-1");
  // Nothing was ever asked about this tree.
  emptyBranch(world, "empty", landing);
  await world.enqueue("empty", { runId: "run-1", targetBranch: landing });
  await world.work();
  expect((await doubts(world))[0]).toEqual(["gate-1 was not run"]);
  world.branch("a", () => world.write(world.root, "a.txt", "a\n"));
  await world.enqueue("a", { runId: "run-1", targetBranch: landing });
  await world.work();
  expect(await doubts(world)).toEqual([[], []]);
  // Taking the branch out again leaves a tree that has been gated.
  await world.undo("a");
  expect(await world.promote("run-1")).toMatchObject({ status: "done" });
});

test("a gate that fails on what waits is a doubt until the settings drop the gate", async () => {
  await using world = await landingWorld({ files: { "red.txt": "red\n" }, gates: ["true", "test ! -e red.txt"] });
  const landing = await begin(world, "run-1");
  world.branch("a", () => world.write(world.root, "a.txt", "a\n"));
  await world.enqueue("a", { runId: "run-1", targetBranch: landing });
  await world.work();
  for (const told of await doubts(world)) {
    expect(told).toContain("gate gate-2 fails, as it did before this change");
  }
  (world.ports.rules.project.qualityGates as Gate[]).splice(1);
  expect(await doubts(world)).toEqual([[], []]);
});
