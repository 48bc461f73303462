import { expect, test } from "bun:test";
import { aReceipt, aResult } from "../../../testkit/contracts/store/gates.ts";
import { anOp } from "../../../testkit/contracts/store/merges.ts";
import { builderBranch, mergeWorld } from "../../../testkit/merge-queue-world.ts";
import { listGateResults, showGateResult, showReceipt } from "./read-gates.ts";

test("results are listed newest first, and each tells where its output is", async () => {
  await using world = await mergeWorld();
  await world.store.transaction(async (tx) => {
    await tx.gates.add(aResult("g1"));
    await tx.gates.add(aResult("g2", { gate: "Lint", createdAt: aResult("g1").createdAt + 1 }));
  });
  const ids = async (request: { gate?: string; limit?: number }) =>
    (await world.must(listGateResults, request)).results.map(({ id }) => id);
  expect(await ids({})).toEqual(["g2", "g1"]);
  expect(await ids({ limit: 1 })).toEqual(["g2"]);
  expect(await ids({ gate: "Tests" })).toEqual(["g1"]);
  expect(await world.must(showGateResult, { id: "g1" })).toMatchObject({ path: "/logs/1", result: { gate: "Tests" } });
  expect(await world.call(showGateResult, { id: "g9" })).toMatchObject({ refusal: { kind: "not-found" } });
});

test("a receipt is found by its id, and by the branch that landed", async () => {
  await using world = await mergeWorld();
  const { id } = await world.announce();
  await world.store.transaction(async (tx) => {
    await tx.gates.add(aResult("g1"));
    await tx.receipts.add(aReceipt("rc-1", { subject: `merge:${id}` }));
  });
  for (const of of ["rc-1", builderBranch, String(id), `merge:${id}`]) {
    expect(await world.must(showReceipt, { of })).toMatchObject({ receipt: { id: "rc-1" }, results: [{ id: "g1" }] });
  }
  expect(await world.call(showReceipt, { of: "rc-9" })).toMatchObject({
    refusal: { kind: "not-found", noun: "receipt" },
  });
});

test("a branch on which work lands has the receipt of what landed last, until that is taken back", async () => {
  await using world = await mergeWorld();
  const { id } = await world.announce();
  const landing = "overstory/integration/run-1";
  const op = { kind: "land", status: "done", ref: `refs/heads/${landing}`, queueIds: [id] } as const;
  await world.store.transaction(async (tx) => {
    await tx.mergeOps.insert(anOp("op-1", op));
    await tx.receipts.add(aReceipt("rc-1", { kind: "landing", subject: `merge:${id}` }));
  });
  expect(await world.must(showReceipt, { of: landing })).toMatchObject({ receipt: { id: "rc-1" } });
  await world.store.transaction((tx) => tx.mergeOps.insert(anOp("op-2", { ...op, kind: "undo" })));
  expect(await world.call(showReceipt, { of: landing })).toMatchObject({ refusal: { kind: "not-found" } });
});

test("the newest receipt about an agent is found by its name, its incarnation and its branch", async () => {
  await using world = await mergeWorld();
  const agent = await world.store.read(async (tx) => (await tx.agents.list({ branch: builderBranch }))[0]);
  const name = agent?.name ?? "";
  await world.store.transaction(async (tx) => {
    await tx.receipts.add(aReceipt("rc-1", { kind: "completion", subject: `${name}#1`, createdAt: 1 }));
  });
  for (const of of [name, `${name}#1`, builderBranch])
    expect(await world.must(showReceipt, { of })).toMatchObject({ receipt: { id: "rc-1" } });
  const { id } = await world.announce();
  expect(await world.must(showReceipt, { of: builderBranch })).toMatchObject({ receipt: { id: "rc-1" } });
  await world.store.transaction((tx) =>
    tx.receipts.add(aReceipt("rc-2", { kind: "landing", subject: `merge:${id}`, createdAt: 2 })),
  );
  for (const of of [name, builderBranch])
    expect(await world.must(showReceipt, { of })).toMatchObject({ receipt: { id: "rc-2" } });
  expect(await world.must(showReceipt, { of: `${name}#1` })).toMatchObject({ receipt: { id: "rc-1" } });
});
