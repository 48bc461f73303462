import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type GitMergeWorld, gitMergeWorld } from "../../../../testkit/git-merge-world.ts";
import type { KeepTerms } from "../../../ports/merge-git.ts";
import type { KeptSets } from "./kept-set.ts";
import { decidesInstall } from "./kept-set.ts";

const files = {
  "src/a.ts": "a\n",
  "packages/p/index.ts": "p\n",
  "package-lock.json": "{1}\n",
  ".gitignore": "node_modules/\ntarget/\ndist/\n.env\n",
};

const roots = ["node_modules", "packages/p/node_modules"];

/** What setup makes: a library in each directory, a link to it, and a program. */
function install(path: string, mark = "good"): void {
  for (const root of roots) {
    if (!existsSync(join(path, root, ".."))) continue;
    mkdirSync(join(path, root, "dep/lib"), { recursive: true });
    mkdirSync(join(path, root, ".bin"));
    writeFileSync(join(path, root, "dep/index.js"), `${mark}\n`);
    writeFileSync(join(path, root, "dep/lib/deep.js"), `${mark}\n`);
    writeFileSync(join(path, root, "dep/run"), "#!/bin/sh\n", { mode: 0o755 });
    symlinkSync("../dep/run", join(path, root, ".bin/run"));
  }
}

/** Everything below a directory: kind, mode, content. */
function listing(dir: string): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (at: string): void => {
    for (const name of readdirSync(join(dir, at)).toSorted()) {
      const path = at === "" ? name : `${at}/${name}`;
      const stat = lstatSync(join(dir, path));
      const mode = (stat.mode & 0o7777).toString(8);
      if (stat.isSymbolicLink()) found[path] = `link ${readlinkSync(join(dir, path))}`;
      else if (stat.isDirectory()) {
        found[path] = `dir ${mode}`;
        visit(path);
      } else found[path] = `${mode} ${stat.mtimeMs / 1000} ${readFileSync(join(dir, path), "utf8")}`;
    }
  };
  visit("");
  return found;
}

/** Does something to a file and puts its time of change back, to the nanosecond. */
function keepTime(path: string, change: () => void): void {
  Bun.spawnSync({ cmd: ["cp", "-p", path, `${path}.time`] });
  change();
  Bun.spawnSync({ cmd: ["touch", "-r", `${path}.time`, path] });
  unlinkSync(`${path}.time`);
}

interface Installed {
  readonly world: GitMergeWorld;
  readonly main: string;
  readonly path: string;
  readonly keep: KeepTerms;
}

/** A slot in which setup ran on what has landed, and was kept. */
async function installed(world: GitMergeWorld, more: Partial<KeepTerms> = {}): Promise<Installed> {
  const main = world.tip("main");
  const terms = { keepIgnored: ["node_modules", "target"], cache: [], setup: "install" };
  const keep: KeepTerms = { ...terms, landed: main, rest: "goes", ...more };
  const { path, installOn } = await world.merging.checkOut(0, main, keep);
  expect(installOn).toBe(main);
  install(path);
  expect(await world.merging.keepInstalled(0, main, keep)).toEqual({ kind: "kept" });
  return { world, main, path, keep };
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

describe("what setup made is used", () => {
  test("for every tree with the same dependencies, and again when they come back", async () => {
    using world = gitMergeWorld({ files });
    const { path, main, keep } = await installed(world);
    const same = world.branch("same", () => world.write(world.root, "src/b.ts", "b\n"));
    const locked = world.branch("locked", () => {
      world.write(world.root, "package-lock.json", "{2}\n");
      rmSync(join(world.root, "packages"), { recursive: true });
    });
    expect(await world.merging.checkOut(0, same, keep)).toMatchObject({ kept: roots, installOn: null });
    expect(await world.merging.checkOut(0, locked, keep)).toMatchObject({ kept: [], installOn: locked });
    expect(existsSync(join(path, "node_modules"))).toBe(false);
    install(path, "of locked");
    await world.merging.keepInstalled(0, locked, keep);
    expect(await world.merging.checkOut(0, main, keep)).toMatchObject({ kept: roots, installOn: null });
    expect(world.read(path, "node_modules/dep/index.js")).toBe("good\n");
    expect(await world.merging.checkOut(0, locked, keep)).toMatchObject({ kept: ["node_modules"], installOn: null });
    expect(world.read(path, "node_modules/dep/index.js")).toBe("of locked\n");
  });

  test("from a branch for that tree alone, because its own scripts had a part in it", async () => {
    using world = gitMergeWorld({ files });
    const main = world.tip("main");
    const keep: KeepTerms = { keepIgnored: ["node_modules"], cache: [], setup: "x", landed: main, rest: "goes" };
    const evil = world.branch("evil", () => world.write(world.root, "src/postinstall.js", "evil\n"));
    const other = world.branch("other", () => world.write(world.root, "src/b.ts", "b\n"));
    expect(await world.merging.checkOut(0, evil, keep)).toMatchObject({ installOn: main });
    install((await world.merging.checkOut(0, evil, { ...keep, landed: null })).path, "evil");
    await world.merging.keepInstalled(0, evil, { ...keep, landed: null });
    expect(await world.merging.checkOut(0, evil, keep)).toMatchObject({ kept: roots, installOn: null });
    expect(await world.merging.checkOut(0, other, keep)).toMatchObject({ kept: [], installOn: main });
    expect(await world.merging.checkOut(0, main, keep)).toMatchObject({ kept: [], installOn: main });
  });

  test("for three states of the dependencies at most, in each slot its own", async () => {
    using world = gitMergeWorld({ files });
    const { keep } = await installed(world);
    for (let at = 0; at < 6; at++) {
      const commit = world.branch(`l${at}`, () => world.write(world.root, "package-lock.json", `{v${at}}\n`));
      install((await world.merging.checkOut(0, commit, keep)).path, String(at));
      await world.merging.keepInstalled(0, commit, keep);
    }
    expect(readdirSync(join(world.pool, "kept"))).toHaveLength(3);
    expect(await world.merging.checkOut(1, world.tip("l5"), keep)).toMatchObject({
      kept: [],
      installOn: world.tip("l5"),
    });
  });

  test("not where it is tracked, not ignored, or behind a link of the commit", async () => {
    using world = gitMergeWorld({ files });
    const outside = join(world.root, "..", "outside");
    mkdirSync(join(outside, "p"), { recursive: true });
    const tracks = world.branch("tracks", () => {
      world.write(world.root, "node_modules/own.js", "own\n");
      world.git(world.root, "add", "--force", "node_modules/own.js");
    });
    const open = world.branch("open", () => world.write(world.root, ".gitignore", "dist/\n"));
    const linked = world.branch("linked", () => {
      rmSync(join(world.root, "packages"), { recursive: true });
      symlinkSync(outside, join(world.root, "packages"));
    });
    const { path, keep } = await installed(world);
    expect(await world.merging.checkOut(0, tracks, keep)).toMatchObject({ kept: ["packages/p/node_modules"] });
    expect(readdirSync(join(path, "node_modules"))).toEqual(["own.js"]);
    expect(await world.merging.checkOut(0, open, keep)).toMatchObject({ kept: [], installOn: open });
    expect(world.git(path, "status", "--porcelain")).toBe("");
    expect(await world.merging.checkOut(0, linked, keep)).toMatchObject({ kept: ["node_modules"] });
    expect(readdirSync(join(outside, "p"))).toEqual([]);
  });

  test("not when it also leaves files that are not kept: then setup runs on each tree itself", async () => {
    using world = gitMergeWorld({ files });
    const main = world.tip("main");
    const keep: KeepTerms = { keepIgnored: ["node_modules"], cache: [], setup: "x", landed: main, rest: "goes" };
    const other = world.branch("other", () => world.write(world.root, "src/b.ts", "b\n"));
    expect(await world.merging.checkOut(0, other, keep)).toMatchObject({ installOn: main });
    const { path } = await world.merging.checkOut(0, main, keep);
    install(path);
    world.write(path, "dist/built.js", "of main\n");
    expect(await world.merging.keepInstalled(0, main, keep)).toEqual({ kind: "not-kept", left: ["dist"] });
    expect(await world.merging.checkOut(0, other, keep)).toMatchObject({ kept: [], installOn: other });
    const both = { ...keep, keepIgnored: ["node_modules", ".env"] };
    const again = await world.merging.checkOut(0, main, both);
    install(again.path);
    world.write(path, ".env", "KEY=1\n");
    expect(await world.merging.keepInstalled(0, main, both)).toEqual({ kind: "kept" });
    writeFileSync(join(path, ".env"), "KEY=2\n");
    expect(await world.merging.checkOut(0, other, both)).toMatchObject({ kept: [".env", ...roots], installOn: null });
    expect(world.read(path, ".env")).toBe("KEY=1\n");
  });

  test("never without a setup command, and never when nothing may be kept", async () => {
    using world = gitMergeWorld({ files });
    const { main, path, keep } = await installed(world);
    for (const [more, installOn] of [
      [{ setup: undefined }, null],
      [{ keepIgnored: [] }, main],
    ] as const) {
      await world.merging.checkOut(0, main, keep);
      expect(await world.merging.checkOut(0, main, { ...keep, ...more })).toMatchObject({ kept: [], installOn });
      expect(existsSync(join(path, "node_modules"))).toBe(false);
    }
  });

  test("after a crash in the middle of keeping or repairing it", async () => {
    using world = gitMergeWorld({ files });
    const { main, path, keep } = await installed(world);
    const before = listing(join(path, "node_modules"));
    // As killed between the repair of a file and the new record of it.
    const record = readFileSync(join(world.pool, "state/0.kept"));
    writeFileSync(join(path, "node_modules/dep/index.js"), "evil\n");
    await world.merging.checkOut(0, main, keep);
    writeFileSync(join(world.pool, "state/0.kept"), record);
    expect(await world.merging.checkOut(0, main, keep)).toMatchObject({ kept: roots });
    expect(listing(join(path, "node_modules"))).toEqual(before);
    // As killed while the copy was being made.
    mkdirSync(join(world.pool, "kept/0-new/files/node_modules"), { recursive: true });
    const [set = ""] = readdirSync(join(world.pool, "kept")).filter((name) => name !== "0-new");
    rmSync(join(world.pool, "kept", set, "record"));
    expect(await world.merging.checkOut(0, main, keep)).toMatchObject({ kept: [], installOn: main });
    install(path);
    expect(await world.merging.keepInstalled(0, main, keep)).toEqual({ kind: "kept" });
    expect(await world.merging.checkOut(0, main, keep)).toMatchObject({ kept: roots });
  });
});

test("a build cache stays as gates left it, is named, and is no part of what setup made", async () => {
  using world = gitMergeWorld({ files });
  const { main, path, keep } = await installed(world, { cache: ["target"] });
  world.write(path, "target/debug/lib.o", "object\n");
  const other = world.branch("other", () => world.write(world.root, "package-lock.json", "{2}\n"));
  expect(await world.merging.checkOut(0, other, keep)).toMatchObject({ kept: [], cached: ["target"] });
  expect(await world.merging.checkOut(0, main, keep)).toMatchObject({ kept: roots, cached: ["target"] });
  expect(world.read(path, "target/debug/lib.o")).toBe("object\n");
  expect(await world.merging.checkOut(0, main, { ...keep, cache: [] })).toMatchObject({ cached: [] });
  expect(existsSync(join(path, "target"))).toBe(false);
});

test("lock files, manifests and settings of package managers decide what is installed", () => {
  const deciding = ["package.json", "a/package-lock.json", ".npmrc", "requirements-dev.txt", ".cargo/config.toml"];
  expect(deciding.filter((path) => !decidesInstall(path))).toEqual([]);
  expect(["src/a.ts", "README.md", "package.json.md", "requirements.md"].filter(decidesInstall)).toEqual([]);
});
