import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { type GitMergeWorld, gitMergeWorld } from "../../../../testkit/git-merge-world.ts";
import { gitMerging } from "../merging.ts";

const files = { "gate.sh": "#!/bin/sh\nexit 1\n", "src/a.ts": "a\n", ".gitignore": "node_modules/\n" };

const indexOf = (world: GitMergeWorld): string => join(world.pool, "state", "0.index");

/** Replaces the program of the gate, as a test that a gate ran could. */
function replace(path: string): void {
  writeFileSync(join(path, "n"), "#!/bin/sh\nexit 0\n");
  renameSync(join(path, "n"), join(path, "gate.sh"));
}

function withIndex(path: string, index: string, ...args: string[]): void {
  const env = { ...process.env, GIT_INDEX_FILE: index };
  const { exitCode, stderr } = Bun.spawnSync({ cmd: ["git", ...args], cwd: path, env });
  if (exitCode !== 0) throw new Error(stderr.toString());
}

describe("what a gate wrote beside its checkout is not believed", () => {
  const poisons: Readonly<Record<string, (world: GitMergeWorld, path: string) => void>> = {
    "an index that says to skip the file": (world, path) => {
      replace(path);
      withIndex(path, indexOf(world), "update-index", "--skip-worktree", "gate.sh");
    },
    "an index that says to assume that the file is unchanged": (world, path) => {
      replace(path);
      withIndex(path, indexOf(world), "update-index", "--assume-unchanged", "gate.sh");
    },
    "an index with the stat of the changed file": (world, path) => {
      const blob = world.tip("main:gate.sh");
      replace(path);
      // Older than the index, or git would look twice.
      utimesSync(join(path, "gate.sh"), 1_000_000_000, 1_000_000_000);
      // The entry gets the stat of the new content, then the name of the old one.
      const other = join(world.root, "..", "other.index");
      const changed = Bun.spawnSync({ cmd: ["git", "hash-object", "gate.sh"], cwd: path })
        .stdout.toString()
        .trim();
      copyFileSync(indexOf(world), other);
      withIndex(path, other, "update-index", "gate.sh");
      const bytes = Buffer.from(readFileSync(other));
      const at = bytes.indexOf(Buffer.from(changed, "hex"));
      Buffer.from(blob, "hex").copy(bytes, at);
      const body = bytes.subarray(0, bytes.length - 20);
      const sum = new Bun.CryptoHasher("sha1").update(body).digest();
      writeFileSync(indexOf(world), Buffer.concat([body, sum]));
    },
    "a state of the slot that is made unreadable": (world, path) => {
      replace(path);
      chmodSync(join(world.pool, "state"), 0);
    },
    "a file where the state of the slot was": (world, path) => {
      replace(path);
      rmSync(join(world.pool, "state"), { recursive: true });
      writeFileSync(join(world.pool, "state"), "");
    },
    "a pipe where the index was": (world, path) => {
      replace(path);
      rmSync(indexOf(world));
      Bun.spawnSync({ cmd: ["mkfifo", indexOf(world)] });
    },
    "a directory where the index was": (world, path) => {
      replace(path);
      rmSync(indexOf(world));
      mkdirSync(indexOf(world));
    },
    "an index lock that is a directory": (world, path) => {
      replace(path);
      mkdirSync(join(`${indexOf(world)}.lock`, "full"), { recursive: true });
    },
  };
  for (const [what, poison] of Object.entries(poisons)) {
    test(what, async () => {
      using world = gitMergeWorld({ files });
      const main = world.tip("main");
      const bad = world.branch("bad", () => world.write(world.root, "src/a.ts", "bad\n"));
      const { path } = await world.merging.checkOut(0, main);
      poison(world, path);
      await world.merging.checkOut(0, bad);
      expect(world.read(path, "gate.sh")).toBe(files["gate.sh"]);
      expect(world.read(path, "src/a.ts")).toBe("bad\n");
    });
  }

  test("nor by the next engine, which did not see it being written", async () => {
    using world = gitMergeWorld({ files });
    const main = world.tip("main");
    const { path } = await world.merging.checkOut(0, main);
    replace(path);
    const next = join(import.meta.dir, "../merging.ts");
    withIndex(path, indexOf(world), "update-index", "--skip-worktree", "gate.sh");
    const program = `const { gitMerging } = await import(${JSON.stringify(next)});
      const options = { poolDir: ${JSON.stringify(world.pool)}, scratch: ${JSON.stringify(world.scratch)} };
      await gitMerging(${JSON.stringify(world.root)}, options).checkOut(0, ${JSON.stringify(main)});`;
    const { exitCode, stderr } = Bun.spawnSync({ cmd: [process.execPath, "-e", program] });
    expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
    expect(world.read(path, "gate.sh")).toBe(files["gate.sh"]);
  });
});

describe("a tracked file that was written is written again", () => {
  test("though its size and its time of change are as before, and the user's git looks at nothing else", async () => {
    using world = gitMergeWorld({ files });
    const settings = join(world.root, "..", "settings");
    writeFileSync(settings, "[core]\n\tcheckStat = minimal\n\ttrustctime = false\n");
    const before = process.env.GIT_CONFIG_GLOBAL;
    process.env.GIT_CONFIG_GLOBAL = settings;
    try {
      const merging = gitMerging(world.root, { poolDir: world.pool, scratch: world.scratch });
      const main = world.tip("main");
      await merging.checkOut(0, main);
      const file = join(world.pool, "0", "src/a.ts");
      // An index that is younger than the file does not make git look twice.
      utimesSync(file, 1_000_000_000, 1_000_000_000);
      withIndex(join(world.pool, "0"), indexOf(world), "update-index", "--refresh");
      await merging.checkOut(0, main);
      const { atime, mtime } = lstatSync(file);
      writeFileSync(file, "b\n");
      utimesSync(file, atime, mtime);
      await merging.checkOut(0, main);
      expect(world.read(join(world.pool, "0"), "src/a.ts")).toBe("a\n");
    } finally {
      if (before === undefined) delete process.env.GIT_CONFIG_GLOBAL;
      else process.env.GIT_CONFIG_GLOBAL = before;
    }
  });

  test("and no other name of it leads into the next checkout", async () => {
    using world = gitMergeWorld({ files });
    const main = world.tip("main");
    const { path } = await world.merging.checkOut(0, main);
    const other = join(world.root, "..", "other-name");
    linkSync(join(path, "gate.sh"), other);
    await world.merging.checkOut(0, main);
    writeFileSync(other, "#!/bin/sh\nexit 0\n");
    expect(world.read(path, "gate.sh")).toBe(files["gate.sh"]);
  });

  test("and one that was not written stays as it is", async () => {
    using world = gitMergeWorld({ files });
    const main = world.tip("main");
    const { path } = await world.merging.checkOut(0, main);
    const before = lstatSync(join(path, "gate.sh"));
    const other = world.branch("other", () => world.write(world.root, "src/a.ts", "other\n"));
    await world.merging.checkOut(0, other);
    await world.merging.checkOut(0, main, undefined);
    const { ino, ctimeMs } = lstatSync(join(path, "gate.sh"));
    expect({ ino, ctimeMs }).toEqual({ ino: before.ino, ctimeMs: before.ctimeMs });
    expect(readdirSync(path).toSorted()).toEqual([".git", ".gitignore", "gate.sh", "src"]);
  });
});

describe("an object that does not have the content of its id is refused by name", () => {
  const swaps: Readonly<
    Record<string, (world: GitMergeWorld, bad: string) => { id: string; type: string; text: Buffer }>
  > = {
    "a file": (world, bad) => ({ id: world.tip(`${bad}:src/a.ts`), type: "blob", text: Buffer.from("fine\n") }),
    "a directory": (world, bad) => ({
      id: world.tip(`${bad}:src`),
      type: "tree",
      text: Buffer.concat([Buffer.from("100644 a.ts\0"), Buffer.from(world.tip("main:src/a.ts"), "hex")]),
    }),
  };
  for (const [what, swap] of Object.entries(swaps)) {
    test(what, async () => {
      using world = gitMergeWorld({ files });
      const main = world.tip("main");
      const bad = world.branch("bad", () => world.write(world.root, "src/a.ts", "BAD!\n"));
      world.git(world.root, "branch", "target", main);
      const { path } = await world.merging.checkOut(0, main);
      const { id, type, text } = swap(world, bad);
      const object = join(world.root, ".git/objects", id.slice(0, 2), id.slice(2));
      const right = readFileSync(object);
      chmodSync(object, 0o600);
      writeFileSync(object, deflateSync(Buffer.concat([Buffer.from(`${type} ${text.length}\0`), text])));
      const landing = [{ ref: "refs/heads/target", from: main, to: bad }];
      await expect(world.merging.checkOut(0, bad)).rejects.toThrow(id);
      await expect(world.merging.updateRefs(landing, "landing")).rejects.toThrow(id);
      expect(world.tip("target")).toBe(main);
      writeFileSync(object, right);
      await world.merging.checkOut(0, bad);
      expect(world.read(path, "src/a.ts")).toBe("BAD!\n");
      expect(await world.merging.updateRefs(landing, "landing")).toEqual({ kind: "updated" });
    });
  }

  test("also one of the target that a gate swapped, when its file is written again", async () => {
    using world = gitMergeWorld({ files });
    const main = world.tip("main");
    const { path } = await world.merging.checkOut(0, main);
    const id = world.tip("main:gate.sh");
    const object = join(world.root, ".git/objects", id.slice(0, 2), id.slice(2));
    chmodSync(object, 0o600);
    const text = "#!/bin/sh\nexit 0\n";
    writeFileSync(object, deflateSync(Buffer.from(`blob ${text.length}\0${text}`)));
    replace(path);
    await expect(world.merging.checkOut(0, main)).rejects.toThrow(id);
  });
});
