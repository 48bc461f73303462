import { describe, expect, test } from "bun:test";
import { chmodSync, chownSync, lstatSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { requestFor, worktreeSetting } from "../../../../testkit/contracts/worktrees/world.ts";
import { testWithoutPrivileges, withoutPrivileges } from "../../../../testkit/without-privileges.ts";
import { gitWorktrees } from "../worktrees.ts";

const modes = [0o000, 0o100, 0o200, 0o300, 0o400, 0o600];

describe.each(["linked", "clone"] as const)("directories of a %s worktree that git may not list", (kind) => {
  const { seated } = worktreeSetting(kind, (root) => gitWorktrees(root));

  testWithoutPrivileges(`of a ${kind} worktree: their files are in the snapshot`, import.meta.path, async () => {
    using scene = await seated();
    const { world, worktrees, owned } = scene;
    for (const mode of modes) {
      const dir = join(owned.path, `d${mode.toString(8)}`);
      world.write(dir, "inner/deep", "deep\n");
      world.write(dir, "file", "work\n");
      chmodSync(join(dir, "inner"), mode);
      chmodSync(dir, mode);
    }
    expect(await worktrees.inspect(owned)).toMatchObject({ dirty: true });
    const snapshot = await worktrees.snapshot(owned);
    expect(snapshot?.skipped).toEqual([]);
    const show = (path: string): string => world.git(world.root, "show", `${snapshot?.commit}:${path}`);
    for (const mode of modes) {
      const dir = `d${mode.toString(8)}`;
      expect([dir, show(`${dir}/file`), show(`${dir}/inner/deep`)]).toEqual([dir, "work", "deep"]);
    }
    expect(await worktrees.remove(owned, { deleteBranch: null })).toMatchObject({ removed: true, problem: null });
    await worktrees.intendRestore(requestFor(owned));
    await worktrees.create(requestFor(owned));
    await worktrees.restore(owned);
    expect(world.read(owned.path, "d0/inner/deep")).toBe("deep\n");
  });

  testWithoutPrivileges(`of a ${kind} worktree: closed tracked files are not deleted`, import.meta.path, async () => {
    using scene = await seated();
    const { world, worktrees, owned } = scene;
    world.write(owned.path, "src/new.ts", "new\n");
    chmodSync(join(owned.path, "src"), 0);
    const snapshot = await worktrees.snapshot(owned);
    const names = world.git(world.root, "ls-tree", "-r", "--name-only", snapshot?.commit ?? "", "src");
    expect(names.split("\n")).toEqual(["src/a.ts", "src/b.ts", "src/new.ts"]);
  });

  testWithoutPrivileges(`of a ${kind} worktree: the worktree itself counts as one`, import.meta.path, async () => {
    using scene = await seated();
    const { world, worktrees, owned } = scene;
    world.write(owned.path, "new.txt", "new\n");
    chmodSync(owned.path, 0o300);
    expect(await worktrees.inspect(owned)).toMatchObject({ dirty: true });
    const snapshot = await worktrees.snapshot(owned);
    expect(world.git(world.root, "show", `${snapshot?.commit}:new.txt`)).toBe("new");
  });

  testWithoutPrivileges(`of a ${kind} worktree: nothing behind a link is opened`, import.meta.path, async () => {
    using scene = await seated();
    const { world, worktrees, owned } = scene;
    const outside = join(world.root, "..", "outside");
    mkdirSync(outside, { mode: 0o300 });
    symlinkSync(outside, join(owned.path, "link"));
    mkdirSync(join(owned.path, "closed"), { mode: 0 });
    await worktrees.snapshot(owned);
    expect(lstatSync(outside).mode & 0o777).toBe(0o300);
    expect(lstatSync(join(owned.path, "closed")).mode & 0o777).toBe(0o700);
    chmodSync(outside, 0o700);
  });
});

/** Programs in a container leave such directories. Only root can make one for the test. */
test.skipIf(process.getuid?.() !== 0)(
  "a closed directory of another user is named, and the worktree stays",
  async () => {
    const { seated } = worktreeSetting("linked", (root) => gitWorktrees(root));
    using scene = await seated();
    const { world, owned } = scene;
    world.write(owned.path, "theirs/file", "work\n");
    world.write(owned.path, "mine.txt", "mine\n");
    chmodSync(join(owned.path, "theirs"), 0o700);
    chownSync(join(owned.path, "theirs"), 65534, 65534);
    const script = `
    const { gitWorktrees } = await import(${JSON.stringify(join(import.meta.dirname, "..", "worktrees.ts"))});
    const worktrees = gitWorktrees(${JSON.stringify(world.root)});
    const owned = ${JSON.stringify(owned)};
    const { uncommitted } = await worktrees.inspect(owned);
    const { skipped, commit } = await worktrees.snapshot(owned);
    console.log(JSON.stringify({ uncommitted, skipped, commit, ...(await worktrees.remove(owned, { deleteBranch: null })) }));`;
    const ran = Bun.spawnSync({ cmd: [...withoutPrivileges, process.execPath, "-e", script], stderr: "inherit" });
    const answer: unknown = JSON.parse(ran.stdout.toString());
    expect(answer).toMatchObject({
      uncommitted: ["mine.txt", "theirs/"],
      skipped: ["theirs/"],
      removed: false,
      problem: expect.stringContaining(`${owned.path}/theirs cannot be kept: it belongs to another user`),
    });
    expect(world.read(owned.path, "theirs/file")).toBe("work\n");
  },
);
