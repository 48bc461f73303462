import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type GitMergeWorld, gitMergeWorld } from "../../testkit/git-merge-world.ts";
import type { Gate } from "../domain/gate/gate.ts";
import type { MergeFacet } from "../surfaces/cli/facets/merge.ts";
import { makeMergeFacet } from "./merge-facet.ts";
import type { Project } from "./project.ts";

const gate = (name: string, paths: readonly string[]): Gate => ({
  name,
  command: "true",
  timeoutMs: 1000,
  required: true,
  paths,
});

const facetOf = (world: GitMergeWorld): MergeFacet => {
  const generated = [{ paths: ["made.txt"], command: "make made.txt" }];
  const qualityGates = [gate("Tests", []), gate("Docs", ["docs/**"])];
  const config = {
    project: { qualityGates },
    merge: { structured: { enabled: true }, generated },
  } as unknown as Project["config"];
  const dir = join(world.root, "..", "state");
  mkdirSync(dir, { recursive: true });
  return makeMergeFacet({ root: world.root, dir, env: {}, config, warnings: [], notices: [] });
};

const write = (world: GitMergeWorld, path: string, text: string) => (): void => {
  mkdirSync(join(world.root, path, ".."), { recursive: true });
  writeFileSync(join(world.root, path), text);
};

const named = (...branches: readonly string[]) => ({
  target: "main",
  runId: null,
  landings: [],
  candidates: branches.map((branch) => ({ branch, headCommit: "" })),
});

/** Everything in the repository that could have changed. */
const pictureOf = (world: GitMergeWorld) =>
  ["count-objects -v", "for-each-ref", "status --porcelain=v2 --branch", "stash list", "worktree list"].map((line) =>
    world.git(world.root, ...line.split(" ")),
  );

test("branches are predicted one upon the other, as a train would merge them, and nothing is left behind", async () => {
  using world = gitMergeWorld({ files: { "a.txt": "one\ntwo\n", "package.json": '{\n  "name": "x",\n  "a": 1\n}\n' } });
  world.branch("first", write(world, "a.txt", "ONE\ntwo\n"));
  world.branch("second", write(world, "a.txt", "uno\ntwo\n"));
  world.branch("third", write(world, "docs/c.md", "text\n"));
  const before = pictureOf(world);
  const facet = facetOf(world);
  const predictions = await facet.predict(named("first", "second", "third", "gone"));
  expect(predictions).toMatchObject([
    { predictedTier: "clean-merge", wouldRequireAgent: false, gatesLikely: ["Tests"], cause: null },
    {
      predictedTier: "ai-resolve",
      wouldRequireAgent: true,
      conflictFiles: ["a.txt"],
      gatesLikely: [],
      cause: "conflict",
    },
    { predictedTier: "clean-merge", gatesLikely: ["Tests", "Docs"] },
    { predictedTier: "ai-resolve", conflictFiles: [], cause: "missing_ref", wouldRequireAgent: true },
  ]);
  expect(predictions[1]?.reason).toStartWith("a.txt: ");
  expect(predictions[3]?.reason).toStartWith("prediction-failed: ");
  expect((await facet.predict(named("second")))[0]).toMatchObject({ predictedTier: "clean-merge" });
  expect(pictureOf(world)).toEqual(before);
});

test("a conflict that a rule settles is predicted with the rule", async () => {
  using world = gitMergeWorld({ files: { "package.json": '{\n  "name": "x",\n  "version": "1.0.0"\n}\n' } });
  world.branch("left", write(world, "package.json", '{\n  "name": "x",\n  "version": "1.0.0",\n  "left": 1\n}\n'));
  world.branch("right", write(world, "package.json", '{\n  "name": "x",\n  "version": "1.0.0",\n  "right": 2\n}\n'));
  const [, second] = await facetOf(world).predict(named("left", "right"));
  expect(second).toMatchObject({
    predictedTier: "auto-resolve",
    wouldRequireAgent: false,
    conflictFiles: ["package.json"],
    cause: null,
    strategy: expect.stringMatching(/./),
  });
});

test("a file that a command makes is predicted to be made again", async () => {
  using world = gitMergeWorld({ files: { "made.txt": "0\n" } });
  world.branch("left", write(world, "made.txt", "1\n"));
  world.branch("right", write(world, "made.txt", "2\n"));
  const [, second] = await facetOf(world).predict(named("left", "right"));
  expect(second).toMatchObject({ predictedTier: "auto-resolve", strategy: "regenerate", conflictFiles: ["made.txt"] });
});

test("what is contained, what has no history in common and a target that is not there have their own words", async () => {
  using world = gitMergeWorld({ files: { "a.txt": "a\n" } });
  world.git(world.root, "branch", "same", "main");
  world.git(world.root, "checkout", "--quiet", "--orphan", "alien");
  world.git(world.root, "commit", "--quiet", "--allow-empty", "-m", "alone");
  world.git(world.root, "checkout", "--quiet", "--force", "main");
  const facet = facetOf(world);
  expect(await facet.predict(named("same", "alien"))).toMatchObject([
    { predictedTier: "clean-merge", reason: "already contained", gatesLikely: [] },
    { predictedTier: "ai-resolve", cause: "no_common_history", wouldRequireAgent: true },
  ]);
  expect(await facet.predict({ ...named("same"), target: "nowhere" })).toMatchObject([{ cause: "missing_ref" }]);
});

test("while the target is checked out, predictions are about the branch on which work waits instead", async () => {
  using world = gitMergeWorld({ files: { "a.txt": "a\n" } });
  world.branch("overstory/integration/run-1", write(world, "a.txt", "landed\n"));
  world.branch("mine", write(world, "a.txt", "mine\n"));
  const facet = facetOf(world);
  const landings = ["overstory/integration/run-1"];
  expect(await facet.predict({ ...named("mine"), landings })).toMatchObject([{ cause: "conflict" }]);
  world.git(world.root, "checkout", "--quiet", "--detach");
  expect(await facet.predict({ ...named("mine"), landings })).toMatchObject([{ cause: null }]);
});

test("heads, branches, changed files and patches are read from git; names that only look like refs are no branches", async () => {
  using world = gitMergeWorld({ files: { "a.txt": "a\n" } });
  const head = world.branch("feature", write(world, "b.txt", "b\n"));
  const facet = facetOf(world);
  expect(await facet.head("feature")).toEqual({ ok: true, value: head });
  expect(await facet.head("featur")).toMatchObject({ ok: false, refusal: { noun: "branch", nearest: "feature" } });
  for (const odd of ["HEAD", "feature^", "--all", ""]) expect((await facet.head(odd)).ok).toBe(false);
  expect(await facet.branches()).toEqual(["feature", "main"]);
  expect(await facet.changedFiles("main", { branch: "feature", commit: head })).toEqual(["b.txt"]);
  const entry = { branch: "feature", headCommit: head, targetBranch: "main", resultCommit: null };
  const patch = await facet.patch(entry);
  expect(patch.ok && patch.value).toContain("+++ b/b.txt");
  world.git(world.root, "merge", "--quiet", "--no-ff", "-m", "merged", "feature");
  const landed = await facet.patch({ ...entry, resultCommit: world.tip("main") });
  expect(landed).toEqual(patch);
});
