import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { decide } from "../../src/usecases/operator/decide.ts";
import { openDecisions } from "../../src/usecases/operator/decisions.ts";
import { type LandingWorld, landingWorld } from "../../testkit/landing-world.ts";
import { activeRun, storedAgent } from "../../testkit/use-case.ts";

// A target is its users' branch and may move; an agent must not change by it how its work is judged.

const open: LandingWorld[] = [];
afterEach(async () => {
  for (const world of open.splice(0)) await world[Symbol.asyncDispose]();
});

/** A target that is checked out nowhere, on which something landed. */
async function landed(): Promise<LandingWorld> {
  const world = await landingWorld({ files: { "check.sh": "exit 0\n" }, gates: ["sh check.sh"] });
  open.push(world);
  world.git(world.root, "branch", "release");
  for (const name of ["a", "b"]) world.branch(name, () => world.write(world.root, `${name}.txt`, `${name}\n`));
  await world.enqueue("a", { targetBranch: "release" });
  await world.work();
  expect(world.show("release", "a.txt")).toBe("a");
  return world;
}

/** A commit in a linked worktree. */
function commitIn(world: LandingWorld, path: string, from: string, files: Readonly<Record<string, string>>): string {
  world.git(world.root, "worktree", "add", "--quiet", "--detach", path, from);
  for (const [name, text] of Object.entries(files)) world.write(path, name, text);
  world.git(path, "add", "-A");
  world.git(path, "commit", "--quiet", "-m", "another check");
  return world.git(path, "rev-parse", "HEAD");
}

/** An agent commits in its worktree, and moves a branch of the user's there. */
async function movedByAgent(
  world: LandingWorld,
  branch: string,
  files: Readonly<Record<string, string>> = { "check.sh": "exit 0 # evil\n", ".claude/settings.json": "{}\n" },
): Promise<string> {
  const path = join(world.root, "..", "worktrees", "att");
  const commit = commitIn(world, path, branch, files);
  const base = world.tip(branch);
  const run = { ...activeRun("run-1", 0), targetBranch: branch, landingBranch: branch };
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(run);
    await tx.agents.reserve(storedAgent("att", { worktreePath: path, worktreeKind: "linked", baseCommit: base }));
  });
  world.git(path, "update-ref", `refs/heads/${branch}`, commit);
  return commit;
}

const questions = (world: LandingWorld) => world.store.read((tx) => openDecisions(tx));

test("a target that an agent moved to another gate script waits for the operator, who can put it back", async () => {
  const world = await landed();
  const ours = world.tip("release");
  const evil = await movedByAgent(world, "release");
  const id = await world.enqueue("b", { targetBranch: "release" });
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "blocked", cause: "foreign_tip" });
  expect(world.tip("release")).toBe(evil);
  const asked = await questions(world);
  expect(asked).toMatchObject([{ options: ["accept", "put back"], subject: "somebody moved release" }]);
  for (const words of ["check.sh", ".claude/settings.json", `git log -p ${ours.slice(0, 10)}..${evil.slice(0, 10)}`]) {
    expect(asked[0]?.context).toContain(words);
  }
  await world.call(decide, { id: asked[0]?.id ?? "", option: "put back" });
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "merged", verdict: "verified" });
  expect(world.show("release", "check.sh")).toBe("exit 0");
  expect(await questions(world)).toEqual([]);
});

test("before anything landed, the start of the run's first agent is what the target is compared with", async () => {
  const world = await landingWorld({ files: { "check.sh": "exit 0\n" }, gates: ["sh check.sh"] });
  open.push(world);
  world.git(world.root, "branch", "release");
  world.branch("b", () => world.write(world.root, "b.txt", "b\n"));
  await movedByAgent(world, "release");
  const id = await world.enqueue("b", { targetBranch: "release", runId: "run-1" });
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "blocked", cause: "foreign_tip" });
});

test("what the operator accepts on it counts", async () => {
  const world = await landed();
  await movedByAgent(world, "release");
  const id = await world.enqueue("b", { targetBranch: "release" });
  await world.work();
  const [asked] = await questions(world);
  await world.call(decide, { id: asked?.id ?? "", option: "accept" });
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "merged" });
  expect(world.show("release", "check.sh")).toBe("exit 0 # evil");
});

test("ordinary files on a moved target ask nothing", async () => {
  const world = await landed();
  await movedByAgent(world, "release", { "plain.txt": "x\n" });
  const id = await world.enqueue("b", { targetBranch: "release" });
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "merged" });
  expect(await questions(world)).toEqual([]);
});

test("gate scripts that the user committed in a checkout of theirs ask nothing, wherever the branch was moved from", async () => {
  const world = await landed();
  const other = join(world.root, "..", "users-other-checkout");
  const users = commitIn(world, other, "release", { "check.sh": "exit 0 # better\n" });
  world.git(world.root, "branch", "--force", "release", users);
  const id = await world.enqueue("b", { targetBranch: "release" });
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "merged" });
  expect(await questions(world)).toEqual([]);
});

test("a commit of an agent on top of the user's own is asked about, and only that one goes back", async () => {
  const world = await landed();
  const other = join(world.root, "..", "users-other-checkout");
  const users = commitIn(world, other, "release", { "check.sh": "exit 0 # better\n" });
  world.git(world.root, "branch", "--force", "release", users);
  await movedByAgent(world, "release");
  const id = await world.enqueue("b", { targetBranch: "release" });
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "blocked", cause: "foreign_tip" });
  const [asked] = await questions(world);
  await world.call(decide, { id: asked?.id ?? "", option: "put back" });
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "merged" });
  expect(world.show("release", "check.sh")).toBe("exit 0 # better");
});

test("a target that the user has checked out and an agent moved is not taken in, nor promoted to", async () => {
  const world = await landed();
  const before = world.tip("main");
  await world.enqueue("b");
  await world.work();
  world.branch("c", () => world.write(world.root, "c.txt", "c\n"), "b");
  await movedByAgent(world, "main");
  const id = await world.enqueue("c");
  await world.work();
  const landing = "overstory/integration/main";
  expect(await world.entry(id)).toMatchObject({ status: "merged", targetBranch: landing });
  expect(world.show(landing, "check.sh")).toBe("exit 0");
  expect(await world.promote()).toMatchObject({ status: "dropped", request: { cause: "foreign_tip" } });
  expect(await questions(world)).toMatchObject([{ subject: "somebody moved main" }]);
  // The user puts it back, as the question says.
  world.git(world.root, "reset", "--quiet", before);
  expect(await world.promote()).toMatchObject({ status: "done" });
  expect(await questions(world)).toEqual([]);
});
