import { expect, test } from "bun:test";
import { cleanly, conflicts, desk, lands } from "../../../../testkit/merge-desk.ts";
import { builderBranch, mergeWorld } from "../../../../testkit/merge-queue-world.ts";
import { landed } from "../../../usecases/merge/queue/settle-entry.ts";

test("neither a branch nor --all is a mistake of usage", async () => {
  await using world = await mergeWorld();
  const { exit, document } = await desk(world).json("merge");
  expect({ exit, document }).toMatchObject({
    exit: 2,
    document: { success: false, code: "VALIDATION_ERROR", details: { field: "--branch or --all" } },
  });
});

test("merging a branch approves it, waits for the engine and answers in the shape scripts know", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  ov.engine = lands(world);
  const { exit, document } = await ov.json("merge", "--branch", "feature");
  expect(exit).toBe(0);
  expect(document).toMatchObject({
    success: true,
    command: "merge",
    tier: "clean-merge",
    conflictFiles: [],
    errorMessage: null,
    warnings: [],
    entry: {
      branchName: "feature",
      status: "merged",
      resolvedTier: "clean-merge",
      approval: "operator",
      verdict: "verified",
    },
  });
});

test("a conflict is one document, exit code 4, and names the files", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  ov.engine = conflicts(world);
  const { exit, document } = await ov.json("merge", "--branch", "feature");
  expect(exit).toBe(4);
  expect(document).toMatchObject({
    success: false,
    tier: "auto-resolve",
    conflictFiles: ["a.ts"],
    errorMessage: "a.ts: both sides changed one line",
    entry: { status: "conflict", cause: "conflict" },
  });
  const { exit: again, out } = await ov.run("merge", "--branch", "feature");
  expect(again).toBe(4);
  expect(out).toContain("Failed: feature unverified");
  expect(out).toContain("ov merge retry 2");
});

test("a branch that git does not know is not found, and nothing is written", async () => {
  await using world = await mergeWorld();
  for (const more of [
    ["--branch", "nope"],
    ["--branch", "feature", "--into", "nope"],
    ["--all", "--into", "nope"],
  ]) {
    const { exit, document } = await desk(world).json("merge", ...more);
    expect({ exit, error: document.error }).toEqual({ exit: 7, error: 'no branch "nope"; nothing was changed' });
  }
  expect((await desk(world).json("merge", "--branch", "main")).exit).toBe(2);
  expect(await world.entries()).toEqual([]);
});

test("a branch that the target contains already succeeds with a note", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  ov.engine = () =>
    world.asEngine(async (tx, context) => {
      const [entry] = await tx.merges.list({ statuses: ["pending"] });
      if (entry === undefined) return;
      const one = { entry, tier: "clean-merge", strategy: null, verdict: "unverified", commit: "m0" } as const;
      await landed(tx, context, { opId: null, entries: [one] });
    });
  const { exit, document } = await ov.json("merge", "--branch", "feature");
  expect({ exit, success: document.success }).toEqual({ exit: 0, success: true });
  expect(document.warnings).toEqual(["main had everything of feature already; nothing was changed"]);
});

test("nobody waits for what only the operator can move", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  const ov = desk(world, world.lead);
  const { exit, document } = await ov.json("merge", "--branch", builderBranch);
  expect({ exit, success: document.success }).toEqual({ exit: 6, success: false });
  expect(document.errorMessage).toBe("it waits for the operator's approval");
  expect(document.entry).toMatchObject({ status: "pending", awaitingApproval: true });
});

test("a merge that waits for one that failed is not waited for", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  ov.engine = conflicts(world);
  const first = (await ov.json("merge", "--branch", builderBranch)).document.entry as { id: number };
  await ov.json("merge", "add", "feature", "--depends-on", String(first.id));
  ov.engine = undefined;
  const { exit, document } = await ov.json("merge", "--branch", "feature");
  expect(exit).toBe(4);
  expect(document.errorMessage).toBe(`it waits for #${first.id}, which did not land`);
});

test("all approves what waits and tells each result; one failure decides the exit code", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  const ov = desk(world);
  expect(await ov.json("merge", "--all")).toEqual({
    exit: 0,
    document: { success: true, command: "merge", results: [], count: 0, successCount: 0, failCount: 0 },
  });
  const one = await world.announce();
  await ov.json("merge", "add", "feature");
  ov.engine = async () => {
    await lands(world, one.id)();
    await conflicts(world)();
  };
  const { exit, document } = await ov.json("merge", "--all");
  expect(exit).toBe(4);
  expect(document).toMatchObject({ success: false, count: 2, successCount: 1, failCount: 1 });
  expect(document.results).toMatchObject([
    { success: true, entry: { branchName: builderBranch } },
    { success: false, entry: { branchName: "feature", cause: "conflict" } },
  ]);
});

test("a dry run predicts and writes nothing", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  const before = await world.store.read((tx) => tx.events.after(0, 1000));
  const { exit, document } = await ov.json("merge", "--branch", "feature", "--dry-run");
  expect(exit).toBe(0);
  expect(document).toMatchObject({
    success: true,
    branchName: "feature",
    id: null,
    status: "pending",
    targetBranch: "main",
    filesModified: ["a.ts"],
    prediction: { ...cleanly, gatesLikely: ["Tests"] },
  });
  expect(await ov.json("merge", "--all", "--dry-run")).toMatchObject({ document: { entries: [], count: 0 } });
  expect(await world.entries()).toEqual([]);
  expect(await world.store.read((tx) => tx.events.after(0, 1000))).toEqual(before);
  const one = await world.announce();
  expect((await ov.json("merge", "--all", "--dry-run")).document.entries).toMatchObject([
    { id: one.id, branchName: builderBranch, prediction: { predictedTier: "clean-merge" } },
  ]);
});

test("a diff is the patch as it is, below the commit that it belongs to", async () => {
  await using world = await mergeWorld();
  const { id } = await world.announce();
  expect((await desk(world).run("merge", "diff", String(id))).out).toBe(`commit head-1\n\npatch of ${builderBranch}\n`);
});

test("--commit-rest says so when no agent left anything uncommitted", async () => {
  await using world = await mergeWorld();
  const ov = desk(world);
  ov.engine = lands(world);
  const { exit, err } = await ov.run("merge", "--branch", "feature", "--commit-rest");
  expect({ exit, err }).toEqual({ exit: 0, err: expect.stringContaining("--commit-rest had nothing to commit") });
});
