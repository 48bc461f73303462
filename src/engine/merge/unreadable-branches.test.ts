import { expect, test } from "bun:test";
import { damages, plantBranch } from "../../../testkit/damaged-objects.ts";
import { type LandingWorld, landingWorld } from "../../../testkit/landing-world.ts";

const files = { "a.txt": "a\n" };

/** A branch with one file of its own; `main` is checked out nowhere afterwards. */
function branch(world: LandingWorld, name: string): void {
  world.branch(name, () => world.write(world.root, name, `${name}\n`));
  world.git(world.root, "checkout", "--quiet", "--detach");
}

for (const [what, damaged] of Object.entries(damages)) {
  test(`a branch with ${what} fails by its name, and the others land`, async () => {
    await using world = await landingWorld({ files, gates: ["true"] });
    plantBranch(world, "bad", damaged(world));
    for (const name of ["good", "better"]) branch(world, name);
    const first = await world.enqueue("good");
    const bad = await world.enqueue("bad");
    const last = await world.enqueue("better");
    await world.work();
    expect(await world.entry(bad)).toMatchObject({ status: "failed", cause: "git_error" });
    const { message } = (await world.entry(bad)).causeDetail ?? {};
    expect(message).toStartWith("git cannot read all of bad: ");
    expect(message).toEndWith("git fsck; then commit the work again, and: ov merge --branch bad");
    expect(await world.entry(first)).toMatchObject({ status: "merged" });
    expect(await world.entry(last)).toMatchObject({ status: "merged" });
  }, 60_000);
}

for (const what of ["no parent", "a tip that is no commit", "other bytes in the place of its commit"]) {
  test(`a branch with ${what} that nobody queued keeps nothing from landing, or from being taken back`, async () => {
    await using world = await landingWorld({ files, gates: ["true"] });
    plantBranch(world, "bad", damages[what]?.(world) ?? "");
    for (const name of ["good", "stays"]) branch(world, name);
    // One that waits beside it makes the landing look for branches that come in with it.
    await world.enqueue("stays", { asker: "other" });
    const id = await world.enqueue("good");
    await world.work();
    expect(await world.entry(id)).toMatchObject({ status: "merged" });
    const [landing] = await world.store.read((tx) => tx.mergeOps.list({ kind: "land", status: "done" }));
    expect(await world.undo(landing?.id ?? "")).toMatchObject({ status: "done" });
  }, 60_000);
}

test("a branch that git cannot read does not keep others from being shown to the operator", async () => {
  await using world = await landingWorld({ files, gates: ["true"], merge: { mode: "approve" } });
  plantBranch(world, "bad", damages["an entry without a name"]?.(world) ?? "");
  branch(world, "good");
  const bad = await world.enqueue("bad", { asker: "parent" });
  const good = await world.enqueue("good", { asker: "parent" });
  await world.work();
  expect(await world.entry(bad)).toMatchObject({ status: "failed" });
  expect(await world.entry(good)).toMatchObject({
    status: "pending",
    approval: "waiting",
    headCommit: world.tip("good"),
    filesModified: ["good"],
  });
}, 60_000);

test("trouble with one target keeps no other target waiting", async () => {
  await using world = await landingWorld({ files, gates: ["true"] });
  for (const name of ["good", "other"]) branch(world, name);
  world.git(world.root, "branch", "aside", "main");
  const reported: unknown[] = [];
  const { checkoutsOf } = world.ports.merging;
  const ports = {
    ...world.ports,
    report: (error: unknown) => reported.push(error),
    merging: {
      ...world.ports.merging,
      checkoutsOf: async (name: string) => {
        if (name === "aside") throw new Error("git could not look at aside");
        return checkoutsOf(name);
      },
    },
  };
  const stuck = await world.enqueue("other", { targetBranch: "aside" });
  const good = await world.enqueue("good");
  await world.work(ports);
  expect(await world.entry(good)).toMatchObject({ status: "merged" });
  expect(await world.entry(stuck)).toMatchObject({
    status: "pending",
    causeDetail: { message: "git could not look at aside" },
  });
  expect(reported.map(String)).toContain("Error: git could not look at aside");
}, 60_000);

for (const isBehind of [true, false]) {
  test(`old trees that the target has got keep nothing from landing ${isBehind ? "on a branch that lacks them" : "where its branch follows"}`, async () => {
    await using world = await landingWorld({ files, gates: ["true"] });
    for (const name of ["first", "second"]) world.branch(name, () => world.write(world.root, name, `${name}\n`));
    await world.enqueue("first");
    await world.work();
    if (!isBehind) expect(await world.promote()).toMatchObject({ status: "done" });
    const main = world.tip("main");
    const tangled = damages["files in no order"]?.(world) ?? "";
    const sound = world.git(world.root, "commit-tree", `${main}^{tree}`, "-p", tangled, "-m", "as before");
    world.git(world.root, "reset", "--quiet", "--hard", sound);
    const second = await world.enqueue("second");
    await world.work();
    expect(await world.entry(second)).toMatchObject({ status: "merged" });
    expect(await world.promote()).toMatchObject({ status: "done", problem: null });
    expect(world.git(world.root, "merge-base", "--is-ancestor", tangled, "main")).toBe("");
    // A branch that brings such trees itself is refused as before.
    plantBranch(world, "bad", damages["files in no order"]?.(world) ?? "");
    const bad = await world.enqueue("bad");
    await world.work();
    expect(await world.entry(bad)).toMatchObject({ status: "failed", cause: "git_error" });
  }, 60_000);
}
