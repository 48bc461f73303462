import { expect, test } from "bun:test";
import { Slots } from "../../src/engine/merge/slots.ts";
import { MergeWorker } from "../../src/engine/merge/worker.ts";
import { type LandingWorld, landingWorld } from "../../testkit/landing-world.ts";

const names = Array.from({ length: 12 }, (_, at) => `b${at}`);

/** A worker that has found nothing to recover: whatever it meets from now on belongs to somebody who lives. */
async function worker({ ports }: LandingWorld): Promise<(isOver: () => boolean) => Promise<void>> {
  const made = new MergeWorker(ports, { slots: new Slots(1), stop: new AbortController().signal, wake: () => {} });
  made.look();
  await made.settled();
  return async (isOver) => {
    while (!isOver()) {
      made.look();
      await made.settled();
      await Bun.sleep(2);
    }
  };
}

/** Commits to a branch that is not checked out, as often as it can. */
async function human({ root, git, tip }: LandingWorld, isOver: () => boolean): Promise<readonly string[]> {
  const made: string[] = [];
  while (!isOver() && made.length < 40) {
    const parent = tip("release");
    const commit = git(root, "commit-tree", `${parent}^{tree}`, "-p", parent, "-m", `by hand ${made.length}`);
    const moved = Bun.spawnSync({ cmd: ["git", "update-ref", "refs/heads/release", commit, parent], cwd: root });
    if (moved.exitCode === 0) made.push(commit);
    await Bun.sleep(40);
  }
  return made;
}

test("two workers and a person who commit to one branch at the same time lose nothing of each other", async () => {
  await using world = await landingWorld({ merge: { maxRebases: 100 } });
  world.git(world.root, "branch", "release");
  for (const name of names) world.branch(name, () => world.write(world.root, `${name}.txt`, `${name}\n`));
  const workers = [await worker(world), await worker(world)];
  const entries = () => world.store.read((tx) => tx.merges.list({}));
  let over = false;
  const running = [...workers.map((work) => work(() => over)), human(world, () => over)] as const;
  for (const name of names) await world.enqueue(name, { targetBranch: "release" });
  const deadline = performance.now() + 150_000;
  while ((await entries()).some(({ status }) => status !== "merged") && performance.now() < deadline)
    await Bun.sleep(20);
  over = true;
  const made = (await Promise.all(running)).at(-1) ?? [];
  expect((await entries()).map(({ status }) => status)).toEqual(names.map(() => "merged"));
  expect(made.length).toBeGreaterThan(0);
  for (const commit of [...made, ...names]) {
    expect(world.git(world.root, "merge-base", "--is-ancestor", commit, "release")).toBe("");
  }
  for (const name of names) expect(world.show("release", `${name}.txt`)).toBe(name);
}, 180_000);
