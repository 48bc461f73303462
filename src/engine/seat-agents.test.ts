import { expect, test } from "bun:test";
import { seatWorld } from "../../testkit/seat-world.ts";
import { Failure } from "../domain/failure.ts";

const seated = "booting/null/seated";

test("an agent whose seat breaks ends and its parent is told, and those behind it are seated", async () => {
  await using world = await seatWorld();
  world.obstacle = new Error("git fell over");
  expect(await world.look()).toBe(3);
  expect(world.reported).toEqual([world.obstacle]);
  expect(await world.facts()).toEqual({
    states: [seated, "zombie/start_failed/no worktree", seated],
    mail: [
      {
        subject: "[ENGINE] could not start b2",
        body: "b2 (builder) has no worktree: git fell over. Its task is open again.\nNext: mend that, then start it again",
      },
    ],
  });
  expect(world.seating.dueInMs()).toBeUndefined();
});

test("a full disk is no failure of the agent that met it: it is tried again, but not at once", async () => {
  await using world = await seatWorld();
  world.obstacle = new Failure({ kind: "disk-full", path: null });
  // Nobody is rung for the one whose fate is open, or the next look would follow at once, and so on.
  expect(await world.look()).toBe(2);
  expect(await world.facts()).toEqual({ states: [seated, "booting/null/no worktree", seated], mail: [] });
  expect(world.seating.dueInMs()).toBe(500);
  expect(await world.look()).toBe(0);
  expect(world.reported).toEqual([world.obstacle]);
  world.clock.advance(500);
  expect(await world.look()).toBe(0);
  expect(world.reported).toHaveLength(2);
  expect(world.seating.dueInMs()).toBe(1_000);
  world.obstacle = undefined;
  world.clock.advance(1_000);
  expect(await world.look()).toBe(1);
  expect((await world.facts()).states).toEqual([seated, seated, seated]);
  expect(world.seating.dueInMs()).toBeUndefined();
});

test("it is busy from the look that finds an agent until every agent is seated or has failed", async () => {
  await using world = await seatWorld();
  const looking = world.look();
  expect(world.seating.isBusy).toBe(false);
  // Reads of a store are answered one after the other, so the look has been answered by then.
  await world.facts();
  expect(world.seating.isBusy).toBe(true);
  await looking;
  expect(world.seating.isBusy).toBe(false);
});

test("one that was stopped while it waited gets no worktree", async () => {
  await using world = await seatWorld();
  const looking = world.look();
  await world.stopMiddle();
  await looking;
  expect((await world.facts()).states).toEqual([seated, "completed/stopped/no worktree", seated]);
});

test("an engine that is to stop leaves those that wait to the next one", async () => {
  await using world = await seatWorld();
  world.stop();
  expect(await world.look()).toBe(0);
  const waiting = "booting/null/no worktree";
  expect((await world.facts()).states).toEqual([waiting, waiting, waiting]);
});

test("cleaning leaves the worktree to the agent that is about to work in it, and seating takes it over as it is", async () => {
  await using world = await seatWorld();
  await world.look();
  await world.renewMiddle();
  await Promise.all([world.clean(), world.look()]);
  expect(world.middleStands()).toBe(true);
  expect((await world.facts()).states).toEqual([seated, seated, seated]);
});

test("nobody is seated while a command takes the last worktree of the name away; a dead one does not count", async () => {
  await using world = await seatWorld();
  const cleaner = Bun.spawn({ cmd: ["sleep", "1000"], stdio: ["ignore", "ignore", "ignore"] });
  await world.beginRemoval(cleaner.pid);
  expect(await world.look()).toBe(2);
  expect((await world.facts()).states).toEqual([seated, "booting/null/no worktree", seated]);
  expect(world.seating.dueInMs()).toBe(500);
  cleaner.kill("SIGKILL");
  await cleaner.exited;
  world.clock.advance(500);
  expect(await world.look()).toBe(1);
  expect((await world.facts()).states).toEqual([seated, seated, seated]);
});
