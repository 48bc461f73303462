import { expect, test } from "bun:test";
import { type LandingWorld, landingWorld } from "../../../testkit/landing-world.ts";
import { operator } from "../../domain/caller/caller.ts";
import type { StoredCheck } from "../../domain/completion/check.ts";
import type { Store } from "../../ports/store.ts";
import { queueCheck } from "../../usecases/completions/checks.ts";
import { Slots } from "../merge/slots.ts";
import { CompletionWorker } from "./worker.ts";

const ask = ({ store, ports: { ids } }: LandingWorld): Promise<string> =>
  store.transaction(async (tx) => {
    const asked = {
      kind: "check",
      agentId: null,
      agentName: null,
      refName: "nowhere",
      request: { kind: "check" },
    } as const;
    const { id } = await queueCheck(tx, { ids, now: 1, caller: operator }, asked);
    return id;
  });

/** The store takes a claim, and then fails as often as it is told to. */
function ailing(store: Store, failures: number): Store {
  let written = 0;
  return {
    ...store,
    read: (work) => store.read(work),
    transaction: async (work) => {
      written++;
      if (written > 2 && written <= 2 + failures) throw new Error("the store is not well");
      return store.transaction(work);
    },
  };
}

function workerOn(world: LandingWorld, store: Store, stop: AbortSignal) {
  const reported: unknown[] = [];
  const worktrees = {
    currentBranch: async () => "main",
    collect: async () => {
      throw new Error("there is no worktree");
    },
    inspect: async () => {
      throw new Error("there is no worktree");
    },
  };
  const ports = {
    ...world.ports,
    store,
    worktrees,
    forgetEnvironment: () => {},
    report: (error: unknown) => void reported.push(error),
  };
  return { worker: new CompletionWorker(ports, { slots: new Slots(1), stop }, () => {}), reported };
}

async function checkOf(store: Store, id: string): Promise<StoredCheck> {
  const check = await store.read((tx) => tx.checks.get(id));
  if (check === undefined) throw new Error(`there is no check ${id}`);
  return check;
}

test.each([
  { failures: 1, events: ["check_failed"] },
  { failures: 3, events: [] },
])("a no that could not be stored $failures times is given all the same", async ({ failures, events }) => {
  await using world = await landingWorld();
  const id = await ask(world);
  const { worker, reported } = workerOn(world, ailing(world.store, failures), new AbortController().signal);
  worker.look();
  await worker.settled();
  expect(await checkOf(world.store, id)).toMatchObject({
    status: "failed",
    problem: [{ kind: "ref", message: "nowhere is no commit of this project" }],
  });
  expect(reported).toHaveLength(failures);
  const told = await world.store.read((tx) => tx.events.after(0, 100));
  expect(told.map(({ type }) => type)).toEqual([...events]);
});

test("an engine that ends while a no cannot be stored leaves the check to the next one", async () => {
  await using world = await landingWorld();
  const id = await ask(world);
  const stop = new AbortController();
  const { worker, reported } = workerOn(world, ailing(world.store, 1_000), stop.signal);
  worker.look();
  while (reported.length === 0) await Bun.sleep(5);
  stop.abort();
  await worker.settled();
  expect(await checkOf(world.store, id)).toMatchObject({ status: "running", attempts: 1 });

  const next = workerOn(world, world.store, new AbortController().signal);
  next.worker.look();
  await next.worker.settled();
  expect(await checkOf(world.store, id)).toMatchObject({ status: "failed", attempts: 2 });
});
