import { expect, test } from "bun:test";
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gitWorld } from "../../../../testkit/contracts/worktrees/world.ts";
import { settlePlace } from "./pool-place.ts";

/** A place of the pool, and an index for it. */
function somePlace() {
  const world = gitWorld();
  const path = join(world.root, "..", "place");
  world.git(world.root, "worktree", "add", "--quiet", "--detach", path);
  const gitDir = join(world.root, ".git", "worktrees", "place");
  const index = join(world.root, "..", "index");
  writeFileSync(index, readFileSync(join(gitDir, "index")));
  const commit = world.git(world.root, "rev-parse", "HEAD");
  return {
    world,
    gitDir,
    settle: () => settlePlace({ path, gitDir }, commit, index),
    [Symbol.dispose]: () => world[Symbol.dispose](),
  };
}

test("git can list all worktrees at any moment while a place is settled", async () => {
  using place = somePlace();
  const lists = 150;
  const script = `n=0; while [ $n -lt ${lists} ]; do git worktree list >/dev/null || exit 1; n=$((n + 1)); done`;
  const lister = Bun.spawn({ cmd: ["sh", "-c", script], cwd: place.world.root, stdio: ["ignore", "ignore", "pipe"] });
  let listing = true;
  void lister.exited.then(() => {
    listing = false;
  });
  while (listing) {
    for (let n = 0; n < 20; n++) place.settle();
    await Bun.sleep(0);
  }
  expect(await new Response(lister.stderr).text()).toBe("");
  expect(await lister.exited).toBe(0);
});

test("what commands left in its git directory is gone, and nothing is written through it", () => {
  using place = somePlace();
  const { world, gitDir, settle } = place;
  world.write(world.root, "precious.txt", "theirs\n");
  mkdirSync(join(gitDir, "locked"));
  writeFileSync(join(gitDir, "config.worktree"), "[core]\n\tfsmonitor = evil\n");
  settle();
  symlinkSync(join(world.root, "precious.txt"), join(gitDir, "HEAD.new"));
  settle();
  expect(world.read(world.root, "precious.txt")).toBe("theirs\n");
  expect(existsSync(join(gitDir, "config.worktree"))).toBe(false);
  for (const name of ["HEAD", "commondir", "locked"]) expect(lstatSync(join(gitDir, name)).isFile()).toBe(true);
});
