import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { conflictsOf, type GitMergeWorld, gitMergeWorld, lines, treeOf } from "../../../../testkit/git-merge-world.ts";

/** Two branches of `main`, made by these edits. */
function sides(world: GitMergeWorld, ours: () => void, theirs: () => void): readonly [string, string] {
  return [world.branch("ours", ours), world.branch("theirs", theirs)];
}

describe("a clean merge", () => {
  test("has both sides' work, and leaves checkout, index and refs alone", async () => {
    using world = gitMergeWorld({ files: { "f.txt": lines(), "keep.txt": "k\n" } });
    const [ours, theirs] = sides(
      world,
      () => world.write(world.root, "f.txt", lines([2, "two"])),
      () => world.write(world.root, "f.txt", lines([28, "end"])),
    );
    world.write(world.root, "keep.txt", "dirty\n");
    world.write(world.root, "staged.txt", "staged\n");
    world.git(world.root, "add", "staged.txt");
    const before = [world.git(world.root, "status", "--porcelain=v2", "--branch"), world.git(world.root, "show-ref")];
    const tree = treeOf(await world.merging.merge(ours, theirs));
    expect(`${world.show(tree, "f.txt")}\n`).toBe(lines([2, "two"], [28, "end"]));
    expect([world.git(world.root, "status", "--porcelain=v2", "--branch"), world.git(world.root, "show-ref")]).toEqual(
      before,
    );
  });

  test("chains onto commits that no ref has", async () => {
    using world = gitMergeWorld();
    const { merging } = world;
    let tip = world.tip("main");
    for (const name of ["a", "b", "c"]) {
      const theirs = world.branch(name, () => world.write(world.root, `${name}.txt`, name));
      const tree = treeOf(await merging.merge(tip, theirs));
      tip = await merging.commit({ tree, parents: [tip, theirs], message: `merge ${name}` });
      expect(await merging.contains(tip, theirs)).toBe(true);
    }
    expect(world.git(world.root, "ls-tree", "--name-only", tip).split("\n")).toEqual(
      expect.arrayContaining(["a.txt", "b.txt", "c.txt"]),
    );
  });

  test("works on objects named by SHA-256", async () => {
    using world = gitMergeWorld({ format: "sha256" });
    const [ours, theirs] = sides(
      world,
      () => world.write(world.root, "a", "a\n"),
      () => world.write(world.root, "b", "b\n"),
    );
    const tree = treeOf(await world.merging.merge(ours, theirs));
    expect(tree).toHaveLength(64);
    const resolved = await world.merging.withFiles(tree, [{ path: "a", mode: "100644", content: null }]);
    expect(world.git(world.root, "ls-tree", "--name-only", resolved).split("\n")).not.toContain("a");
  });

  test("keeps CRLF, empty files and the executable bit as they are", async () => {
    using world = gitMergeWorld({ files: { "crlf.txt": lines().replaceAll("\n", "\r\n"), "run.sh": "x\n" } });
    const [ours, theirs] = sides(
      world,
      () => {
        world.write(world.root, "crlf.txt", lines([1, "ours"]).replaceAll("\n", "\r\n"));
        world.write(world.root, "empty", "");
      },
      () => {
        world.write(world.root, "crlf.txt", lines([25, "theirs"]).replaceAll("\n", "\r\n"));
        chmodSync(join(world.root, "run.sh"), 0o755);
      },
    );
    const tree = treeOf(await world.merging.merge(ours, theirs));
    const blob = await world.merging.readBlob(world.tip(`${tree}:crlf.txt`));
    expect(Buffer.from(blob).toString()).toBe(lines([1, "ours"], [25, "theirs"]).replaceAll("\n", "\r\n"));
    expect(await world.merging.readBlob(world.tip(`${tree}:empty`))).toHaveLength(0);
    expect(world.git(world.root, "ls-tree", tree, "run.sh")).toStartWith("100755");
  });
});

describe("a conflict has the kind that decides who may settle it", () => {
  const base = { "f.txt": lines(), "bin.dat": "\0one", "other.txt": lines([0, "other"]) };

  const kinds: readonly {
    readonly kind: string;
    readonly path: string;
    readonly ours: (world: GitMergeWorld) => void;
    readonly theirs: (world: GitMergeWorld) => void;
  }[] = [
    {
      kind: "content",
      path: "f.txt",
      ours: (world) => world.write(world.root, "f.txt", lines([3, "a"])),
      theirs: (world) => world.write(world.root, "f.txt", lines([3, "b"])),
    },
    {
      kind: "add-add",
      path: "new.txt",
      ours: (world) => world.write(world.root, "new.txt", "a\n"),
      theirs: (world) => world.write(world.root, "new.txt", "b\n"),
    },
    {
      kind: "modify-delete",
      path: "f.txt",
      ours: (world) => rmSync(join(world.root, "f.txt")),
      theirs: (world) => world.write(world.root, "f.txt", lines([3, "b"])),
    },
    {
      kind: "rename",
      path: "f.txt",
      ours: (world) => world.git(world.root, "mv", "f.txt", "a.txt"),
      theirs: (world) => world.git(world.root, "mv", "f.txt", "b.txt"),
    },
    {
      kind: "rename",
      path: "moved.txt",
      ours: (world) => world.git(world.root, "mv", "f.txt", "moved.txt"),
      theirs: (world) => rmSync(join(world.root, "f.txt")),
    },
    {
      kind: "binary",
      path: "bin.dat",
      ours: (world) => world.write(world.root, "bin.dat", "\0two"),
      theirs: (world) => world.write(world.root, "bin.dat", "\0three"),
    },
    {
      kind: "submodule",
      path: "sub",
      ours: (world) => link(world, "1"),
      theirs: (world) => link(world, "2"),
    },
    {
      kind: "symlink",
      path: "to",
      ours: (world) => symlinkSync("a", join(world.root, "to")),
      theirs: (world) => symlinkSync("b", join(world.root, "to")),
    },
    {
      kind: "mode",
      path: "tool",
      ours: (world) => world.write(world.root, "tool", "same\n"),
      theirs: (world) => {
        world.write(world.root, "tool", "same\n");
        chmodSync(join(world.root, "tool"), 0o755);
      },
    },
    {
      kind: "mode",
      path: "f.txt",
      ours: (world) => {
        rmSync(join(world.root, "f.txt"));
        symlinkSync("other.txt", join(world.root, "f.txt"));
      },
      theirs: (world) => world.write(world.root, "f.txt", lines([3, "b"])),
    },
    {
      kind: "file-directory",
      path: "place",
      ours: (world) => world.write(world.root, "place", "a file\n"),
      theirs: (world) => world.write(world.root, "place/inside.txt", "in a directory\n"),
    },
  ];

  for (const { kind, path, ours, theirs } of kinds) {
    test(`${kind}: ${path}`, async () => {
      using world = gitMergeWorld({ files: base });
      const pair = sides(
        world,
        () => ours(world),
        () => theirs(world),
      );
      const conflicts = conflictsOf(await world.merging.merge(...pair));
      expect(conflicts.find((conflict) => conflict.path === path)?.kind).toBe(kind as never);
      expect(conflicts.every(({ message }) => message !== "")).toBe(true);
      const [batched] = await world.merging.mergePairs([{ ours: pair[0], theirs: pair[1] }]);
      expect(batched).toEqual(await world.merging.merge(...pair));
    });
  }

  /** The directory of a submodule that is not checked out. */
  function link(world: GitMergeWorld, digit: string): void {
    mkdirSync(join(world.root, "sub"));
    world.git(world.root, "update-index", "--add", "--cacheinfo", `160000,${digit.repeat(40)},sub`);
  }

  test("a directory renamed on one side and filled on the other is a matter of renames", async () => {
    using world = gitMergeWorld({ files: { "old/a": lines(), "old/b": lines([1, "b"]), "old/c": lines([1, "c"]) } });
    const pair = sides(
      world,
      () => world.git(world.root, "mv", "old", "new"),
      () => world.write(world.root, "old/d", "d\n"),
    );
    const merge = await world.merging.merge(...pair);
    expect(conflictsOf(merge).map(({ kind, path }) => `${kind} ${path}`)).toEqual(["rename new/d"]);
  });

  test("a content conflict carries its three versions, and every one can be read", async () => {
    using world = gitMergeWorld({ files: base });
    const pair = sides(
      world,
      () => world.write(world.root, "f.txt", lines([3, "a"])),
      () => world.write(world.root, "f.txt", lines([3, "b"])),
    );
    const [conflict] = conflictsOf(await world.merging.merge(...pair));
    const read = async (oid: string | undefined): Promise<string> =>
      Buffer.from(await world.merging.readBlob(oid ?? "")).toString();
    expect(await read(conflict?.base?.oid)).toBe(lines());
    expect(await read(conflict?.ours?.oid)).toBe(lines([3, "a"]));
    expect(await read(conflict?.theirs?.oid)).toBe(lines([3, "b"]));
  });

  test("a path whose name is not text is reported, but is nobody's to settle by rule", async () => {
    using world = gitMergeWorld();
    const name = Buffer.concat([Buffer.from(`${world.root}/x`), Buffer.of(0xff), Buffer.from(".txt")]);
    const pair = sides(
      world,
      () => writeFileSync(name, "a\n"),
      () => writeFileSync(name, "b\n"),
    );
    expect(conflictsOf(await world.merging.merge(...pair))).toMatchObject([{ kind: "other", path: "x\uFFFD.txt" }]);
  });
});

describe("names of files", () => {
  const names = [
    "with space.txt",
    'quo"te.txt',
    "new\nline.txt",
    "tab\there.txt",
    "ünï/çödé 日本.txt",
    "-dash",
    ":colon",
    "*star?[x]",
    "x".repeat(255),
    "back\\slash",
  ];

  test("come back unchanged from a conflict, and can be replaced", async () => {
    using world = gitMergeWorld();
    const put = (text: string): void => {
      for (const name of names) world.write(world.root, name, text);
    };
    const pair = sides(
      world,
      () => put("a\n"),
      () => put("b\n"),
    );
    const merge = await world.merging.merge(...pair);
    const conflicts = conflictsOf(merge);
    expect(conflicts.map(({ path }) => path).toSorted()).toEqual(names.toSorted());
    const files = conflicts.map(({ path, kind }) => ({ path, mode: "100644", content: Buffer.from(`${kind}\n`) }));
    const tree = await world.merging.withFiles(merge.kind === "conflicts" ? merge.tree : "", files);
    const commit = await world.merging.commit({ tree, parents: pair, message: "m" });
    for (const name of names) expect(world.git(world.root, "cat-file", "blob", `${commit}:${name}`)).toBe("add-add");
    expect((await world.merging.changedFiles(pair[0], commit)).toSorted()).toEqual(names.toSorted());
    expect(world.git(world.root, "fsck", "--no-dangling")).toBe("");
  });

  test("of whatever characters survive", async () => {
    using world = gitMergeWorld();
    const tree = await world.merging.treeOf(world.tip("main"));
    const name = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 20 })
      .map((text) => `d/${text.replaceAll(/[\0/]/g, "_")}x`)
      .filter((text) => Buffer.from(text).toString() === text && !/\/\.{0,2}x?$/.test(text));
    await fc.assert(
      fc.asyncProperty(name, fc.uint8Array({ maxLength: 50 }), async (path, content) => {
        const made = await world.merging.withFiles(tree, [{ path, mode: "100644", content }]);
        const commit = await world.merging.commit({ tree: made, parents: [world.tip("main")], message: "m" });
        expect(await world.merging.changedFiles(world.tip("main"), commit)).toEqual([path]);
      }),
      { numRuns: 15 },
    );
  }, 120_000);
});

describe("attributes of ours decide", () => {
  const both = (world: GitMergeWorld): readonly [string, string] =>
    sides(
      world,
      () => world.write(world.root, "log/changes.md", "# Log\n- ours\n"),
      () => world.write(world.root, "log/changes.md", "# Log\n- theirs\n"),
    );

  for (const [place, rule] of [
    [".gitattributes", "*.md merge=union\n"],
    ["log/.gitattributes", "changes.md merge=union\n"],
    [".gitattributes", "[attr]both merge=union\nchanges.md both\n"],
  ] as const) {
    test(`union, from ${place}: ${JSON.stringify(rule)}`, async () => {
      using world = gitMergeWorld({ files: { [place]: rule, "log/changes.md": "# Log\n" } });
      const pair = both(world);
      const tree = treeOf(await world.merging.merge(...pair));
      expect(world.show(tree, "log/changes.md")).toBe("# Log\n- ours\n- theirs");
      expect(await world.merging.isUnion(pair[0], "log/changes.md")).toBe(true);
      expect(await world.merging.isUnion(pair[0], "other.txt")).toBe(false);
    });
  }

  test("not those of theirs, nor those of the user's checkout, nor those of the merge before", async () => {
    using world = gitMergeWorld({ files: { "log/changes.md": "# Log\n" } });
    const [ours, theirs] = both(world);
    const withUnion = world.branch(
      "union",
      () => world.write(world.root, ".gitattributes", "*.md merge=union\n"),
      "ours",
    );
    world.write(world.root, ".gitattributes", "*.md merge=union\n");
    expect(treeOf(await world.merging.merge(withUnion, theirs))).toBeString();
    expect(conflictsOf(await world.merging.merge(theirs, withUnion))).toMatchObject([{ kind: "content" }]);
    expect(conflictsOf(await world.merging.merge(ours, theirs))).toHaveLength(1);
    const many = await world.merging.mergePairs([
      { ours, theirs },
      { ours: withUnion, theirs },
      { ours, theirs },
    ]);
    expect(many.map(({ kind }) => kind)).toEqual(["conflicts", "clean", "conflicts"]);
    expect(await world.merging.isUnion(ours, "log/changes.md")).toBe(false);
  });

  test("a file that is declared binary is not merged line by line", async () => {
    using world = gitMergeWorld({ files: { ".gitattributes": "*.lock binary\n", "a.lock": lines() } });
    const pair = sides(
      world,
      () => world.write(world.root, "a.lock", lines([1, "a"])),
      () => world.write(world.root, "a.lock", lines([28, "b"])),
    );
    expect(conflictsOf(await world.merging.merge(...pair))).toMatchObject([{ kind: "binary", path: "a.lock" }]);
  });

  test("also between several common ancestors", async () => {
    using world = gitMergeWorld({ files: { ".gitattributes": "f merge=union\n", f: "1\n2\n3\n" } });
    const a1 = world.branch("a", () => world.write(world.root, "f", "1\na\n3\n"));
    const b1 = world.branch("b", () => world.write(world.root, "f", "1\nb\n3\n"));
    const crossed = async (ours: string, theirs: string): Promise<string> => {
      const tree = treeOf(await world.merging.merge(ours, theirs));
      return await world.merging.commit({ tree, parents: [ours, theirs], message: "crossed" });
    };
    const [a2, b2] = [await crossed(a1, b1), await crossed(b1, a1)];
    expect(world.git(world.root, "merge-base", "--all", a2, b2).split("\n")).toHaveLength(2);
    expect((await world.merging.merge(a2, b2)).kind).toBe("clean");
  });
});

describe("what cannot be merged at all", () => {
  test("histories with nothing in common are called that, alone and among others", async () => {
    using world = gitMergeWorld();
    world.git(world.root, "checkout", "--quiet", "--orphan", "lone");
    world.git(world.root, "commit", "--quiet", "-m", "lone");
    const lone = world.tip("lone");
    world.git(world.root, "checkout", "--quiet", "--force", "main");
    const side = world.branch("side", () => world.write(world.root, "s", "s\n"));
    const main = world.tip("main");
    expect(await world.merging.merge(main, lone)).toEqual({ kind: "unrelated" });
    const results = await world.merging.mergePairs([
      { ours: main, theirs: side },
      { ours: main, theirs: lone },
      { ours: main, theirs: "f".repeat(40) },
      { ours: main, theirs: side },
    ]);
    expect(results.map(({ kind }) => kind)).toEqual(["clean", "unrelated", "failed", "clean"]);
    expect((await world.merging.changedFiles(main, lone)).length).toBeGreaterThan(0);
  });

  test("no pairs make no results", async () => {
    using world = gitMergeWorld();
    expect(await world.merging.mergePairs([])).toEqual([]);
  });
});

test("many merges at once, with different attributes, do not disturb each other", async () => {
  using world = gitMergeWorld({ files: { "c.md": "#\n" } });
  const plain = world.branch("plain", () => world.write(world.root, "c.md", "#\na\n"));
  const union = world.branch("union", () => world.write(world.root, ".gitattributes", "c.md merge=union\n"), "plain");
  const theirs = world.branch("theirs", () => world.write(world.root, "c.md", "#\nb\n"));
  const merges = await Promise.all(
    Array.from({ length: 12 }, (_, at) => world.merging.merge(at % 2 === 0 ? plain : union, theirs)),
  );
  expect(merges.map(({ kind }) => kind)).toEqual(merges.map((_, at) => (at % 2 === 0 ? "conflicts" : "clean")));
  expect(readdirSync(world.scratch).filter((name) => !/^(attributes-[0-9a-z]+|view-[\w-]+)$/.test(name))).toEqual([]);
});
