import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type GitMergeWorld, gitMergeWorld, lines, treeOf } from "../../../../testkit/git-merge-world.ts";

describe("the process that stays for the next merge", () => {
  test("is started when a merge is expected, and makes that merge", async () => {
    using world = gitMergeWorld({ files: { "f.txt": "base\n" } });
    const ours = world.branch("ours", () => world.write(world.root, "a.txt", "a\n"));
    const theirs = world.branch("theirs", () => world.write(world.root, "b.txt", "b\n"));
    await world.merging.expectMerges();
    const started = stayingMergers(world);
    expect(started).toHaveLength(1);
    treeOf(await world.merging.merge(ours, theirs));
    expect(stayingMergers(world)).toEqual(started);
  });

  test("may be asked for where no merge is possible", async () => {
    using world = gitMergeWorld({ files: { "f.txt": "base\n" } });
    rmSync(join(world.root, ".git"), { recursive: true });
    await world.merging.expectMerges();
    await expect(world.merging.merge("main", "main")).rejects.toThrow();
  });

  test("answers merge after merge, with conflicts or without, and says no less than a process of its own", async () => {
    using world = gitMergeWorld({ files: { "f.txt": lines() } });
    const link = (commit: string): string =>
      world.git(world.root, "update-index", "--add", "--cacheinfo", `160000,${commit.repeat(40)},sub`);
    const edits = {
      clean: () => world.write(world.root, "own.txt", "own\n"),
      same: () => world.write(world.root, "f.txt", lines([28, "theirs"])),
      conflict: () => world.write(world.root, "f.txt", lines([2, "theirs"])),
      // Git adds advice to this one.
      submodule: () => link("2"),
    };
    const ours = world.branch("ours", () => {
      world.write(world.root, "f.txt", lines([2, "ours"]));
      link("1");
    });
    const branches = Object.entries(edits).map(([name, edit]) => world.branch(name, edit));
    const asked: (readonly number[])[] = [];
    for (const theirs of [...branches, ...branches.toReversed()]) {
      const [alone] = await world.merging.mergePairs([{ ours, theirs }]);
      expect(await world.merging.merge(ours, theirs)).toEqual(alone ?? { kind: "unrelated" });
      asked.push(stayingMergers(world));
    }
    expect(new Set(asked.map(String)).size).toBe(1);
    expect(asked[0]).toHaveLength(1);
  });

  test("may be killed, and ends when no merge follows", async () => {
    using world = gitMergeWorld({ idleMs: 50 });
    const main = world.tip("main");
    const branches = Array.from({ length: 20 }, (_, at) =>
      world.branch(`b${at}`, () => world.write(world.root, `b${at}.txt`, "b\n")),
    );
    let isOver = false;
    const merges = Promise.all(branches.map((theirs) => world.merging.merge(main, theirs))).finally(() => {
      isOver = true;
    });
    while (!isOver && stayingMergers(world).length === 0) await Bun.sleep(1);
    for (const pid of stayingMergers(world)) process.kill(pid, "SIGKILL");
    const trees = (await merges).map(treeOf);
    expect(trees.map((tree, at) => world.show(tree, `b${at}.txt`))).toEqual(branches.map(() => "b"));
    while (stayingMergers(world).length > 0) await Bun.sleep(5);
  });
});

/** The processes that answer one merge after the other in this world. */
const stayingMergers = ({ scratch }: GitMergeWorld): readonly number[] =>
  readdirSync("/proc").flatMap((name) => {
    try {
      const line = /^\d+$/.test(name) ? readFileSync(`/proc/${name}/cmdline`, "utf8") : "";
      return line.includes(realpathSync(scratch)) && line.includes("merge-tree") ? [Number(name)] : [];
    } catch {
      // It has ended.
      return [];
    }
  });
