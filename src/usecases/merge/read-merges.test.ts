import { expect, test } from "bun:test";
import { aReceipt } from "../../../testkit/contracts/store/gates.ts";
import { anEntry, anOp } from "../../../testkit/contracts/store/merges.ts";
import { anAgent, noon, seed } from "../../../testkit/contracts/store/rows.ts";
import { useCaseWorld } from "../../../testkit/use-case.ts";
import type { AgentFilter } from "../../ports/store/agents.ts";
import type { Tx } from "../../ports/store.ts";
import { ownersOfBranches } from "../worktrees/owners.ts";
import { listMerges, showOutcomes } from "./read-merges.ts";

/** The transaction, and the questions about agents that were asked in it. */
function watched(tx: Tx): { readonly tx: Tx; readonly asked: readonly AgentFilter[] } {
  const asked: AgentFilter[] = [];
  const list = (filter: AgentFilter) => {
    asked.push(filter);
    return tx.agents.list(filter);
  };
  return { tx: Object.assign(Object.create(tx) as Tx, { agents: { ...tx.agents, list } }), asked };
}

test("a list of the queue asks once for the owners of all branches, and shows what each of them proved", async () => {
  await using world = useCaseWorld();
  const { store } = world;
  const owned = (name: string, branch: string) => anAgent(name, { branch, worktreeKind: "linked" });
  await seed(store, owned("b1", "one"), owned("b2", "two"), anAgent("root", { branch: "three", worktreeKind: "root" }));
  await store.transaction(async (tx) => {
    for (const branch of ["one", "two", "three", "four"]) await tx.merges.insert(anEntry(branch));
    const proved = { kind: "completion", headCommit: "c0ffee" } as const;
    await tx.receipts.add(aReceipt("r1", { ...proved, subject: "b1#1", verdict: "verified" }));
    await tx.receipts.add(aReceipt("r2", { ...proved, subject: "b2#1", headCommit: "older" }));
    await tx.receipts.add(aReceipt("r3", { ...proved, subject: "root#1" }));
  });
  const { listed, asked } = await store.read(async (direct) => {
    const { tx, asked } = watched(direct);
    return { listed: await listMerges.run(tx, world.context(), {}), asked };
  });
  expect(listed).toMatchObject({
    ok: true,
    value: {
      entries: [
        { entry: { branch: "one", verdict: "verified" }, place: 1 },
        { entry: { branch: "two", verdict: null }, place: 2 },
        { entry: { branch: "three", verdict: null }, place: 3 },
        { entry: { branch: "four", verdict: null }, place: 4 },
      ],
    },
  });
  expect(asked).toEqual([{ branches: ["one", "two", "three", "four"] }]);
});

test("who looks for what agents left behind asks once for the owners of all branches", async () => {
  await using world = useCaseWorld();
  await seed(world.store, anAgent("b1", { branch: "one" }), anAgent("b2", { branch: "two" }));
  const { found, asked } = await world.store.read(async (direct) => {
    const { tx, asked } = watched(direct);
    return { found: await ownersOfBranches.run(tx, world.context(), { branches: ["two", "none", "one"] }), asked };
  });
  expect(found).toMatchObject({ ok: true, value: { agents: [{ name: "b2" }, { name: "b1" }] } });
  expect(asked).toHaveLength(1);
});

test("what became of entries is told in the order of the question", async () => {
  await using world = useCaseWorld();
  await world.store.transaction(async (tx) => {
    const merged = { status: "merged", verdict: "verified" } as const;
    for (const branch of ["one", "two", "three"]) await tx.merges.insert(anEntry(branch, merged));
    await tx.merges.insert(anEntry("four", { status: "failed" }));
    await tx.mergeOps.insert(anOp("op-1", { status: "done", queueIds: [1, 2] }));
    // Taken back before it happened, and another kind of operation.
    await tx.mergeOps.insert(anOp("op-2", { status: "dropped", queueIds: [3] }));
    await tx.mergeOps.insert(anOp("op-3", { kind: "undo", status: "done", queueIds: [3] }));
    await tx.receipts.add(aReceipt("r1", { kind: "landing", subject: "merge:2", gaps: ["older"], createdAt: noon }));
    await tx.receipts.add(
      aReceipt("r2", { kind: "landing", subject: "merge:2", gaps: ["unlinted"], createdAt: noon + 1 }),
    );
    await tx.receipts.add(aReceipt("r3", { kind: "landing", subject: "merge:4", gaps: ["before"], createdAt: noon }));
  });
  const { merges } = await world.must(showOutcomes, { ids: [2, 99, 4, 1, 3] });
  expect(merges.map(({ entry: { id }, hasLanding, gaps }) => ({ id, hasLanding, gaps }))).toEqual([
    { id: 2, hasLanding: true, gaps: ["unlinted"] },
    { id: 4, hasLanding: false, gaps: [] },
    { id: 1, hasLanding: true, gaps: [] },
    { id: 3, hasLanding: false, gaps: [] },
  ]);
});
