import { expect, test } from "bun:test";
import { builderBranch, mergeWorld } from "../../../../testkit/merge-queue-world.ts";
import { type Caller, operator } from "../../../domain/caller/caller.ts";
import { ok } from "../../../domain/result.ts";
import type { ProjectFiles } from "../../../ports/project-files.ts";
import type { PrepareTerms } from "../../usecase.ts";
import { landingsOf } from "../landing/landing-target.ts";
import { planUndo } from "../landing/request-undo.ts";
import { newOp } from "../merge-records.ts";
import { addMerge, previewMerge } from "./add-entry.ts";
import { landed } from "./settle-entry.ts";

const feature = { branch: "feature", headCommit: "f1" };

test("a preview is what adding the branch would store, and stores nothing", async () => {
  await using world = await mergeWorld();
  const { entry: preview } = await world.must(previewMerge, { ...feature, priority: 1 });
  expect(await world.entries()).toEqual([]);
  const { entry } = await world.must(addMerge, { ...feature, priority: 1 });
  const { id, enqueuedAt: _, updatedAt: __, ...added } = entry;
  expect(preview).toMatchObject({ ...added, id: null });
  expect((await world.must(previewMerge, feature)).entry.id).toBe(id);
});

test("a merge can be made to wait for others by number or branch, now or when it is queued already", async () => {
  await using world = await mergeWorld();
  const first = await world.announce();
  const { entry } = await world.must(addMerge, { ...feature, dependsOn: [builderBranch] });
  expect(entry.dependsOn).toEqual([first.id]);
  const other = { branch: "other", headCommit: "o1" };
  const { entry: late } = await world.must(addMerge, other);
  expect(late.dependsOn).toEqual([]);
  const again = await world.must(addMerge, { ...other, dependsOn: [String(first.id), `#${entry.id}`] });
  expect(again).toMatchObject({ added: false, entry: { id: late.id, dependsOn: [first.id, entry.id] } });
  expect((await world.entries()).at(-1)?.dependsOn).toEqual([first.id, entry.id]);
});

test("an agent queues a branch for nothing but the place where its run lands", async () => {
  await using world = await mergeWorld();
  const order = { branch: builderBranch, headCommit: "head-1" };
  expect(await world.call(addMerge, { ...order, targetBranch: "release" }, { caller: world.lead })).toMatchObject({
    refusal: { kind: "not-allowed", action: `queue ${builderBranch} for release`, caller: "lead-1" },
  });
  expect(await world.entries()).toEqual([]);
  await world.must(addMerge, { ...order, targetBranch: "main" }, world.lead);
  await world.must(addMerge, { ...order, targetBranch: "release" });
  expect((await world.entries()).map(({ targetBranch }) => targetBranch)).toEqual(["main", "release"]);
});

test("git says which commit an agent queues and which files it changes; the operator may say it", async () => {
  await using world = await mergeWorld();
  const said = { branch: builderBranch, headCommit: "private", filesModified: ["README.md"] };
  const prepared = (caller: Caller, tip: string | null) => {
    const terms = { caller: async () => ok(caller), tipOf: async () => tip };
    return addMerge.prepare?.({} as ProjectFiles, terms as unknown as PrepareTerms, said);
  };
  expect(await prepared(world.lead, "head-1")).toEqual(ok({ branch: builderBranch, headCommit: "head-1" }));
  expect(await prepared(world.lead, null)).toMatchObject({ refusal: { kind: "not-found", noun: "branch" } });
  expect(await prepared(operator, "head-1")).toEqual(ok(said));
});

test("merges never wait for each other, and not for what is not there", async () => {
  await using world = await mergeWorld();
  const first = await world.announce();
  await world.must(addMerge, { ...feature, dependsOn: [String(first.id)] });
  const circle = await world.call(addMerge, { branch: builderBranch, headCommit: "new", dependsOn: ["feature"] });
  expect(circle).toMatchObject({ ok: false, refusal: { kind: "invalid", field: "depends-on" } });
  const nothing = await world.call(addMerge, { ...feature, dependsOn: ["99"] });
  expect(nothing).toMatchObject({ ok: false, refusal: { kind: "not-found" } });
});

test("the branches on which work for a target waits are those of its runs, the newest first", async () => {
  await using world = await mergeWorld();
  const landingBranch = "overstory/integration/run-2";
  await world.store.transaction((tx) => tx.runs.setBranches("run-2", { targetBranch: "main", landingBranch }));
  expect(await world.must(landingsOf, { target: "main" })).toMatchObject({ branches: [landingBranch] });
  expect(await world.must(landingsOf, { target: "other" })).toEqual({ branches: [], landings: [] });
});

test("a commit that has landed is not queued again to wait for an approval of nothing", async () => {
  await using world = await mergeWorld();
  const { entry } = await world.must(addMerge, { ...feature, approve: true });
  const one = { entry, tier: "clean-merge", strategy: null, verdict: "verified", commit: "c1" } as const;
  await world.asEngine((tx, context) => landed(tx, context, { opId: "op-1", entries: [one] }));
  const refused = await world.call(addMerge, feature);
  expect(refused).toMatchObject({
    refusal: { field: "branch", problem: expect.stringContaining("has landed already") },
  });
  expect(await world.entries()).toHaveLength(1);
  expect(await world.must(addMerge, { ...feature, headCommit: "f2" })).toMatchObject({ added: true });
});

test("a branch that was found landed already is taken back by the landing before", async () => {
  await using world = await mergeWorld();
  const land = (headCommit: string, moves: boolean) =>
    world.asEngine(async (tx, context) => {
      const [entry] = await tx.merges.list({ statuses: ["pending"] });
      if (entry === undefined) throw new Error(`${headCommit} is not queued`);
      const about = { kind: "land", ref: "refs/heads/main", queueIds: [entry.id] } as const;
      const op = moves ? await newOp(tx, context, about) : undefined;
      const one = { entry, tier: "clean-merge", strategy: null, verdict: "verified", commit: "c1" } as const;
      await landed(tx, context, { opId: op?.id ?? null, entries: [one] });
      if (op !== undefined) await tx.mergeOps.settle(op.id, { status: "done", updatedAt: context.now });
      return entry.id;
    });
  await world.must(addMerge, { ...feature, approve: true });
  const first = await land("f1", true);
  await world.must(addMerge, { ...feature, approve: true });
  await land("f1", false);
  expect(await world.must(planUndo, { of: "feature" })).toMatchObject({ entries: [{ id: first }], whole: true });
});
