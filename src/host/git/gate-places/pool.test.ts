import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type GitMergeWorld, gitMergeWorld } from "../../../../testkit/git-merge-world.ts";
import { gitMerging } from "../merging.ts";

const files = {
  "src/a.ts": "a\n",
  "packages/p/index.ts": "p\n",
  "package-lock.json": "{1}\n",
  ".gitignore": "node_modules/\ndist/\n*.log\n.env\n",
};

/** Is exactly this commit there, and nothing else? */
function expectExactly(world: GitMergeWorld, path: string, commit: string): void {
  expect(world.git(path, "rev-parse", "HEAD")).toBe(commit);
  // Without believing the index.
  world.git(path, "update-index", "--really-refresh");
  expect(world.git(path, "status", "--porcelain", "--ignored")).toBe("");
  expect(world.git(path, "write-tree")).toBe(world.tip(`${commit}^{tree}`));
}

describe("a slot of the pool", () => {
  test("holds the commit's files and nothing that a candidate before left there", async () => {
    using world = gitMergeWorld({ files });
    const main = world.tip("main");
    const other = world.branch("other", () => {
      rmSync(join(world.root, "src"), { recursive: true });
      world.write(world.root, "src", "a file now\n");
      world.write(world.root, "new.txt", "n\n");
    });
    const { path, kept } = await world.merging.checkOut(1, main);
    expect(path).toBe(join(world.pool, "1"));
    expect(kept).toEqual([]);
    expectExactly(world, path, main);
    for (const name of ["dist/out.js", "x.log", ".env", "junk.txt", "src/junk.txt", "deep/a/b/c"])
      world.write(path, name, "left\n");
    world.write(path, "src/a.ts", "changed\n");
    rmSync(join(path, "package-lock.json"));
    expect(await world.merging.checkOut(1, main)).toMatchObject({ path, kept: [] });
    expectExactly(world, path, main);
    for (const commit of [other, main, other]) {
      await world.merging.checkOut(1, commit);
      expectExactly(world, path, commit);
    }
    expect(world.git(world.root, "worktree", "list", "--porcelain")).toContain("locked overstory");
    expect(world.git(world.root, "status", "--porcelain")).toBe("");
  });

  test("is no place where a commit can hide a change from the next one's gates", async () => {
    using world = gitMergeWorld({ files });
    const main = world.tip("main");
    const { path } = await world.merging.checkOut(0, main);
    const file = join(path, "src/a.ts");
    const { atime, mtime } = lstatSync(file);
    world.write(path, "src/a.ts", "b\n");
    utimesSync(file, atime, mtime);
    world.git(path, "update-index", "--assume-unchanged", "src/a.ts");
    world.git(path, "update-index", "--skip-worktree", "packages/p/index.ts");
    world.write(path, "packages/p/index.ts", "q\n");
    world.git(path, "config", "extensions.worktreeConfig", "true");
    world.git(path, "config", "--worktree", "core.ignoreStat", "true");
    await world.merging.checkOut(0, main);
    expect([world.read(path, "src/a.ts"), world.read(path, "packages/p/index.ts")]).toEqual(["a\n", "p\n"]);
  });

  test("files look as their attributes say, also when only the attributes changed", async () => {
    using world = gitMergeWorld({ files: { "a.txt": "one\ntwo\n", ".gitattributes": "*.txt text eol=lf\n" } });
    const main = world.tip("main");
    const crlf = world.branch("crlf", () => world.write(world.root, ".gitattributes", "*.txt text eol=crlf\n"));
    const { path } = await world.merging.checkOut(0, main);
    for (const [commit, text] of [
      [crlf, "one\r\ntwo\r\n"],
      [main, "one\ntwo\n"],
    ] as const) {
      await world.merging.checkOut(0, commit);
      expect(world.read(path, "a.txt")).toBe(text);
    }
  });

  test("two slots are filled at the same time, whatever else adds worktrees", async () => {
    using world = gitMergeWorld({ files });
    const main = world.tip("main");
    const places = await Promise.all([0, 1, 2, 3].map((slot) => world.merging.checkOut(slot, main)));
    for (const { path } of places) expectExactly(world, path, main);
  });

  test("holds links, submodules and strange names", async () => {
    using world = gitMergeWorld({ files });
    const strange = world.branch("strange", () => {
      symlinkSync("/etc/passwd", join(world.root, "link"));
      world.write(world.root, "new\nline ünï.txt", "x\n");
      writeFileSync(Buffer.concat([Buffer.from(`${world.root}/raw`), Buffer.of(0xff)]), "raw\n");
      mkdirSync(join(world.root, "sub"));
      world.git(world.root, "update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},sub`);
    });
    const { path } = await world.merging.checkOut(0, strange);
    world.write(path, "sub/junk", "j\n");
    writeFileSync(Buffer.concat([Buffer.from(`${path}/junk`), Buffer.of(0xfe)]), "raw\n");
    await world.merging.checkOut(0, strange);
    expectExactly(world, path, strange);
    expect(readdirSync(join(path, "sub"))).toEqual([]);
  });

  test("works where the project and the pool are reached through links", async () => {
    using world = gitMergeWorld({ files });
    const [root, above] = [`${world.root}-link`, `${world.pool}-link`];
    mkdirSync(world.pool);
    symlinkSync(world.root, root);
    symlinkSync(world.pool, above);
    const pool = join(above, "pool");
    const merging = gitMerging(root, { poolDir: pool, scratch: world.scratch });
    const main = world.tip("main");
    const keep = { keepIgnored: ["node_modules"], cache: [], setup: "install", landed: main, rest: "goes" } as const;
    const { path } = await merging.checkOut(0, main, keep);
    mkdirSync(join(path, "node_modules"));
    await merging.keepInstalled(0, main, keep);
    expect(await merging.checkOut(0, main, keep)).toMatchObject({ path, kept: ["node_modules"] });
  });

  test.each(["", "state", "kept"])("a link in the place of the pool's directory %p is not followed", async (name) => {
    using world = gitMergeWorld({ files });
    const outside = join(world.root, "..", "outside");
    const mine = ["0/keep", "0.index", "0.index.lock", "0.kept", "0-new/keep"];
    for (const path of mine) world.write(outside, path, "precious\n");
    mkdirSync(join(world.pool, name, ".."), { recursive: true });
    symlinkSync(outside, join(world.pool, name));
    const main = world.tip("main");
    const keep = { keepIgnored: ["node_modules"], cache: [], setup: "install", landed: main, rest: "goes" } as const;
    const { path } = await world.merging.checkOut(0, main, keep);
    mkdirSync(join(path, "node_modules"));
    await world.merging.keepInstalled(0, main, keep);
    expect(await world.merging.checkOut(0, main, keep)).toMatchObject({ kept: ["node_modules"] });
    for (const each of mine) expect(world.read(outside, each)).toBe("precious\n");
    expect(readdirSync(outside).toSorted()).toEqual(["0", "0-new", "0.index", "0.index.lock", "0.kept"]);
  });

  test("a commit that is not there is an error", async () => {
    using world = gitMergeWorld({ files });
    await expect(world.merging.checkOut(0, "f".repeat(40))).rejects.toThrow();
  });
});

describe("a slot that was trashed is made anew", () => {
  const trashings: Readonly<Record<string, (world: GitMergeWorld, path: string) => void>> = {
    "the directory is gone": (_, path) => rmSync(path, { recursive: true }),
    "the directory is a link": (world, path) => {
      const outside = join(world.root, "..", "outside");
      renameSync(path, outside);
      world.write(outside, "precious.txt", "p\n");
      symlinkSync(outside, path);
    },
    "a file is in its place": (_, path) => {
      rmSync(path, { recursive: true });
      writeFileSync(path, "x");
    },
    ".git points to another repository": (world, path) => {
      const other = join(path, "evil");
      world.git(path, "init", "--quiet", other);
      world.write(
        other,
        ".git/config",
        `[core]\n\tfsmonitor = ${world.trap}\n[filter "x"]\n\tsmudge = ${world.trap}\n`,
      );
      writeFileSync(join(path, ".git"), `gitdir: ${other}/.git\n`);
    },
    ".git is a repository": (world, path) => {
      rmSync(join(path, ".git"));
      world.git(path, "init", "--quiet");
    },
    "git's own directory of it is gone": (world) => rmSync(join(world.root, ".git/worktrees"), { recursive: true }),
    "git's own directory of it is full of surprises": (world, path) => {
      const gitDir = world.git(path, "rev-parse", "--absolute-git-dir");
      world.write(gitDir, "index", "not an index");
      world.write(gitDir, "index.lock", "");
      world.write(gitDir, "HEAD", "ref: refs/heads/main\n");
      world.write(gitDir, "MERGE_HEAD", "x\n");
      world.write(gitDir, "config.worktree", `[core]\n\tfsmonitor = ${world.trap}\n`);
    },
    "our index is broken": (world) => writeFileSync(join(world.pool, "state", "0.index"), "not an index"),
    "our index is locked": (world) => writeFileSync(join(world.pool, "state", "0.index.lock"), ""),
    "a tracked directory leads elsewhere": (world, path) => {
      const outside = join(world.root, "..", "outside");
      renameSync(join(path, "src"), outside);
      world.write(outside, "precious.txt", "p\n");
      symlinkSync(outside, join(path, "src"));
    },
    "directories are read-only and full of repositories": (world, path) => {
      world.git(path, "init", "--quiet", join(path, "dist/nested"));
      world.write(path, "dist/nested/deep/x", "x");
      for (const dir of ["dist/nested/deep", "dist/nested", "dist", "src"]) chmodSync(join(path, dir), 0o500);
    },
    "directories are deeper than any path": (_, path) => {
      const program = `import os
os.mkdir("src/deep"); os.chdir("src/deep")
for i in range(3000):
    name = "d" * 200 if i < 60 else "d"
    os.mkdir(name); os.chdir(name)
os.mkdir("shut", 0)`;
      expect(Bun.spawnSync({ cmd: ["python3", "-c", program], cwd: path }).exitCode).toBe(0);
    },
    "names are no text, deep and read-only": (_, path) => {
      const program = `import os
os.chdir(b"src"); os.mkdir(b"\\xff\\xfe"); os.chdir(b"\\xff\\xfe")
for i in range(60):
    os.mkdir(b"\\xfe" * 100); os.chdir(b"\\xfe" * 100)
open("f", "w").close(); os.chmod(".", 0o500)`;
      expect(Bun.spawnSync({ cmd: ["python3", "-c", program], cwd: path }).exitCode).toBe(0);
    },
    "a pipe is where a file was": (_, path) => {
      rmSync(join(path, "src/a.ts"));
      Bun.spawnSync({ cmd: ["mkfifo", join(path, "src/a.ts"), join(path, "pipe")] });
    },
  };

  for (const [what, trash] of Object.entries(trashings)) {
    test(what, async () => {
      using world = gitMergeWorld({ files });
      const main = world.tip("main");
      const { path } = await world.merging.checkOut(0, main);
      trash(world, path);
      expect(await world.merging.checkOut(0, main)).toMatchObject({ path });
      expect(lstatSync(path).isDirectory()).toBe(true);
      expectExactly(world, path, main);
      const precious = join(world.root, "..", "outside", "precious.txt");
      if (existsSync(join(precious, ".."))) expect(readFileSync(precious, "utf8")).toBe("p\n");
      expect(world.sprung()).toBe(false);
      expect(world.git(world.root, "worktree", "list").split("\n")).toHaveLength(2);
      expect(world.git(world.root, "fsck", "--no-dangling")).toBe("");
    });
  }
});
