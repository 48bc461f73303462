import { expect, test } from "bun:test";
import { existsSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { planUndo } from "../../src/usecases/merge/landing/request-undo.ts";
import { cancelMerge } from "../../src/usecases/merge/queue/decide-entry.ts";
import { mergeLog } from "../../src/usecases/merge/read-merges.ts";
import { endRun } from "../../src/usecases/runs/change-run.ts";
import { landingWorld } from "../../testkit/landing-world.ts";
import { begin, land, make } from "./runs.world.ts";

test("promoting moves a checked-out branch forward and keeps what its user has not committed", async () => {
  await using world = await landingWorld();
  make(world, "a");
  const target = await begin(world, "run-1");
  expect(target).toBe("overstory/integration/run-1");
  await land(world, "a", "run-1", target);
  world.write(world.root, "mine.txt", "not committed\n");
  const op = await world.promote("run-1");
  expect(op).toMatchObject({ status: "done", problem: null });
  expect(world.tip("main")).toBe(world.tip(target));
  expect(readFileSync(join(world.root, "a.txt"), "utf8")).toBe("a\n");
  expect(readFileSync(join(world.root, "mine.txt"), "utf8")).toBe("not committed\n");
});

test("files of the user that are in the way stop a promotion, and everything stays as it was", async () => {
  await using world = await landingWorld();
  make(world, "a");
  const target = await begin(world, "run-1");
  await land(world, "a", "run-1", target);
  world.write(world.root, "a.txt", "mine\n");
  const before = [world.git(world.root, "status", "--porcelain=v2", "--branch"), world.tip("main")];
  const op = await world.promote("run-1");
  expect(op.status).toBe("dropped");
  expect(op.request.cause).toBe("local_changes");
  expect(op.problem).toStartWith(
    `this file in ${world.root} would be overwritten: a.txt; commit it, or put it away: git`,
  );
  expect(op.problem).toContain(`stash push --all -- a.txt`);
  expect([world.git(world.root, "status", "--porcelain=v2", "--branch"), world.tip("main")]).toEqual(before);
  expect(readFileSync(join(world.root, "a.txt"), "utf8")).toBe("mine\n");
});

for (const marks of [
  ["--skip-worktree"],
  ["--assume-unchanged"],
  ["--skip-worktree", "--assume-unchanged"],
  ["add -N"],
]) {
  test(`what the refusal says to type puts a file away that is marked ${marks.join(" and ")}`, async () => {
    await using world = await landingWorld();
    const isNew = marks.includes("add -N");
    const file = isNew ? "a.txt" : "README.md";
    world.branch("a", () => world.write(world.root, file, "of the run\n"));
    const target = await begin(world, "run-1");
    await land(world, "a", "run-1", target);
    world.write(world.root, file, "mine\n");
    if (isNew) world.git(world.root, "add", "--intent-to-add", file);
    else for (const mark of marks) world.git(world.root, "update-index", mark, file);
    const { status, problem } = await world.promote("run-1");
    expect({ status, problem }).toMatchObject({
      status: "dropped",
      problem: expect.stringContaining("put it away: git"),
    });
    const typed = Bun.spawnSync(["sh", "-c", problem?.split("put it away: ")[1] ?? "false"]);
    expect([typed.exitCode, typed.stderr.toString()]).toEqual([0, ""]);
    expect(world.git(world.root, "stash", "list")).toContain("stash@{0}");
    expect(await world.promote("run-1")).toMatchObject({ status: "done" });
    expect(readFileSync(join(world.root, file), "utf8")).toBe("of the run\n");
    const kept = world.git(world.root, "stash", "show", "--include-untracked", "-p");
    expect(kept).toContain("+mine");
  });
}

test("a target that has moved first comes in through the gates, and then takes over", async () => {
  await using world = await landingWorld({ gates: ["test ! -e red.txt"] });
  make(world, "a");
  const target = await begin(world, "run-1");
  await land(world, "a", "run-1", target);
  world.write(world.root, "human.txt", "human\n");
  world.git(world.root, "add", "human.txt");
  world.git(world.root, "commit", "--quiet", "-m", "by hand");
  expect(await world.promote("run-1")).toMatchObject({ status: "done" });
  expect([world.show("main", "a.txt"), world.show("main", "human.txt")]).toEqual(["a", "human"]);
  const { operations } = await world.call(mergeLog, {});
  expect(operations.map(({ kind }) => kind)).toEqual(["promote", "land", "land"]);
  make(world, "b");
  await land(world, "b", "run-1", target);
  world.write(world.root, "red.txt", "red\n");
  world.git(world.root, "add", "red.txt");
  world.git(world.root, "commit", "--quiet", "-m", "breaks the gate");
  const refused = await world.promote("run-1");
  expect(refused.status).toBe("dropped");
  expect(refused.request.cause).toBe("gate_failed");
  expect(existsSync(join(world.root, "b.txt"))).toBe(false);
});

test("a later run builds on what an earlier one landed and nobody took over", async () => {
  await using world = await landingWorld();
  make(world, "a");
  const first = await begin(world, "run-1");
  await land(world, "a", "run-1", first);
  expect(await begin(world, "run-2")).toBe(first);
  await world.promote("run-1");
  expect(await begin(world, "run-3")).toBe("overstory/integration/run-3");
  expect(world.tip("overstory/integration/run-3")).toBe(world.tip("main"));
});

test("a target that somebody checks out later is left alone from then on", async () => {
  await using world = await landingWorld();
  make(world, "a");
  make(world, "b");
  world.git(world.root, "checkout", "--quiet", "-b", "elsewhere");
  const target = await begin(world, "run-1");
  expect(target).toBe("main");
  await land(world, "a", "run-1", "main");
  expect(world.show("main", "a.txt")).toBe("a");
  world.git(world.root, "checkout", "--quiet", "main");
  const before = world.tip("main");
  const id = await land(world, "b", "run-1", "main");
  expect(await world.entry(id)).toMatchObject({ status: "merged", targetBranch: "overstory/integration/run-1" });
  expect(world.tip("main")).toBe(before);
  expect(await world.store.read((tx) => tx.runs.get("run-1"))).toMatchObject({
    landingBranch: "overstory/integration/run-1",
  });
});

test("a promotion whose way in was taken out of the queue ends and says so", async () => {
  await using world = await landingWorld();
  make(world, "a");
  const target = await begin(world, "run-1");
  await land(world, "a", "run-1", target);
  const go = join(world.root, "..", "go");
  const command = `until [ -e '${go}' ]; do sleep 0.05; done`;
  const gate = { name: "patient", command, timeoutMs: 600_000, required: true, paths: [] };
  Object.assign(world.ports.rules.project, { qualityGates: [gate] });
  world.write(world.root, "human.txt", "human\n");
  world.git(world.root, "add", "human.txt");
  world.git(world.root, "commit", "--quiet", "-m", "by hand");
  const asked = world.promote("run-1");
  const waiting = async () => (await world.store.read((tx) => tx.merges.list({ branch: "main" })))[0];
  while ((await waiting())?.status !== "gating") await Bun.sleep(5);
  await world.call(cancelMerge, { of: "main" });
  world.write(world.root, "../go", "");
  expect(await asked).toMatchObject({ status: "dropped", problem: expect.stringContaining("cancelled") });
  expect(existsSync(join(world.root, "a.txt"))).toBe(false);
});

test("a promotion that cannot move its target is given up, and keeps nothing else from landing", async () => {
  await using world = await landingWorld();
  make(world, "a");
  make(world, "b");
  const target = await begin(world, "run-1");
  await land(world, "a", "run-1", target);
  world.git(world.root, "branch", "trunk", "main");
  world.git(world.root, "checkout", "--quiet", "--detach");
  world.git(world.root, "symbolic-ref", "refs/heads/main", "refs/heads/trunk");
  expect(await world.promote("run-1")).toMatchObject({
    status: "dropped",
    problem: expect.stringContaining("another ref"),
  });
  const id = await land(world, "b", "run-1", target);
  expect(await world.entry(id)).toMatchObject({ status: "merged" });
});

test("a promotion can be taken back while nothing came after it", async () => {
  await using world = await landingWorld();
  make(world, "a");
  const target = await begin(world, "run-1");
  await land(world, "a", "run-1", target);
  const before = world.tip("main");
  world.git(world.root, "checkout", "--quiet", "--detach");
  const { id } = await world.promote("run-1");
  expect(world.tip("main")).toBe(world.tip(target));
  expect(await world.undo(id)).toMatchObject({ status: "done" });
  expect(world.tip("main")).toBe(before);
  const again = await world.promote("run-1");
  world.git(world.root, "checkout", "--quiet", "main");
  world.git(world.root, "commit", "--quiet", "--allow-empty", "-m", "by hand");
  world.git(world.root, "checkout", "--quiet", "--detach");
  const later = world.tip("main");
  expect(await world.undo(again.id)).toMatchObject({
    status: "dropped",
    problem: expect.stringMatching(
      /^main has commits that came after .* ov merge undo op-.* ov merge promote --run run-1$/,
    ),
  });
  expect(world.tip("main")).toBe(later);
});

test("taking back a promotion moves the checkout back, and keeps what its user has not committed", async () => {
  await using world = await landingWorld();
  make(world, "a");
  const target = await begin(world, "run-1");
  await land(world, "a", "run-1", target);
  const before = world.tip("main");
  const { id } = await world.promote("run-1");
  world.write(world.root, "mine.txt", "not committed\n");
  world.write(world.root, "a.txt", "changed by hand\n");
  expect(await world.undo(id)).toMatchObject({ status: "dropped", problem: expect.stringContaining("a.txt") });
  expect(readFileSync(join(world.root, "a.txt"), "utf8")).toBe("changed by hand\n");
  world.write(world.root, "a.txt", "a\n");
  expect(await world.undo(id)).toMatchObject({ status: "done", problem: null });
  expect(world.tip("main")).toBe(before);
  expect(existsSync(join(world.root, "a.txt"))).toBe(false);
  expect(world.git(world.root, "status", "--porcelain")).toBe("?? mine.txt");
});

test("a branch that is checked out twice is not moved below one of them", async () => {
  await using world = await landingWorld();
  make(world, "a");
  const target = await begin(world, "run-1");
  await land(world, "a", "run-1", target);
  world.git(world.root, "worktree", "add", "--quiet", "--force", join(world.root, "..", "second"), "main");
  expect(await world.promote("run-1")).toMatchObject({
    status: "dropped",
    problem: expect.stringContaining("is checked out twice"),
  });
});

test("a lock file of git that a promotion removed is named in its record and its event", async () => {
  await using world = await landingWorld();
  make(world, "a");
  const target = await begin(world, "run-1");
  await land(world, "a", "run-1", target);
  const lock = join(world.root, ".git", "index.lock");
  writeFileSync(lock, "");
  const old = Date.now() / 1000 - 60;
  utimesSync(lock, old, old);
  expect(await world.promote("run-1")).toMatchObject({ status: "done", request: { removedLocks: [lock] } });
  const events = await world.store.read((tx) => tx.events.after(0, 1_000));
  const promoted = events.find(({ type }) => type === "merge_promoted");
  expect(JSON.parse(promoted?.data ?? "null")).toMatchObject({ removedLocks: [lock] });
});

test("a promotion of nothing is done, but is not in the log, and cannot be taken back", async () => {
  await using world = await landingWorld();
  make(world, "a");
  const target = await begin(world, "run-1");
  await land(world, "a", "run-1", target);
  await world.promote("run-1");
  const again = await world.promote("run-1");
  expect(again).toMatchObject({ status: "done", problem: null });
  const { operations } = await world.call(mergeLog, {});
  expect(operations.map(({ kind }) => kind)).toEqual(["promote", "land"]);
  const events = await world.store.read((tx) => tx.events.after(0, 1_000));
  expect(events.filter(({ type }) => type === "merge_promoted")).toHaveLength(1);
  await expect(world.undo(again.id)).rejects.toThrow("it moved nothing");
});

test("what is undone after a promotion names the branch that still has it, which the next promotion mends", async () => {
  await using world = await landingWorld();
  make(world, "a");
  const target = await begin(world, "run-1");
  await land(world, "a", "run-1", target);
  expect(await world.call(planUndo, { of: "a" })).toMatchObject({ promoted: null });
  await world.promote("run-1");
  expect(await world.call(planUndo, { of: "a" })).toMatchObject({ promoted: "main" });
  expect(await world.undo("a")).toMatchObject({ status: "done" });
  expect(existsSync(join(world.root, "a.txt"))).toBe(true);
  expect(await world.promote("run-1")).toMatchObject({ status: "done" });
  expect(existsSync(join(world.root, "a.txt"))).toBe(false);
});

test("an entry that found its branch landed already follows when that is undone, and when that is undone again", async () => {
  await using world = await landingWorld();
  make(world, "a");
  const first = await world.enqueue("a");
  await world.work();
  const second = await world.enqueue("a");
  await world.work();
  const statuses = async () => [(await world.entry(first)).status, (await world.entry(second)).status];
  expect(await statuses()).toEqual(["merged", "merged"]);
  const { id } = await world.undo("a");
  expect(await statuses()).toEqual(["reverted", "reverted"]);
  await world.undo(id);
  expect(await statuses()).toEqual(["merged", "merged"]);
});

test("at the end of a run work is taken over by itself where that is wanted and the checkout is clean", async () => {
  const outcomes = [];
  for (const [promote, dirty] of [
    ["ask", false],
    ["auto", false],
    ["auto", true],
  ] as const) {
    await using world = await landingWorld({ merge: { promote } });
    make(world, "a");
    const target = await begin(world, "run-1");
    await land(world, "a", "run-1", target);
    if (dirty) world.write(world.root, "README.md", "not committed\n");
    await world.call(endRun, { force: true });
    await world.work();
    outcomes.push(world.tip("main") === world.tip(target));
  }
  expect(outcomes).toEqual([false, true, false]);
});

test("a conflict with the target's own commits names the files and what to type, and that is enough", async () => {
  await using world = await landingWorld();
  make(world, "a");
  const landing = await begin(world, "run-1");
  await land(world, "a", "run-1", landing);
  world.write(world.root, "a.txt", "mine\n");
  world.git(world.root, "add", "a.txt");
  world.git(world.root, "commit", "--quiet", "--message", "mine");
  const op = await world.promote("run-1");
  expect(op).toMatchObject({ status: "dropped", request: { cause: "conflict" } });
  expect(op.problem).toContain(`conflict with ${landing} in a.txt`);
  expect(op.problem).toContain(`git -C ${world.root} merge --ff ${landing}`);
  world.git(world.root, "merge", "--quiet", "--strategy-option", "ours", landing);
  expect(await world.promote("run-1")).toMatchObject({ status: "done", problem: null });
});
