import { expect, test } from "bun:test";
import type { NewMerge } from "../../src/usecases/merge/queue/enqueue.ts";
import { aTask } from "../../testkit/contracts/store/rows.ts";
import { type LandingWorld, landingWorld } from "../../testkit/landing-world.ts";
import { activeRun, storedAgent } from "../../testkit/use-case.ts";

const landing = "overstory/integration/main";

const says = (world: LandingWorld, name: string, word: string): string =>
  world.branch(name, () => world.write(world.root, "x.txt", `${word}\n`));

/** Merges a branch into another by hand, as somebody does who understands both. */
function join(world: LandingWorld, into: string, branch: string, word: string): void {
  const git = (...args: string[]): string => world.git(world.root, ...args);
  git("checkout", "--quiet", into);
  git("merge", "--quiet", "--no-commit", "--no-ff", "--strategy=ours", branch);
  world.write(world.root, "x.txt", `${word}\n`);
  git("add", "-A");
  git("commit", "--quiet", "-m", `join ${branch}`);
  git("checkout", "--quiet", "--force", "main");
}

/** `b` cannot follow `a`, so `joined` brings them together. */
async function stuck(world: LandingWorld, more: Partial<NewMerge> = {}) {
  for (const name of ["a", "b"]) says(world, name, name);
  const [a, b] = [await world.enqueue("a"), await world.enqueue("b", more)];
  await world.work();
  expect(await world.entry(a)).toMatchObject({ status: "merged" });
  expect(await world.entry(b)).toMatchObject({ status: "conflict" });
  world.git(world.root, "branch", "joined", landing);
  return { a, b };
}

const landedMail = (world: LandingWorld): Promise<readonly string[]> =>
  world.store.read(async (tx) => (await tx.messages.list({ type: "merged" })).map(({ subject }) => subject));

test("a branch that could not be merged has landed when one that holds it lands, and that is told once", async () => {
  await using world = await landingWorld();
  const { b } = await stuck(world);
  const head = says(world, "b", "b again");
  join(world, "joined", "b", "a and b");
  const joined = await world.enqueue("joined");
  await world.work();
  const commit = world.tip(landing);
  expect(await world.entry(joined)).toMatchObject({ status: "merged", resultCommit: commit });
  expect(await world.entry(b)).toMatchObject({
    status: "merged",
    tier: "ai-resolve",
    strategy: "with joined",
    resultCommit: commit,
    headCommit: head,
    cause: null,
  });
  await world.work();
  expect((await landedMail(world)).toSorted()).toEqual(["merged: a", "merged: b", "merged: joined"]);
  expect(await world.store.read((tx) => tx.receipts.about(`merge:${b}`))).toHaveLength(1);
});

test("B3: branches that a merger joined before anybody handed them over have landed with it; a stranger's has not", async () => {
  await using world = await landingWorld();
  const finished = { runId: "run-1", state: "completed", ahead: 1, parentName: "lead" } as const;
  await world.store.transaction(async (tx) => {
    await tx.runs.insert({ ...activeRun("run-1", 1), targetBranch: "main" });
    for (const name of ["a", "b", "c", "joined"]) {
      const parentName = name === "c" ? "stranger" : "lead";
      const facts = { ...finished, parentName, branch: name, taskId: name, capability: "builder" } as const;
      await tx.agents.reserve(storedAgent(name, facts));
      await tx.tasks.insert(aTask(name, { runId: "run-1", status: "in_review", mergeState: "pending" }));
    }
  });
  for (const name of ["a", "b", "c"]) says(world, name, name);
  world.git(world.root, "branch", "joined", "a");
  join(world, "joined", "b", "a and b");
  join(world, "joined", "c", "all three");
  const joined = await world.enqueue("joined", { runId: "run-1", taskId: "joined", agentName: "joined" });
  await world.work();
  const entries = await world.store.read((tx) => tx.merges.list({}));
  const resultCommit = world.tip((await world.entry(joined)).targetBranch);
  expect(entries.toSorted((x, y) => x.id - y.id)).toMatchObject([
    { branch: "joined", status: "merged", resultCommit },
    { branch: "a", status: "merged", strategy: "with joined", resultCommit, headCommit: world.tip("a") },
    { branch: "b", status: "merged", strategy: "with joined", resultCommit, headCommit: world.tip("b") },
  ]);
  const task = (id: string) => world.store.read((tx) => tx.tasks.get(id));
  for (const id of ["a", "b"]) {
    expect(await task(id)).toMatchObject({ status: "closed", mergeState: "merged" });
    expect((await world.store.read((tx) => tx.agents.byName(id)))?.releasedAt).not.toBeNull();
  }
  expect(await task("c")).toMatchObject({ status: "in_review" });
  const [landed] = await world.store.read((tx) => tx.mergeOps.list({ kind: "land", queueId: joined }));
  expect(landed?.queueIds).toEqual(entries.map(({ id }) => id).toSorted((x, y) => x - y));
  expect(await world.undo(landed?.id ?? "")).toMatchObject({ status: "done" });
  for (const { id } of entries) expect(await world.entry(id)).toMatchObject({ status: "reverted" });
});

test("a branch with more to come, or for another target, waits for its own landing", async () => {
  await using world = await landingWorld();
  const { b } = await stuck(world);
  world.git(world.root, "branch", "release", "main");
  says(world, "c", "c");
  const elsewhere = await world.enqueue("c", { targetBranch: "release", asker: "other" });
  join(world, "joined", "b", "a and b");
  join(world, "joined", "c", "all three");
  says(world, "b", "b again");
  await world.enqueue("joined");
  await world.work();
  expect(await world.entry(b)).toMatchObject({ status: "conflict" });
  expect(await world.entry(elsewhere)).toMatchObject({ status: "pending", targetBranch: "release" });
});

test("what the target held before is not brought by a landing: it may have been taken back", async () => {
  await using world = await landingWorld({ files: { "x.txt": "one\n", "y.txt": "y\n" } });
  says(world, "a", "a");
  const a = await world.enqueue("a");
  await world.work();
  world.branch("later", () => world.write(world.root, "z.txt", "z\n"), landing);
  await world.enqueue("later");
  await world.work();
  await world.undo(String(a));
  world.branch("over", () => world.write(world.root, "x.txt", "over\n"), landing);
  await world.enqueue("over");
  await world.work();
  const again = await world.enqueue("a");
  await world.work();
  expect(await world.entry(again)).toMatchObject({ status: "conflict" });
  world.branch("other", () => world.write(world.root, "y.txt", "other\n"));
  await world.enqueue("other");
  await world.work();
  expect(await world.entry(again)).toMatchObject({ status: "conflict" });
});

test("a landing that broke off before it was recorded is recorded by the next look, for both", async () => {
  await using world = await landingWorld();
  const { b } = await stuck(world);
  join(world, "joined", "b", "a and b");
  const joined = await world.enqueue("joined");
  const deaths: string[] = [];
  Object.assign(world.ports, {
    reach: (point: string) => {
      if (point !== "merge.after-land") return;
      deaths.push(point);
      throw new Error("died");
    },
    report: () => {},
  });
  await world.work();
  expect(deaths).toHaveLength(1);
  for (const id of [b, joined]) expect(await world.entry(id)).toMatchObject({ status: "merged" });
  expect((await landedMail(world)).filter((subject) => subject === "merged: b")).toHaveLength(1);
});

test("what came along is taken back with what brought it, and not without", async () => {
  await using world = await landingWorld();
  const { b } = await stuck(world);
  join(world, "joined", "b", "a and b");
  const joined = await world.enqueue("joined");
  await world.work();
  const op = await world.undo(String(b));
  expect(op).toMatchObject({ status: "dropped", problem: expect.stringContaining("it came with joined") });
  const [landed] = await world.store.read((tx) => tx.mergeOps.list({ kind: "land", queueId: b }));
  expect(await world.undo(landed?.id ?? "")).toMatchObject({ status: "done" });
  for (const id of [b, joined]) expect(await world.entry(id)).toMatchObject({ status: "reverted" });
  expect(world.show(landing, "x.txt")).toBe("a");
});

test("what came along is in nobody's way when several landings are taken back together", async () => {
  await using world = await landingWorld({ files: { "x.txt": "one\n", "y.txt": "y\n" } });
  const { b } = await stuck(world);
  join(world, "joined", "b", "a and b");
  world.branch("top", () => world.write(world.root, "x.txt", "on top\n"), "joined");
  const [joined, top] = [await world.enqueue("joined"), await world.enqueue("top")];
  await world.work();
  const [landed] = await world.store.read((tx) => tx.mergeOps.list({ kind: "land", queueId: b }));
  expect(landed?.queueIds).toEqual([joined, b, top]);
  world.branch("later", () => world.write(world.root, "y.txt", "later\n"), landing);
  await world.enqueue("later");
  await world.work();
  expect(await world.undo(landed?.id ?? "")).toMatchObject({ status: "done" });
  expect([world.show(landing, "x.txt"), world.show(landing, "y.txt")]).toEqual(["a", "later"]);
});

test("what the operator was asked about is not answered by somebody else's landing", async () => {
  await using world = await landingWorld({ gates: ["true"] });
  says(world, "c", "c");
  const asked = await world.enqueue("c", { asker: "other" });
  world.git(world.root, "branch", "joined", "main");
  join(world, "joined", "c", "both");
  const joined = await world.enqueue("joined", { asker: "parent" });
  await world.work();
  expect(await world.entry(joined)).toMatchObject({ status: "merged" });
  expect(await world.entry(asked)).toMatchObject({ status: "pending", approval: "waiting" });
});

test("a branch that was moved back since has not landed what was announced for it", async () => {
  await using world = await landingWorld();
  const { b } = await stuck(world);
  world.branch("next", () => world.write(world.root, "z.txt", "z\n"), landing);
  world.git(world.root, "branch", "--force", "b", "next");
  await world.enqueue("next");
  await world.work();
  expect(await world.entry(b)).toMatchObject({ status: "conflict" });
});
