import { expect, test } from "bun:test";
import { type GitMergeWorld, gitMergeWorld, treeOf } from "../../../../testkit/git-merge-world.ts";

test("five thousand files and large ones are merged in a moment", async () => {
  using world = gitMergeWorld({ files: { "a.txt": "a\n" } });
  const big = `${"0123456789abcdef".repeat(64)}\n`.repeat(5_000);
  const files = (side: string): readonly (readonly [string, string])[] => [
    ...Array.from({ length: 2_500 }, (_, at) => [`${side}/${at % 50}/${at}.txt`, `${side} ${at}\n`] as const),
    [`${side}.dat`, `${big}${side}\n`],
  ];
  const [ours, theirs] = [importBranch(world, "ours", files("ours")), importBranch(world, "theirs", files("theirs"))];
  const started = performance.now();
  const tree = treeOf(await world.merging.merge(ours, theirs));
  // A process for each file would take many times as long.
  expect(performance.now() - started).toBeLessThan(15_000);
  expect(world.git(world.root, "ls-tree", "-r", "--name-only", tree).split("\n")).toHaveLength(5_003);
}, 120_000);

/** Through one pack: thousands of single files would take longer to write than everything else. */
function importBranch(world: GitMergeWorld, name: string, files: readonly (readonly [string, string])[]): string {
  const entries = files.map(([path, text]) => `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`);
  const head = `commit refs/heads/${name}\ncommitter A <a@example.invalid> 0 +0000\ndata 4\nmany\nfrom refs/heads/main\n`;
  const stdin = Buffer.from(`${head}${entries.join("")}\n`);
  const done = Bun.spawnSync({ cmd: ["git", "fast-import", "--quiet"], cwd: world.root, stdin });
  if (done.exitCode !== 0) throw new Error(done.stderr.toString());
  return world.tip(name);
}
