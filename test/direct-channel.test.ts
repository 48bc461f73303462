import { expect, test } from "bun:test";
import { randomIds } from "../src/host/ids.ts";
import { projectFiles } from "../src/host/project-files.ts";
import type { EngineContact } from "../src/ports/engine-contact.ts";
import { directChannel } from "../src/usecases/channel/command-channels.ts";
import { outside } from "../testkit/marked.ts";
import { mergeWorld } from "../testkit/merge-queue-world.ts";

/** A channel of the operator to a project with a branch that waits for approval. */
async function channelWorld() {
  const world = await mergeWorld({}, { gated: false });
  const { id } = await world.announce();
  const time = { passedMs: 0 };
  const opened: string[] = [];
  let told = 0;
  const channel = directChannel({
    hasDatabase: () => true,
    makeDatabase: async () => {},
    open: ({ readOnly }) => {
      opened.push(readOnly ? "for reading" : "for writing");
      // The world closes its store itself.
      return { ...world.store, close: async () => {} };
    },
    ports: (store) => ({
      store,
      clock: { now: () => world.clock.now, monotonic: () => time.passedMs },
      ids: randomIds,
      settings: world.settings,
      files: projectFiles({ root: world.dir, dir: world.dir }),
      reach: () => {},
      sight: outside,
    }),
    contact: () =>
      ({ ensure: async () => void told++, wake: async () => true }) as Partial<EngineContact> as EngineContact,
    replacedWithinMs: 1_000,
  });
  const call = async (name: string, request: unknown): Promise<void> => {
    expect(await channel.call({ name, request })).toMatchObject({ ok: true });
  };
  return { id, time, opened, call, told: () => told, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

test("a command that looks at the worktrees of branches before it writes opens the store once", async () => {
  await using world = await channelWorld();
  await world.call("worktree.findOwners", { branches: ["work"] });
  await world.call("merge.add", { branch: "work", headCommit: "head-2" });
  expect(world.opened).toEqual(["for writing"]);
});

test("a command that only reads opens the store for reading", async () => {
  await using world = await channelWorld();
  await world.call("merge.list", {});
  await world.call("worktree.findOwners", { branches: ["work"], isDryRun: true });
  expect(world.opened).toEqual(["for reading"]);
});

test("a command that waits tells the engine of due work once, and again after a while", async () => {
  await using world = await channelWorld();
  await world.call("merge.list", {});
  expect(world.told()).toBe(0);
  await world.call("merge.recordApproval", { of: String(world.id) });
  expect(world.told()).toBe(1);
  for (let look = 0; look < 5; look++) await world.call("merge.list", {});
  expect(world.told()).toBe(1);
  // The engine may have died meanwhile.
  world.time.passedMs += 500;
  for (let look = 0; look < 5; look++) await world.call("merge.list", {});
  expect(world.told()).toBe(2);
});

test("each write tells the engine of due work", async () => {
  await using world = await channelWorld();
  await world.call("merge.recordApproval", { of: String(world.id) });
  await world.call("merge.add", { branch: "work", headCommit: "head-2", approve: true });
  expect(world.told()).toBe(2);
});
