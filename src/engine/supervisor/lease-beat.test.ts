import { expect, test } from "bun:test";
import { anAgent, aRun, aTurn, noon } from "../../../testkit/contracts/store/rows.ts";
import { manualClock } from "../../../testkit/manual-clock.ts";
import { settledTurn } from "../../../testkit/settled-turn.ts";
import { useCaseWorld } from "../../../testkit/use-case.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Store } from "../../ports/store.ts";
import { turnLease } from "./begin.ts";
import { keepBeating, type LeaseBeat } from "./lease-beat.ts";

const beatMs = 40;
const realClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() };

interface Beating extends AsyncDisposable {
  readonly beat: LeaseBeat;
  readonly store: Store;
  /** The number of the last beat. */
  beats(): Promise<number>;
}

interface BeatingOptions {
  readonly through?: (store: Store) => Store;
  readonly clock?: Clock;
}

/** A running turn whose lease is held at the fence 1. */
async function beating({ through = (store) => store, clock = realClock }: BeatingOptions = {}): Promise<Beating> {
  const world = useCaseWorld();
  const { store } = world;
  const agent = anAgent("b1");
  const turn = await store.transaction(async (tx) => {
    await tx.runs.insert(aRun("r1"));
    await tx.agents.reserve(agent);
    await tx.turns.queue(aTurn("t1", agent));
    await tx.turns.start("t1", { fence: 1, logDir: "/logs", resumeRequested: null, now: noon });
    await tx.leases.hold(turnLease("t1"), 1, "p1");
    return tx.turns.get("t1");
  });
  if (turn === undefined) throw new Error("the turn is not stored");
  const limits = {
    loops: { sameFailures: 0, denials: 0 },
    stallTimeoutMs: 0,
    toolTimeoutMs: 0,
    afterResultMs: 0,
    maxAttempts: 4,
    graceMs: 0,
    beatMs,
  };
  const beat = keepBeating({ store: through(store), clock, limits }, { turn, fence: 1 });
  return {
    beat,
    store,
    beats: async () => (await store.read((tx) => tx.leases.get(turnLease("t1"))))?.beat ?? -1,
    [Symbol.asyncDispose]: async () => {
      await beat.stop();
      await world[Symbol.asyncDispose]();
    },
  };
}

test("it goes on while nobody else writes, and ends with its stopping", async () => {
  await using world = await beating();
  while ((await world.beats()) < 3) await Bun.sleep(beatMs);
  await world.beat.stop();
  const last = await world.beats();
  // Meanwhile another one beats four times.
  await using other = await beating();
  while ((await other.beats()) < 4) await Bun.sleep(beatMs);
  expect(await world.beats()).toBe(last);
  expect(world.beat.isLost).toBe(false);
});

test("it writes nothing while other writes of its supervisor renew the lease", async () => {
  const clock = manualClock();
  let asked = 0;
  const counting: Clock = {
    now: clock.now,
    monotonic: () => {
      asked++;
      return clock.monotonic();
    },
  };
  await using world = await beating({ clock: counting });
  /** Each time that a beat could be due, the clock is asked. */
  const chances = async (number: number): Promise<void> => {
    const until = asked + number;
    while (asked < until) await Bun.sleep(1);
  };
  for (let n = 0; n < 6; n++) {
    clock.advance(beatMs / 2);
    world.beat.rodeAlong();
    await chances(1);
  }
  expect(await world.beats()).toBe(0);
  clock.advance(beatMs);
  while ((await world.beats()) === 0) await Bun.sleep(beatMs);
  await chances(3);
  expect(await world.beats()).toBe(1);
});

test("a supervisor that has lost the turn learns it, and beats no more", async () => {
  await using world = await beating();
  await world.store.transaction((tx) => tx.turns.takeOver("t1"));
  expect(await world.beat.lost).toBe("fenced-out");
  expect(world.beat.isLost).toBe(true);
  expect(await world.beats()).toBe(0);
});

test("a turn that another process has settled is lost as well", async () => {
  await using world = await beating();
  await world.store.transaction((tx) => tx.turns.end("t1", 1, settledTurn(noon)));
  expect(await world.beat.lost).toBe("fenced-out");
});

test("a beat that cannot be written costs nothing but itself", async () => {
  let failures = 2;
  await using world = await beating({
    through: (store) => ({
      ...store,
      transaction: (work) =>
        failures-- > 0 ? Promise.reject(new Error("the database is locked")) : store.transaction(work),
    }),
  });
  while ((await world.beats()) === 0) await Bun.sleep(beatMs);
  expect(failures).toBeNegative();
  expect(world.beat.isLost).toBe(false);
});

test("stopping waits for a beat that is under way", async () => {
  const [begun, open] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let written = false;
  await using world = await beating({
    through: (store) => ({
      ...store,
      transaction: async (work) => {
        begun.resolve();
        await open.promise;
        const value = await store.transaction(work);
        written = true;
        return value;
      },
    }),
  });
  await begun.promise;
  const stopped = world.beat.stop().then(() => written);
  open.resolve();
  expect(await stopped).toBe(true);
});
