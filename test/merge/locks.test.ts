import { expect, test } from "bun:test";
import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type LandingWorld, landingWorld } from "../../testkit/landing-world.ts";

const landing = "overstory/integration/main";

async function ready(): Promise<LandingWorld> {
  const world = await landingWorld();
  for (const name of ["a", "b"]) world.branch(name, () => world.write(world.root, `${name}.txt`, `${name}\n`));
  await world.enqueue("a");
  await world.work();
  expect(world.show(landing, "a.txt")).toBe("a");
  return world;
}

const lockOf = (world: LandingWorld, name: string): string => {
  const path = join(world.root, ".git", `${name}.lock`);
  mkdirSync(dirname(path), { recursive: true });
  return path;
};

test("a lock that a dead process left on the landing branch keeps nothing from landing", async () => {
  await using world = await ready();
  const path = staleLock(world, `refs/heads/${landing}`);
  const id = await world.enqueue("b");
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "merged" });
  expect(existsSync(path)).toBe(false);
});

test("a living process that holds the lock of the landing branch is named, and the branch lands when it has ended", async () => {
  await using world = await ready();
  const path = lockOf(world, `refs/heads/${landing}`);
  writeFileSync(path, "");
  const holder = Bun.spawn(["sh", "-c", 'exec 3>"$0"; exec sleep 600', path]);
  const id = await world.enqueue("b");
  try {
    await world.work();
  } finally {
    holder.kill("SIGKILL");
    await holder.exited;
  }
  const waits = await world.entry(id);
  expect(waits).toMatchObject({ status: "blocked", cause: "git_error" });
  expect(waits.causeDetail?.message).toContain(`${path} is held by "sleep 600" (process ${holder.pid})`);
  const told = await world.store.read((tx) => tx.messages.list({ to: "operator" }));
  expect(told.map(({ body }) => body).join("\n")).toContain(`ov merge resume ${id}`);
  rmSync(path);
  world.later(60_000);
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "merged", cause: null });
}, 120_000);

test("a living process that holds the pins of the queue is named as well", async () => {
  await using world = await ready();
  const path = lockOf(world, "refs/overstory/queue/2");
  writeFileSync(path, "");
  const holder = Bun.spawn(["sh", "-c", 'exec 3>"$0"; exec sleep 600', path]);
  const id = await world.enqueue("b");
  expect(id).toBe(2);
  try {
    await world.work();
  } finally {
    holder.kill("SIGKILL");
    await holder.exited;
  }
  expect((await world.entry(id)).causeDetail?.message).toContain(`(process ${holder.pid})`);
  rmSync(path);
  world.later(60_000);
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "merged" });
}, 120_000);

/** A lock file that a process left which died an hour ago. */
function staleLock(world: LandingWorld, name: string): string {
  const path = lockOf(world, name);
  writeFileSync(path, "");
  const old = Date.now() / 1000 - 3600;
  utimesSync(path, old, old);
  return path;
}

test("an undo says which lock files of git it removed, on the landing branch and in a checkout", async () => {
  await using world = await ready();
  const promoted = await world.promote();
  const inCheckout = staleLock(world, "index");
  const back = await world.undo(promoted.id);
  expect(back).toMatchObject({ status: "done", request: { removedLocks: [inCheckout] } });
  const onBranch = staleLock(world, `refs/heads/${landing}`);
  const out = await world.undo("a");
  expect(out).toMatchObject({ status: "done", request: { removedLocks: [onBranch] } });
  expect([existsSync(inCheckout), existsSync(onBranch)]).toEqual([false, false]);
});

for (const where of ["the landing branch", "the checkout"] as const) {
  test(`an undo that a living process keeps from the lock of ${where} says that it may be tried again`, async () => {
    await using world = await ready();
    const promoted = where === "the checkout" ? await world.promote() : undefined;
    const path = lockOf(world, promoted === undefined ? `refs/heads/${landing}` : "index");
    writeFileSync(path, "");
    const holder = Bun.spawn(["sh", "-c", 'exec 3>"$0"; exec sleep 600', path]);
    try {
      const undone = await world.undo(promoted?.id ?? "a");
      expect(undone).toMatchObject({ status: "dropped", request: { cause: "locked" } });
      expect(undone.problem).toContain(`(process ${holder.pid})`);
    } finally {
      holder.kill("SIGKILL");
      await holder.exited;
    }
  }, 120_000);
}
