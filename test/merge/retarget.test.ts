import { expect, test } from "bun:test";
import { landingWorld } from "../../testkit/landing-world.ts";

const landing = "overstory/integration/main";

test("a newer head that was queued for a checked-out target takes the place of the older one where both land", async () => {
  await using world = await landingWorld({
    files: { "red.txt": "red\n" },
    gates: ["test ! -e red.txt"],
    merge: { baselineFailing: "block" },
  });
  world.branch("a", () => world.write(world.root, "a.txt", "a\n"));
  const first = await world.enqueue("a");
  await world.work();
  expect(await world.entry(first)).toMatchObject({ status: "blocked", targetBranch: landing });
  world.branch("a", () => world.git(world.root, "rm", "--quiet", "red.txt"));
  const second = await world.enqueue("a");
  world.branch("b", () => world.write(world.root, "b.txt", "b\n"));
  const other = await world.enqueue("b");
  world.later(3_600_000);
  await world.work();
  expect(await world.entry(first)).toMatchObject({ status: "superseded" });
  expect(await world.entry(second)).toMatchObject({ status: "merged", targetBranch: landing });
  expect((await world.entry(other)).status).not.toBe("pending");
});

test("somebody who looks at a landing branch in a checkout of their own stops nothing but what lands there", async () => {
  await using world = await landingWorld();
  for (const name of ["a", "b", "c"]) world.branch(name, () => world.write(world.root, `${name}.txt`, `${name}\n`));
  await world.enqueue("a");
  await world.work();
  world.git(world.root, "merge", "--quiet", "--ff-only", landing);
  world.git(world.root, "commit", "--quiet", "--allow-empty", "-m", "by hand");
  world.git(world.root, "worktree", "add", "--quiet", "../look", landing);
  world.git(world.root, "branch", "release");
  const [b, c] = [await world.enqueue("b"), await world.enqueue("c", { targetBranch: "release" })];
  await world.work();
  expect(await world.entry(b)).toMatchObject({ status: "blocked", cause: "local_changes" });
  expect(await world.entry(c)).toMatchObject({ status: "merged" });
  world.git(world.root, "worktree", "remove", "../look");
  world.later(3_600_000);
  await world.work();
  expect(await world.entry(b)).toMatchObject({ status: "merged" });
});
