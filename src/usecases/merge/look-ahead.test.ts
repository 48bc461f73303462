import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type GitMergeWorld, gitMergeWorld } from "../../../testkit/git-merge-world.ts";
import { lookAheadIn, quickGitIn, worldWith } from "../../../testkit/world.ts";
import type { Gate } from "../../domain/gate/gate.ts";
import { ok } from "../../domain/result.ts";
import type { Settings } from "../../ports/settings.ts";
import { findBranch, listBranches } from "../branches/branches.ts";
import { listChanges } from "../branches/list-changes.ts";
import type { Call } from "../operation.ts";
import { type PatchRequest, type PredictRequest, predictMerges, showPatch } from "./look-ahead.ts";

const gate = (name: string, paths: readonly string[]): Gate => ({
  name,
  command: "true",
  timeoutMs: 1000,
  required: true,
  paths,
});

/** The operations over the real git of a repository. */
function lookingAt({ root }: GitMergeWorld, landings: readonly string[] = []) {
  const call = (async (name: string) => {
    if (name === "merge.landings") return ok({ branches: landings });
    if (name === "merge.readRecord") return ok({ words: [], landed: [], landing: "main", target: "main" });
    throw new Error(`${name} is not expected`);
  }) as Call;
  const generated = [{ paths: ["made.txt"], command: "make made.txt" }];
  const qualityGates = [gate("Tests", []), gate("Docs", ["docs/**"])];
  const settings = { project: { qualityGates }, merge: { structured: { enabled: true }, generated } };
  const world = worldWith({
    call,
    // The parts of the settings that looking ahead reads.
    settings: async () => settings as unknown as Settings,
    quickGit: async () => quickGitIn(root),
    lookAhead: lookAheadIn(root),
  });
  return {
    predict: async (request: PredictRequest) => {
      const predicted = await predictMerges.run(world, request);
      if (!predicted.ok) throw new Error(JSON.stringify(predicted.refusal));
      return predicted.value.predictions;
    },
    head: (branch: string) => findBranch.run(world, { branch }),
    branches: () => listBranches.run(world, {}),
    changedFiles: (target: string, branch: string, commit: string) =>
      listChanges.run(world, { target, branch, commit }),
    patch: (request: PatchRequest) => showPatch.run(world, request),
  };
}

const write = (world: GitMergeWorld, path: string, text: string) => (): void => {
  mkdirSync(join(world.root, path, ".."), { recursive: true });
  writeFileSync(join(world.root, path), text);
};

const named = (...branches: readonly string[]) => ({
  target: "main",
  runId: null,
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
  const looking = lookingAt(world);
  const predictions = await looking.predict(named("first", "second", "third", "gone"));
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
  expect((await looking.predict(named("second")))[0]).toMatchObject({ predictedTier: "clean-merge" });
  expect(pictureOf(world)).toEqual(before);
});

test("a conflict that a rule settles is predicted with the rule", async () => {
  using world = gitMergeWorld({ files: { "package.json": '{\n  "name": "x",\n  "version": "1.0.0"\n}\n' } });
  world.branch("left", write(world, "package.json", '{\n  "name": "x",\n  "version": "1.0.0",\n  "left": 1\n}\n'));
  world.branch("right", write(world, "package.json", '{\n  "name": "x",\n  "version": "1.0.0",\n  "right": 2\n}\n'));
  const [, second] = await lookingAt(world).predict(named("left", "right"));
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
  const [, second] = await lookingAt(world).predict(named("left", "right"));
  expect(second).toMatchObject({ predictedTier: "auto-resolve", strategy: "regenerate", conflictFiles: ["made.txt"] });
});

test("a contained branch, a branch without common history and a missing target have their own words", async () => {
  using world = gitMergeWorld({ files: { "a.txt": "a\n" } });
  world.git(world.root, "branch", "same", "main");
  world.git(world.root, "checkout", "--quiet", "--orphan", "alien");
  world.git(world.root, "commit", "--quiet", "--allow-empty", "-m", "alone");
  world.git(world.root, "checkout", "--quiet", "--force", "main");
  const looking = lookingAt(world);
  expect(await looking.predict(named("same", "alien"))).toMatchObject([
    { predictedTier: "clean-merge", reason: "already contained", gatesLikely: [] },
    { predictedTier: "ai-resolve", cause: "no_common_history", wouldRequireAgent: true },
  ]);
  expect(await looking.predict({ ...named("same"), target: "nowhere" })).toMatchObject([{ cause: "missing_ref" }]);
});

test("while the target is checked out, predictions are about the branch on which work waits instead", async () => {
  using world = gitMergeWorld({ files: { "a.txt": "a\n" } });
  world.branch("overstory/integration/run-1", write(world, "a.txt", "landed\n"));
  world.branch("mine", write(world, "a.txt", "mine\n"));
  const looking = lookingAt(world, ["overstory/integration/run-1"]);
  expect(await looking.predict(named("mine"))).toMatchObject([{ cause: "conflict" }]);
  world.git(world.root, "checkout", "--quiet", "--detach");
  expect(await looking.predict(named("mine"))).toMatchObject([{ cause: null }]);
});

test("heads, branches, changed files and patches are read from git; names that only look like refs are no branches", async () => {
  using world = gitMergeWorld({ files: { "a.txt": "a\n" } });
  const head = world.branch("feature", write(world, "b.txt", "b\n"));
  const looking = lookingAt(world);
  expect(await looking.head("feature")).toEqual({ ok: true, value: { commit: head } });
  expect(await looking.head("featur")).toMatchObject({ ok: false, refusal: { noun: "branch", nearest: "feature" } });
  for (const odd of ["HEAD", "feature^", "--all", ""]) expect((await looking.head(odd)).ok).toBe(false);
  expect(await looking.branches()).toEqual({ ok: true, value: { branches: ["feature", "main"] } });
  expect(await looking.changedFiles("main", "feature", head)).toEqual({ ok: true, value: { files: ["b.txt"] } });
  const entry = { branch: "feature", headCommit: head, targetBranch: "main", resultCommit: null };
  const patch = await looking.patch(entry);
  expect(patch.ok && patch.value.patch).toContain("+++ b/b.txt");
  world.git(world.root, "merge", "--quiet", "--no-ff", "-m", "merged", "feature");
  const landed = await looking.patch({ ...entry, resultCommit: world.tip("main") });
  expect(landed).toEqual(patch);
});
