import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gitMergeWorld } from "../../../../testkit/git-merge-world.ts";
import { files, install, installed, listing, roots } from "../../../../testkit/kept-set-world.ts";
import type { KeepTerms } from "../../../ports/merge-git.ts";

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
