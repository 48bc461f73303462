import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type GitWorld, gitWorld } from "../../../testkit/contracts/worktrees/world.ts";
import type { OwnedWorktree } from "../../ports/worktrees.ts";
import { directoryIdentity, standing } from "./places.ts";
import { gitWorktrees } from "./worktrees.ts";

/** A worktree whose directory was recorded, and a directory of somebody else. */
async function seated(kind: "linked" | "clone") {
  const world = gitWorld();
  const worktrees = gitWorktrees(world.root);
  const { agentName, branch, path } = world.worktree("ann", kind);
  const made = await worktrees.create({ agentName, branch, path, kind, baseRef: "main" });
  if (!made.ok) throw new Error(made.refusal.problem);
  const owned: OwnedWorktree = { ...world.worktree("ann", kind), ...made.value };
  const victim = join(world.root, "..", "victim");
  world.write(victim, "precious.db", "theirs\n");
  world.write(victim, ".gitignore", "*.db\n");
  return { world, worktrees, owned, victim, [Symbol.dispose]: () => world[Symbol.dispose]() };
}

const moves: readonly (readonly [string, (world: GitWorld, path: string, victim: string) => void])[] = [
  ["a link to another directory", (_, path, victim) => symlinkSync(victim, path)],
  ["another directory", (_, path, victim) => renameSync(victim, path)],
];

for (const kind of ["linked", "clone"] as const) {
  describe(`a ${kind} worktree that was moved away`, () => {
    for (const [what, put] of moves) {
      test(`and replaced by ${what}: nothing there is looked at, kept or touched`, async () => {
        using scene = await seated(kind);
        const { world, worktrees, owned, victim } = scene;
        renameSync(owned.path, `${owned.path}.real`);
        put(world, owned.path, victim);
        const place = existsSync(victim) ? victim : owned.path;
        expect(await worktrees.inspect(owned)).toMatchObject({ exists: false, files: [] });
        expect(await worktrees.snapshot(owned)).toBeUndefined();
        expect(await worktrees.rescue(owned)).toBeUndefined();
        const removal = await worktrees.remove(owned, { deleteBranch: null });
        expect(removal).toMatchObject({
          removed: true,
          trash: null,
          problem: expect.stringContaining("was left as it is"),
        });
        expect(readdirSync(place).toSorted()).toEqual([".gitignore", "precious.db"]);
        expect(readFileSync(join(place, "precious.db"), "utf8")).toBe("theirs\n");
        expect(world.git(world.root, "worktree", "list")).not.toContain(owned.path);
      });
    }
  });
}

test("a link to the worktree of another agent does not let that one's record go", async () => {
  using scene = await seated("linked");
  const { world, worktrees, owned } = scene;
  const bob = world.worktree("bob", "linked");
  const { agentName, branch, path } = bob;
  await worktrees.create({ agentName, branch, path, kind: "linked", baseRef: "main" });
  world.write(path, "work.txt", "bob's\n");
  renameSync(owned.path, `${owned.path}.real`);
  symlinkSync(path, owned.path);
  await worktrees.remove(owned, { deleteBranch: null });
  expect(world.git(path, "status", "--porcelain")).toContain("work.txt");
});

test("the recorded directory is known again, whatever its device is called after a reboot", () => {
  using world = gitWorld();
  const path = join(world.root, "..", "w");
  mkdirSync(path);
  world.write(path, "file.txt", "changed since it was made\n");
  const identity = directoryIdentity(path);
  const [device, inode, born] = identity.split(":");
  expect(standing({ path, identity })).toBe("own");
  expect(standing({ path, identity: `${Number(device) + 1}:${inode}` })).toBe("own");
  expect(standing({ path, identity: `${device}:${Number(inode) + 1}` })).toBe("other");
  expect(standing({ path, identity: null })).toBe("own");
  expect(standing({ path: `${path}/none`, identity })).toBe("nothing");
  // A new directory may get the inode of a deleted one.
  if (born !== undefined)
    expect(standing({ path, identity: `${device}:${inode}:${Number(born) - 1000}` })).toBe("other");
});
