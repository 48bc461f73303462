import { expect, test } from "bun:test";
import { landingWorld } from "../../../testkit/landing-world.ts";
import { Failure } from "../../domain/failure.ts";
import { requestPromote } from "../../usecases/merge/landing/promotion.ts";
import { mergeCounts } from "../../usecases/merge/queue/queue-state.ts";
import { Slots } from "./slots.ts";
import { MergeWorker } from "./worker.ts";

test("a failed pass is followed by another one without a wake", async () => {
  await using world = await landingWorld({ gates: ["true"] });
  world.branch("work", () => world.write(world.root, "b.txt", "b\n"));
  const id = await world.enqueue("work");
  const reported: unknown[] = [];
  let failures = 2;
  const ports = {
    ...world.ports,
    report: (error: unknown) => reported.push(error),
    merging: {
      ...world.ports.merging,
      checkoutsOf: async (branch: string) => {
        if (failures-- > 0) throw new Error("git could not be started");
        return world.ports.merging.checkoutsOf(branch);
      },
    },
  };
  const stop = new AbortController().signal;
  const worker = new MergeWorker(ports, { slots: new Slots(1), stop, wake: () => worker.look() });
  worker.look();
  while ((await world.entry(id)).causeDetail === null) await Bun.sleep(20);
  expect(await world.entry(id)).toMatchObject({ causeDetail: { message: "git could not be started" } });
  while ((await world.entry(id)).status !== "merged") await Bun.sleep(20);
  expect(await world.entry(id)).toMatchObject({ causeDetail: null });
  expect(reported).toHaveLength(2);
  await worker.settled();
}, 60_000);

test("branches that no gate checks land by one move, and gated ones in trains of the size that the project says", async () => {
  for (const { gates, moves } of [
    { gates: [], moves: 1 },
    { gates: ["true"], moves: 3 },
  ]) {
    await using world = await landingWorld({ gates, merge: { batchSize: 2 } });
    for (const name of ["a", "b", "c", "d", "e"]) {
      world.branch(name, () => world.write(world.root, `${name}.txt`, `${name}\n`));
      await world.enqueue(name);
    }
    await world.work();
    const landings = await world.store.read((tx) => tx.mergeOps.list({ kind: "land", status: "done" }));
    expect(landings).toHaveLength(moves);
    expect(landings.flatMap(({ queueIds }) => queueIds).toSorted()).toEqual([1, 2, 3, 4, 5]);
  }
}, 60_000);

test("a promotion that breaks says why on the operation, and is tried again without a wake", async () => {
  await using world = await landingWorld({ gates: ["true"] });
  world.branch("work", () => world.write(world.root, "b.txt", "b\n"));
  await world.enqueue("work");
  await world.work();
  const { promote: op } = await world.call(requestPromote, {});
  let isBroken = true;
  const ports = {
    ...world.ports,
    report: () => {},
    merging: {
      ...world.ports.merging,
      finishMoves: async () => {
        if (isBroken) throw new Error("a plan of a move could not be read");
        return world.ports.merging.finishMoves();
      },
    },
  };
  const stop = new AbortController().signal;
  const worker = new MergeWorker(ports, { slots: new Slots(1), stop, wake: () => worker.look() });
  const now = () => world.store.read((tx) => tx.mergeOps.get(op?.id ?? ""));
  worker.look();
  while ((await now())?.problem === null) await Bun.sleep(20);
  expect(await now()).toMatchObject({ status: "intended", problem: "a plan of a move could not be read" });
  const { troubles } = await world.store.read((tx) => mergeCounts(tx, {}));
  expect(troubles).toEqual(["promote: a plan of a move could not be read"]);
  isBroken = false;
  while ((await now())?.status !== "done") await Bun.sleep(20);
  await worker.settled();
}, 60_000);

for (const alsoBroken of ["unusableNames", "filterProblem"] as const) {
  test(`a branch stays in the queue when git breaks a train, and breaks ${alsoBroken} after it`, async () => {
    await using world = await landingWorld({ gates: ["true"] });
    world.branch("work", () => world.write(world.root, "b.txt", "b\n"));
    const id = await world.enqueue("work");
    const first =
      alsoBroken === "filterProblem"
        ? new Failure({ kind: "signing-failed", problem: "the key is locked" })
        : new Error("git could not be started");
    const fails = (error: Error) => async (): Promise<never> => {
      throw error;
    };
    const broken = { merge: fails(first), [alsoBroken]: fails(new Error("nor could it be asked why")) };
    const reported: unknown[] = [];
    const report = (error: unknown): void => void reported.push(error);
    const ports = { ...world.ports, report, merging: { ...world.ports.merging, ...broken } };
    let more = true;
    const wake = (): void => {
      more = true;
    };
    const tools = { slots: new Slots(1), stop: new AbortController().signal, wake };
    const worker = new MergeWorker(ports, tools);
    let passes = 0;
    for (; more && passes < 10; passes++) {
      more = false;
      worker.look();
      await worker.settled();
    }
    // It rests before the next try, and the first error says why.
    expect(passes).toBeLessThan(4);
    expect(await world.entry(id)).toMatchObject({
      status: "pending",
      cause: "git_error",
      causeDetail: { message: first.message },
    });
    expect((await world.entry(id)).notBefore).toBeGreaterThan(0);
    expect(reported).toContain(first);
    world.later(60_000);
    await world.work();
    expect((await world.entry(id)).status).toBe("merged");
  }, 60_000);
}

test("a branch stays in the queue when the store fails while a broken train is given up", async () => {
  await using world = await landingWorld({ gates: ["true"] });
  world.branch("work", () => world.write(world.root, "b.txt", "b\n"));
  const id = await world.enqueue("work");
  let isStoreBroken = false;
  const merge = async (): Promise<never> => {
    isStoreBroken = true;
    throw new Error("git could not be started");
  };
  const transaction: typeof world.store.transaction = (work) => {
    const breaks = isStoreBroken;
    isStoreBroken = false;
    return breaks ? Promise.reject(new Error("the disk is full")) : world.store.transaction(work);
  };
  const broken = { store: { ...world.store, transaction }, merging: { ...world.ports.merging, merge } };
  const ports = { ...world.ports, report: () => {}, ...broken };
  const worker = new MergeWorker(ports, { slots: new Slots(1), stop: new AbortController().signal, wake: () => {} });
  for (let pass = 0; pass < 8; pass++) {
    worker.look();
    await worker.settled();
    world.later(60_000);
  }
  expect(await world.entry(id)).toMatchObject({ status: "pending", cause: null });
  const attempts = await world.store.read((tx) => tx.mergeAttempts.of(id));
  expect(new Set(attempts.map(({ outcome }) => outcome))).toEqual(new Set(["blocked"]));
  await world.work();
  expect((await world.entry(id)).status).toBe("merged");
}, 60_000);

test("a look that fails for one branch keeps no other branch of the same target waiting", async () => {
  await using world = await landingWorld({ gates: ["true"] });
  const bad = world.branch("bad", () => world.write(world.root, "bad.txt", "b\n"));
  world.branch("good", () => world.write(world.root, "good.txt", "g\n"));
  const [first, second] = [await world.enqueue("bad"), await world.enqueue("good")];
  const { merging } = world.ports;
  const differing: typeof merging.differing = async (pairs) => {
    if (pairs.some(({ to }) => to === bad)) throw new Error("git printed too much");
    return merging.differing(pairs);
  };
  const reported: string[] = [];
  const report = (error: unknown): void => void reported.push(String(error));
  const ports = { ...world.ports, report, merging: { ...merging, differing } };
  const tools = { slots: new Slots(1), stop: new AbortController().signal, wake: (): void => undefined };
  const worker = new MergeWorker(ports, tools);
  worker.look();
  await worker.settled();
  expect((await world.entry(second)).status).toBe("merged");
  expect(await world.entry(first)).toMatchObject({
    status: "pending",
    cause: "git_error",
    causeDetail: { message: "git printed too much" },
  });
  expect(reported).toContain("Error: git printed too much");
}, 60_000);
