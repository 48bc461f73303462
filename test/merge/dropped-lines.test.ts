import { expect, test } from "bun:test";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { droppedByMerges } from "../../src/engine/merge/dropped-by-merge.ts";
import { approveMerge } from "../../src/usecases/merge/queue/decide-entry.ts";
import { anAgent, aRun } from "../../testkit/contracts/store/rows.ts";
import { type LandingWorld, landingWorld } from "../../testkit/landing-world.ts";
import { slingNew, untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

const landing = "overstory/integration/main";
const numbers = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
const text = (words: readonly string[]): string => `${words.join("\n")}\n`;
const withWord = (at: string, word: string): string => text(numbers.map((each) => (each === at ? word : each)));

const files = { "words.txt": text(numbers), "other.txt": text(numbers) };

/** One agent's change has landed in both files; another agent began before and has changed a line of `words.txt`. */
async function worldOfTwo(own = "two"): Promise<LandingWorld> {
  const world = await landingWorld({ files, gates: ["true"] });
  const baseCommit = world.tip("main");
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(aRun("r1"));
    for (const name of ["b1", "b2"])
      await tx.agents.reserve(anAgent(name, { branch: name, baseCommit, worktreeKind: "linked", scope: ["*.txt"] }));
  });
  world.branch("b1", () => {
    world.write(world.root, "words.txt", `head of b1\n${withWord("seven", "7 of b1")}`);
    world.write(world.root, "other.txt", withWord("seven", "7 of b1"));
  });
  world.branch("b2", () => world.write(world.root, "words.txt", withWord(own, "of b2")));
  await announce(world, "b1");
  return world;
}

const announce = async (world: LandingWorld, branch: string): Promise<number> => {
  const id = await world.enqueue(branch, { agentName: branch, asker: "parent" });
  await world.work();
  return id;
};

/** Takes in what has landed on the branch b2, and makes these files of it. */
function takeIn(world: LandingWorld, more: readonly string[], made: Readonly<Record<string, string>> = {}): void {
  const git = (...args: string[]): string => world.git(world.root, ...args);
  git("checkout", "--quiet", "b2");
  try {
    git("merge", "--quiet", "--no-commit", "--no-ff", ...more, landing);
  } catch {
    // A conflict, which the files settle.
  }
  for (const [path, content] of Object.entries(made)) world.write(world.root, path, content);
  git("add", "-A");
  git("commit", "--quiet", "-m", "take in what has landed");
  git("checkout", "--quiet", "--force", "main");
}

async function expectLands(world: LandingWorld): Promise<void> {
  expect((await world.entry(await announce(world, "b2"))).status).toBe("merged");
}

async function expectAsked(world: LandingWorld, about: readonly string[]): Promise<void> {
  const id = await announce(world, "b2");
  const { status, approval, causeDetail } = await world.entry(id);
  expect({ status, approval, files: causeDetail?.files }).toEqual({
    status: "pending",
    approval: "waiting",
    files: about,
  });
  expect(causeDetail?.message).toContain(
    `left out lines that others have landed and that git would have taken in: ${about.join(", ")}`,
  );
  expect(causeDetail?.difference).toContain("-7 of b1");
  await world.call(approveMerge, { of: String(id) });
  await world.work();
  expect((await world.entry(id)).status).toBe("merged");
}

test("a merge that kept the branch's own file waits for the operator, though the branch changed that file", async () => {
  await using world = await worldOfTwo();
  takeIn(world, [], { "words.txt": withWord("two", "of b2") });
  await expectAsked(world, ["words.txt"]);
}, 60_000);

test("a merge that kept all files of the branch waits for the operator, though all are within its scope", async () => {
  await using world = await worldOfTwo();
  takeIn(world, ["--strategy=ours"]);
  await expectAsked(world, ["other.txt", "words.txt"]);
}, 60_000);

test("where both sides met at one place, only what was left out at the others is asked about", async () => {
  await using world = await worldOfTwo("seven");
  takeIn(world, ["--strategy-option=ours"]);
  await expectLands(world);
  await using careless = await worldOfTwo("seven");
  takeIn(careless, [], { "words.txt": withWord("seven", "of b2") });
  await expectAsked(careless, ["words.txt"]);
}, 60_000);

test("a merge that took in what has landed lands unasked, whatever later commits do with it", async () => {
  await using world = await worldOfTwo();
  takeIn(world, []);
  world.branch("b2", () => world.write(world.root, "words.txt", withWord("two", "of b2")));
  await expectLands(world);
}, 60_000);

test("a branch whose later commit brought the lines back lands unasked", async () => {
  await using world = await worldOfTwo();
  takeIn(world, ["--strategy=ours"]);
  world.branch("b2", () => {
    world.write(world.root, "words.txt", `head of b1\n${withWord("seven", "7 of b1").replace("two", "of b2")}`);
    world.write(world.root, "other.txt", withWord("seven", "7 of b1"));
  });
  await expectLands(world);
}, 60_000);

test("a file of others that the merge has under another name is not left out", async () => {
  await using world = await worldOfTwo();
  world.branch("b1", () => world.write(world.root, "new.txt", "of b1\n"));
  await announce(world, "b1");
  takeIn(world, []);
  const git = (...args: string[]): string => world.git(world.root, ...args);
  git("checkout", "--quiet", "b2");
  git("mv", "new.txt", "moved.txt");
  git("commit", "--quiet", "--amend", "--no-edit");
  git("checkout", "--quiet", "--force", "main");
  await expectLands(world);
}, 60_000);

/** Merge commits of b2 with its own files, each of which has this commit as its other side. */
function mergeWith(world: LandingWorld, commits: readonly string[]): void {
  const made = commits.reduce(
    (own, other) => world.git(world.root, "commit-tree", "-p", own, "-p", other, "-m", "m", `${own}^{tree}`).trim(),
    world.tip("b2"),
  );
  world.git(world.root, "update-ref", "refs/heads/b2", made);
}

test("merges that bring nothing that has landed cost no process each", async () => {
  await using world = await worldOfTwo();
  takeIn(world, []);
  const own = world.git(world.root, "commit-tree", "-p", "b2", "-m", "own", "b2^{tree}").trim();
  mergeWith(world, new Array(50).fill(own));
  const asked: string[] = [];
  const merging = new Proxy(world.ports.merging, {
    get: (git, name: keyof LandingWorld["ports"]["merging"]) => {
      asked.push(name);
      return git[name];
    },
  });
  const sides = { tip: world.tip(landing), head: world.tip("b2") };
  expect(await droppedByMerges({ ...world.ports, merging }, sides)).toEqual({ dropped: [], uncompared: 0 });
  expect(asked.length).toBeLessThan(10);
}, 60_000);

test("a branch that takes in more often than is compared waits for the operator", async () => {
  await using world = await worldOfTwo();
  let tip = world.tip(landing);
  const steps = Array.from({ length: 42 }, () => {
    tip = world.git(world.root, "commit-tree", "-p", tip, "-m", "step", `${tip}^{tree}`).trim();
    return tip;
  });
  world.git(world.root, "update-ref", `refs/heads/${landing}`, tip);
  mergeWith(world, steps);
  expect((await droppedByMerges(world.ports, { tip, head: world.tip("b2") })).uncompared).toBe(2);
  const { approval, causeDetail } = await world.entry(await announce(world, "b2"));
  expect(approval).toBe("waiting");
  expect(causeDetail?.message).toContain("2 of its merges were not compared");
}, 60_000);

const megabyte = 1024 * 1024;

/** Two branches change one large file. The second one takes the first one in and settles the file by hand. */
async function settledByHand(made: (version: "old" | "first" | "second" | "settled") => Uint8Array) {
  const world = await landingWorld({ files: { "a.txt": "a\n" }, gates: ["true"] });
  const large = (version: Parameters<typeof made>[0]): void =>
    writeFileSync(join(world.root, "large.dat"), made(version));
  world.branch("main", () => large("old"));
  const baseCommit = world.tip("main");
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(aRun("r1"));
    for (const name of ["b1", "b2", "b3"])
      await tx.agents.reserve(anAgent(name, { branch: name, baseCommit, worktreeKind: "linked", scope: [] }));
  });
  world.branch("b1", () => large("first"));
  world.branch("b2", () => large("second"));
  world.branch("b3", () => world.write(world.root, "b3.txt", "b3\n"));
  await announce(world, "b1");
  takeIn(world, ["--strategy=ours"]);
  world.git(world.root, "checkout", "--quiet", "b2");
  large("settled");
  world.git(world.root, "commit", "--quiet", "--all", "--amend", "--no-edit");
  world.git(world.root, "checkout", "--quiet", "--force", "main");
  return world;
}

test("large files without lines hold nobody up: their ids tell that somebody settled them", async () => {
  const fill = { old: 1, first: 2, second: 3, settled: 4 };
  await using world = await settledByHand((version) => Buffer.alloc(40 * megabyte).fill(fill[version], 1));
  const two = await world.enqueue("b2", { agentName: "b2", asker: "parent" });
  const three = await world.enqueue("b3", { agentName: "b3", asker: "parent" });
  await world.work();
  expect(await Promise.all([two, three].map(async (id) => (await world.entry(id)).status))).toEqual([
    "merged",
    "merged",
  ]);
}, 120_000);

test("a text that is too large to compare is named to the operator", async () => {
  const middle = "a line in the middle\n".repeat(60_000);
  const ends = { old: ["a", "z"], first: ["a", "Z"], second: ["A", "z"], settled: ["AA", "z"] };
  await using world = await settledByHand((version) => Buffer.from(ends[version].join(`\n${middle}`)));
  const { status, approval, causeDetail } = await world.entry(await announce(world, "b2"));
  expect({ status, approval, files: causeDetail?.files }).toEqual({
    status: "pending",
    approval: "waiting",
    files: ["large.dat"],
  });
  expect(causeDetail?.message).toContain(
    "may have left out lines that others have landed, in files that are too large to compare: large.dat",
  );
  expect((await world.entry(await announce(world, "b3"))).status).toBe("merged");
}, 120_000);

test("an agent whose merge left out what others have landed is told when it finishes, and mends it", async () => {
  await using project = await makeProject({
    gates: ["true"],
    files,
    scenario: `
- when: { agent: b1 }
  do:
    - edit: { file: words.txt, write: ${JSON.stringify(withWord("seven", "7 of b1"))} }
    - commit: work
    - ov: [done, --summary, All done]
- when: { agent: b2 }
  do:
    - edit: { file: words.txt, write: ${JSON.stringify(withWord("two", "of b2"))} }
    - commit: work
    - shell: |
        until [ -e "$HOME/landed" ]; do sleep 0.05; done
        git merge --quiet --no-commit --no-ff "$(cat "$HOME/landed")"
        git checkout --quiet HEAD words.txt && git commit --quiet -m "take in what has landed"
        ov done --summary "All done" >"$HOME/told" 2>&1
      expect: 4
    - edit: { file: words.txt, write: ${JSON.stringify(withWord("two", "of b2").replace("seven", "7 of b1"))} }
    - commit: bring the line back
    - ov: [done, --summary, All done]
`,
  });
  await slingNew(project, "B1", "--files", "words.txt");
  await slingNew(project, "B2", "--files", "words.txt", "--allow-overlap");
  await untilAgent(project, "b1", "completed/done");
  await project.json("merge", "--branch", "overstory/b1/B1");
  const [entry] = await project.read((tx) => tx.merges.list({}));
  expect(entry?.status).toBe("merged");
  writeFileSync(join(project.home, "landed.new"), entry?.targetBranch ?? "");
  renameSync(join(project.home, "landed.new"), join(project.home, "landed"));
  await untilAgent(project, "b2", "completed/done");
  const told = readFileSync(join(project.home, "told"), "utf8");
  expect(told).toContain("left out lines that others have landed and that git would have taken in: words.txt");
  expect(told).toContain("git show --remerge-diff");
}, 120_000);
