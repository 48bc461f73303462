import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { gitMergeWorld } from "../../../testkit/git-merge-world.ts";
import { type LandingWorld, landingWorld } from "../../../testkit/landing-world.ts";

const shallow = ".git/shallow";

/** A branch that takes in a commit whose own history is hidden by a planted file, and lost. */
function plant(world: LandingWorld, hidden: "commit" | "file"): void {
  world.branch("side", () => world.write(world.root, "secret", "secret\n"));
  const lost = world.tip(hidden === "commit" ? "side" : "side:secret");
  const second = world.branch("side", () => rmSync(join(world.root, "secret")));
  const tree = world.tip("side^{tree}");
  const tip = world.git(world.root, "commit-tree", tree, "-p", "main", "-p", second, "-m", "x").trim();
  world.git(world.root, "update-ref", "refs/heads/bad", tip);
  world.git(world.root, "update-ref", "-d", "refs/heads/side");
  world.write(world.root, shallow, `${second}\n`);
  rmSync(join(world.root, ".git/objects", lost.slice(0, 2), lost.slice(2)));
}

for (const hidden of ["commit", "file"] as const) {
  test(`a planted file that hides a lost ${hidden} refuses the branch by name, and the others land`, async () => {
    await using world = await landingWorld({ gates: ["true"] });
    world.branch("good", () => world.write(world.root, "good", "g\n"));
    world.git(world.root, "checkout", "--quiet", "--detach");
    plant(world, hidden);
    const bad = await world.enqueue("bad");
    const good = await world.enqueue("good");
    await world.work();
    expect(await world.entry(bad)).toMatchObject({ status: "failed", cause: "git_error" });
    const { message } = (await world.entry(bad)).causeDetail ?? {};
    expect(message).toContain("git cannot read all of bad: the file .git/shallow ends the history at ");
    expect(await world.entry(good)).toMatchObject({ status: "merged" });
    rmSync(join(world.root, shallow));
    expect(world.git(world.root, "rev-list", "--objects", "--quiet", "main")).toBe("");
  }, 60_000);
}

test("a planted file that ends the history at the target is named when nothing merges any more", async () => {
  await using world = await landingWorld({ gates: ["true"] });
  world.branch("good", () => world.write(world.root, "good", "g\n"));
  world.branch("main", () => world.write(world.root, "later", "l\n"));
  world.git(world.root, "checkout", "--quiet", "--detach");
  world.write(world.root, shallow, `${world.tip("main")}\n`);
  const id = await world.enqueue("good");
  await world.work();
  expect((await world.entry(id)).causeDetail?.message).toContain(".git/shallow");
}, 60_000);

test("work lands in a shallow clone, whose history ends at commits of the target", async () => {
  using origin = gitMergeWorld();
  for (const name of ["one", "two", "three"]) origin.branch("main", () => origin.write(origin.root, name, name));
  await using world = await landingWorld({ gates: ["true"] });
  const fetch = ["fetch", "--quiet", "--depth=2", `file://${origin.root}`, "main:refs/heads/trunk"];
  world.git(world.root, ...fetch);
  world.git(world.root, "checkout", "--quiet", "--detach", "trunk");
  const tip = world.git(world.root, "commit-tree", "HEAD^{tree}", "-p", "HEAD~1", "-m", "x").trim();
  world.git(world.root, "update-ref", "refs/heads/work", tip);
  const id = await world.enqueue("work", { targetBranch: "trunk" });
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "merged" });
  expect(world.read(world.root, shallow)).not.toBe("");
}, 60_000);
