import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type GitMergeWorld, gitMergeWorld } from "../../../../testkit/git-merge-world.ts";
import { files, install, installed, listing, roots } from "../../../../testkit/kept-set-world.ts";
import type { KeepTerms } from "../../../ports/merge-git.ts";
import type { KeptSets } from "./kept-set.ts";
import { decidesInstall } from "./kept-set.ts";

/** Does something to a file and puts its time of change back, to the nanosecond. */
function keepTime(path: string, change: () => void): void {
  Bun.spawnSync({ cmd: ["cp", "-p", path, `${path}.time`] });
  change();
  Bun.spawnSync({ cmd: ["touch", "-r", `${path}.time`, path] });
  unlinkSync(`${path}.time`);
}

describe("whatever a gate writes into kept directories, the next one starts from what setup made", () => {
  const file = "node_modules/dep/index.js";
  const attacks: Readonly<Record<string, (path: string, world: GitMergeWorld) => void>> = {
    "other content": (path) => writeFileSync(join(path, file), "evil and longer\n"),
    "content of the same length, with the time put back": (path) => {
      keepTime(join(path, file), () => writeFileSync(join(path, file), "evil\n"));
    },
    "another file of the same name, length and time": (path) => {
      keepTime(join(path, file), () => {
        writeFileSync(join(path, "evil"), "evil\n");
        renameSync(join(path, "evil"), join(path, file));
      });
    },
    "a new file": (path) => writeFileSync(join(path, "node_modules/dep/package.json"), "{}"),
    "a new package": (path) => {
      mkdirSync(join(path, "node_modules/evil/lib"), { recursive: true });
      writeFileSync(join(path, "node_modules/evil/lib/index.js"), "evil\n");
    },
    "a file with a name that is no text": (path) =>
      writeFileSync(Buffer.concat([Buffer.from(`${path}/node_modules/dep/`), Buffer.of(0xff)]), "evil\n"),
    "a file deleted": (path) => unlinkSync(join(path, file)),
    "a directory deleted": (path) => rmSync(join(path, "node_modules/dep"), { recursive: true }),
    "everything deleted": (path) => rmSync(join(path, "node_modules"), { recursive: true }),
    "another mode of a file": (path) => chmodSync(join(path, "node_modules/dep/run"), 0o644),
    "another mode of a directory": (path) => chmodSync(join(path, "node_modules/dep/lib"), 0o000),
    "a directory that is a link to another place": (path, world) => {
      const outside = join(world.root, "..", "outside");
      renameSync(join(path, "node_modules/dep"), outside);
      writeFileSync(join(outside, "index.js"), "evil\n");
      symlinkSync(outside, join(path, "node_modules/dep"));
    },
    "a kept directory that is a link itself": (path, world) => {
      const outside = join(world.root, "..", "outside");
      renameSync(join(path, "node_modules"), outside);
      writeFileSync(join(outside, "dep/index.js"), "evil\n");
      symlinkSync(outside, join(path, "node_modules"));
    },
    "a link that leads elsewhere": (path) => {
      unlinkSync(join(path, "node_modules/.bin/run"));
      symlinkSync("/bin/true", join(path, "node_modules/.bin/run"));
    },
    "a file in place of a directory": (path) => {
      rmSync(join(path, "node_modules/dep/lib"), { recursive: true });
      writeFileSync(join(path, "node_modules/dep/lib"), "evil\n");
    },
    "a pipe in place of a file": (path) => {
      unlinkSync(join(path, file));
      Bun.spawnSync({ cmd: ["mkfifo", join(path, file)] });
    },
    "a second name of a file, to write to it later": (path, world) =>
      linkSync(join(path, file), join(world.root, "..", "second-name")),
    "our record of the checkout, to match the change": (path, world) => {
      writeFileSync(join(path, file), "evil\n");
      const record = join(world.pool, "state/0.kept");
      const { id, entries } = JSON.parse(readFileSync(record, "utf8"));
      const stat = lstatSync(join(path, file));
      for (const [name, entry] of entries)
        if (name === file) Object.assign(entry, { mtime: stat.mtimeMs, ctime: stat.ctimeMs, size: stat.size });
      writeFileSync(record, JSON.stringify({ id, entries }));
    },
  };

  for (const [what, attack] of Object.entries(attacks)) {
    test(what, async () => {
      using world = gitMergeWorld({ files });
      const { path, main, keep } = await installed(world);
      const before = roots.map((root) => listing(join(path, root)));
      attack(path, world);
      const other = world.branch("other", () => world.write(world.root, "src/b.ts", "b\n"));
      for (const commit of [other, main]) {
        const checkout = await world.merging.checkOut(0, commit, keep);
        expect(checkout).toMatchObject({ path, kept: roots, cached: [], installOn: null });
        expect(roots.map((root) => listing(join(path, root)))).toEqual(before);
      }
      // What was left behind elsewhere reaches nothing in the checkout.
      const second = join(world.root, "..", "second-name");
      if (existsSync(second)) writeFileSync(second, "evil\n");
      expect(readFileSync(join(path, file), "utf8")).toBe("good\n");
    });
  }

  test("also between two gates on the same commit, where the first one's other files stay", async () => {
    using world = gitMergeWorld({ files });
    const { path, main, keep } = await installed(world);
    await world.merging.checkOut(0, main, keep);
    writeFileSync(join(path, file), "evil\n");
    world.write(path, "dist/out.js", "built\n");
    world.write(path, "src/a.ts", "changed\n");
    await world.merging.checkOut(0, main, { ...keep, rest: "stays" });
    expect(["dist/out.js", "src/a.ts", file].map((name) => world.read(path, name))).toEqual([
      "built\n",
      "a\n",
      "good\n",
    ]);
    await world.merging.checkOut(0, main, keep);
    expect(existsSync(join(path, "dist"))).toBe(false);
  });

  test("only what differs is replaced", async () => {
    using world = gitMergeWorld({ files });
    const { path, main, keep } = await installed(world);
    const inodes = (): readonly number[] =>
      ["dep/index.js", "dep/lib/deep.js"].map((name) => lstatSync(join(path, "node_modules", name)).ino);
    const before = inodes();
    writeFileSync(join(path, file), "evil\n");
    await world.merging.checkOut(0, main, keep);
    expect(inodes()[1]).toBe(before[1] ?? 0);
    const after = inodes();
    await world.merging.checkOut(0, main, keep);
    expect(inodes()).toEqual(after);
  });

  test("a private copy that was written to is not used: setup has to run again", async () => {
    using world = gitMergeWorld({ files });
    const { path, main, keep } = await installed(world);
    const [set = ""] = readdirSync(join(world.pool, "kept"));
    writeFileSync(join(world.pool, "kept", set, "files", file), "evil\n");
    unlinkSync(join(path, file));
    expect(await world.merging.checkOut(0, main, keep)).toMatchObject({ kept: [], installOn: main });
    expect(existsSync(join(path, "node_modules"))).toBe(false);
    expect(readdirSync(join(world.pool, "kept"))).toEqual([]);
  });

  describe("an engine that starts anew", () => {
    /** The same code without what this process remembers. */
    const another = async (world: GitMergeWorld): Promise<KeptSets> => {
      const again: string = `./kept-set.ts?${crypto.randomUUID()}`;
      const module = (await import(again)) as typeof import("./kept-set.ts");
      return module.keptSets(world.pool, 0);
    };
    const setIn = (world: GitMergeWorld): string => {
      const [name = ""] = readdirSync(join(world.pool, "kept"));
      return join(world.pool, "kept", name);
    };
    const idOf = (world: GitMergeWorld): string => setIn(world).slice(join(world.pool, "kept", "0-").length);

    test("uses what is still as it was made", async () => {
      using world = gitMergeWorld({ files });
      await installed(world);
      expect((await another(world)).find(idOf(world))).toMatchObject({ roots: expect.any(Array) });
    });

    const changes: Readonly<Record<string, (world: GitMergeWorld) => void>> = {
      "a file of the copy was written to": (world) =>
        writeFileSync(join(setIn(world), "files/node_modules/dep/index.js"), "evil\n"),
      "a file was added to the copy": (world) =>
        writeFileSync(join(setIn(world), "files/node_modules/dep/more.js"), "evil\n"),
      "a file of the copy is gone": (world) => rmSync(join(setIn(world), "files/node_modules/dep/index.js")),
      "the record was written over": (world) => {
        const record = join(setIn(world), "record");
        keepTime(record, () => writeFileSync(record, readFileSync(record)));
      },
      "the record and the copy were written over": (world) => {
        const record = join(setIn(world), "record");
        const file = join(setIn(world), "files/node_modules/dep/index.js");
        writeFileSync(file, "evil\n");
        const stored = JSON.parse(readFileSync(record, "utf8"));
        const { mtimeMs: mtime, ctimeMs: ctime, ino: inode, size } = lstatSync(file);
        for (const entry of stored.entries) {
          if (entry[0] === "node_modules/dep/index.js") entry[1] = { ...entry[1], mtime, ctime, inode, size };
        }
        writeFileSync(record, JSON.stringify(stored));
      },
      "the pool was copied": (world) => {
        Bun.spawnSync({ cmd: ["cp", "-a", world.pool, `${world.pool}.copy`] });
        rmSync(world.pool, { recursive: true });
        renameSync(`${world.pool}.copy`, world.pool);
      },
    };
    for (const [what, change] of Object.entries(changes)) {
      test(`has setup run again where ${what}`, async () => {
        using world = gitMergeWorld({ files });
        await installed(world);
        change(world);
        expect((await another(world)).find(idOf(world))).toBeUndefined();
      });
    }
  });

  test("files that setup linked into a store of other projects are cut loose from it", async () => {
    using world = gitMergeWorld({ files });
    const main = world.tip("main");
    const keep: KeepTerms = { keepIgnored: ["node_modules"], cache: [], setup: "x", landed: main, rest: "goes" };
    const { path } = await world.merging.checkOut(0, main, keep);
    const store = join(world.root, "..", "store.js");
    writeFileSync(store, "good\n", { mode: 0o755 });
    mkdirSync(join(path, "node_modules"));
    linkSync(store, join(path, "node_modules/dep.js"));
    await world.merging.keepInstalled(0, main, keep);
    writeFileSync(store, "evil\n");
    expect(world.read(path, "node_modules/dep.js")).toBe("good\n");
    await world.merging.checkOut(0, main, keep);
    expect(world.read(path, "node_modules/dep.js")).toBe("good\n");
    expect(lstatSync(join(path, "node_modules/dep.js")).mode & 0o777).toBe(0o755);
  });

  test("read-only directories, as some package managers make them, are kept and repaired", async () => {
    using world = gitMergeWorld({ files });
    const main = world.tip("main");
    const keep: KeepTerms = { keepIgnored: ["node_modules"], cache: [], setup: "x", landed: main, rest: "goes" };
    const { path } = await world.merging.checkOut(0, main, keep);
    install(path);
    for (const dir of ["node_modules/dep/lib", "node_modules/dep"]) chmodSync(join(path, dir), 0o555);
    await world.merging.keepInstalled(0, main, keep);
    const before = listing(join(path, "node_modules"));
    chmodSync(join(path, "node_modules/dep/lib"), 0o755);
    writeFileSync(join(path, "node_modules/dep/lib/deep.js"), "evil\n");
    chmodSync(join(path, "node_modules/dep/lib"), 0o555);
    await world.merging.checkOut(0, main, keep);
    expect(listing(join(path, "node_modules"))).toEqual(before);
  });
});

test("lock files, manifests and settings of package managers decide what is installed", () => {
  const deciding = ["package.json", "a/package-lock.json", ".npmrc", "requirements-dev.txt", ".cargo/config.toml"];
  expect(deciding.filter((path) => !decidesInstall(path))).toEqual([]);
  expect(["src/a.ts", "README.md", "package.json.md", "requirements.md"].filter(decidesInstall)).toEqual([]);
});
