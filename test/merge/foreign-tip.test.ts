import { expect, test } from "bun:test";
import { operator } from "../../src/domain/caller/caller.ts";
import { ensureLandingBranch, landingInstead } from "../../src/engine/merge/landing-branch.ts";
import { randomIds } from "../../src/host/ids.ts";
import { newOp } from "../../src/usecases/merge/merge-records.ts";
import { mergeLog } from "../../src/usecases/merge/read-merges.ts";
import { decide } from "../../src/usecases/operator/decide.ts";
import { openDecisions } from "../../src/usecases/operator/decisions.ts";
import { type LandingWorld, landingWorld } from "../../testkit/landing-world.ts";
import { type SeatWorld, seatWorld } from "../../testkit/seat-world.ts";
import { activeRun, storedAgent } from "../../testkit/use-case.ts";

const landing = "overstory/integration/main";

/** Something landed, and then somebody else moved the landing branch. */
async function moved(): Promise<{ world: LandingWorld; ours: string; foreign: string }> {
  const world = await landingWorld({ gates: ["test ! -e red.txt"] });
  for (const name of ["a", "b"]) world.branch(name, () => world.write(world.root, `${name}.txt`, `${name}\n`));
  await world.enqueue("a");
  await world.work();
  const ours = world.tip(landing);
  const foreign = world.branch("evil", () => world.write(world.root, "evil.txt", "evil\n"), landing);
  world.git(world.root, "update-ref", `refs/heads/${landing}`, foreign);
  return { world, ours, foreign };
}

const questions = (world: LandingWorld) => world.store.read((tx) => openDecisions(tx));

test("a landing branch that somebody else moved is not promoted, and the operator is asked once", async () => {
  const { world, ours, foreign } = await moved();
  await using _ = world;
  const main = world.tip("main");
  for (let time = 0; time < 2; time++) {
    const op = await world.promote();
    expect(op).toMatchObject({ status: "dropped", request: { cause: "foreign_tip" } });
    expect(world.tip("main")).toBe(main);
  }
  const asked = await questions(world);
  expect(asked).toMatchObject([{ options: ["accept", "put back"], subject: `somebody moved ${landing}` }]);
  expect(asked[0]?.context).toContain(`git log -p ${ours.slice(0, 10)}..${foreign.slice(0, 10)}`);
  expect((await world.promote()).problem).toContain(`ov decide ${asked[0]?.id} accept`);
});

test("nothing lands on it either, until the operator puts it back, and what was on it is kept", async () => {
  const { world, ours, foreign } = await moved();
  await using _ = world;
  const id = await world.enqueue("b");
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "blocked", cause: "foreign_tip" });
  expect(world.tip(landing)).toBe(foreign);
  const [asked] = await questions(world);
  await world.call(decide, { id: asked?.id ?? "", option: "put back" });
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "merged", cause: null });
  expect(world.git(world.root, "ls-tree", "--name-only", landing).split("\n")).not.toContain("evil.txt");
  expect(world.git(world.root, "rev-parse", `${landing}^1`)).toBe(ours);
  expect(world.git(world.root, "for-each-ref", "--contains", foreign, "refs/overstory/backup")).not.toBe("");
  expect(await questions(world)).toEqual([]);
  expect(await world.promote()).toMatchObject({ status: "done" });
});

test("a question that lost its meaning cannot be answered, and the branch that waited for it lands", async () => {
  const { world, foreign } = await moved();
  await using _ = world;
  const waiting = await world.enqueue("b");
  await world.work();
  const [asked] = await questions(world);
  expect(await world.entry(waiting)).toMatchObject({ status: "blocked", cause: "foreign_tip" });
  world.git(world.root, "branch", "-D", landing);
  world.branch("c", () => world.write(world.root, "c.txt", "c\n"));
  const next = await world.enqueue("c");
  await world.work();
  await world.work();
  for (const id of [waiting, next]) expect(await world.entry(id)).toMatchObject({ status: "merged", cause: null });
  const tip = world.tip(landing);
  for (const option of ["accept", "put back"]) {
    const answer = await world.call(decide, { id: asked?.id ?? "", option }).catch((error) => String(error));
    expect(JSON.stringify(answer)).toContain("asks nothing any more");
  }
  expect(await world.promote()).toMatchObject({ status: "done", afterCommit: tip });
  expect(world.git(world.root, "merge-base", tip, foreign)).not.toBe(foreign);
});

test("what the operator accepts is promoted", async () => {
  const { world, foreign } = await moved();
  await using _ = world;
  await world.promote();
  const [asked] = await questions(world);
  await world.call(decide, { id: asked?.id ?? "", option: "accept" });
  expect(await world.promote()).toMatchObject({ status: "done", afterCommit: foreign });
  expect(world.tip("main")).toBe(foreign);
});

test("a landing that the branch was moved back behind is named, and is reverted when that is accepted", async () => {
  const { world, ours } = await moved();
  await using _ = world;
  world.git(world.root, "update-ref", `refs/heads/${landing}`, ours);
  const b = await world.enqueue("b");
  await world.work();
  const last = world.tip(landing);
  world.git(world.root, "update-ref", `refs/heads/${landing}`, ours);
  await world.promote();
  const [asked] = await questions(world);
  expect(asked?.context).toContain(`git log -p ${ours.slice(0, 10)}..${last.slice(0, 10)}`);
  expect(asked?.context).toContain(`these landings go: b (#${b})`);
  const decided = await world.call(decide, { id: asked?.id ?? "", option: "accept" });
  expect(decided.noLongerLanded).toEqual(["b"]);
  expect([(await world.entry(1)).status, (await world.entry(b)).status]).toEqual(["merged", "reverted"]);
  // It can land again.
  const again = await world.enqueue("b");
  await world.work();
  expect(await world.entry(again)).toMatchObject({ status: "merged" });
});

test("a landing that is not on a branch which was moved sideways is named, and is reverted when that is accepted", async () => {
  const { world, ours } = await moved();
  await using _ = world;
  world.git(world.root, "update-ref", `refs/heads/${landing}`, ours);
  const b = await world.enqueue("b");
  await world.work();
  // The user wrote another commit in the place of the last landing, and has the first one as a copy.
  const copied = world.branch("copied", () => world.write(world.root, "a.txt", "a\n"), "main");
  world.git(world.root, "update-ref", `refs/heads/${landing}`, copied);
  await world.promote();
  const [asked] = await questions(world);
  expect(asked?.context).toContain(`these landings go: b (#${b})`);
  const decided = await world.call(decide, { id: asked?.id ?? "", option: "accept" });
  expect(decided.noLongerLanded).toEqual(["b"]);
  expect([(await world.entry(1)).status, (await world.entry(b)).status]).toEqual(["merged", "reverted"]);
  const again = await world.enqueue("b");
  await world.work();
  expect(await world.entry(again)).toMatchObject({ status: "merged" });
  expect(world.git(world.root, "ls-tree", "--name-only", landing).split("\n")).toContain("b.txt");
});

test("an undo does not build on it", async () => {
  const { world, foreign } = await moved();
  await using _ = world;
  expect(await world.undo("a")).toMatchObject({ status: "dropped", problem: expect.stringContaining("somebody else") });
  expect(world.tip(landing)).toBe(foreign);
});

test("when it is back by itself the question is gone, and work goes on", async () => {
  const { world, ours } = await moved();
  await using _ = world;
  await world.promote();
  world.git(world.root, "update-ref", `refs/heads/${landing}`, ours);
  expect(await world.promote()).toMatchObject({ status: "done" });
  expect(await questions(world)).toEqual([]);
});

test("a landing branch that somebody moves before anything has landed on it is asked about as well", async () => {
  await using world = await landingWorld();
  const run = activeRun("run-1", 1);
  await world.store.transaction((tx) => tx.runs.insert(run));
  const branch = (await ensureLandingBranch(world.ports, run)) ?? "";
  const foreign = world.branch("evil", () => world.write(world.root, "evil.txt", "evil\n"));
  world.git(world.root, "update-ref", `refs/heads/${branch}`, foreign);
  expect((await world.promote("run-1")).request.cause).toBe("foreign_tip");
  expect((await world.call(mergeLog, {})).operations.map(({ kind }) => kind)).toEqual(["promote"]);
});

test("a landing branch of which no operation is on record can be decided about", async () => {
  for (const option of ["accept", "put back"]) {
    await using world = await landingWorld();
    world.branch("b", () => world.write(world.root, "b.txt", "b\n"));
    const foreign = world.branch("evil", () => world.write(world.root, "evil.txt", "evil\n"));
    world.git(world.root, "update-ref", `refs/heads/${landing}`, foreign);
    const id = await world.enqueue("b");
    await world.work();
    expect(await world.entry(id)).toMatchObject({ status: "blocked", cause: "foreign_tip" });
    const [asked] = await questions(world);
    await world.call(decide, { id: asked?.id ?? "", option });
    await world.work();
    expect(await world.entry(id)).toMatchObject({ status: "merged" });
    const names = world.git(world.root, "ls-tree", "--name-only", landing).split("\n");
    expect([option, names.includes("evil.txt")]).toEqual([option, option === "accept"]);
  }
});

test("a landing branch that only follows its target after a promotion is ours", async () => {
  await using world = await landingWorld();
  for (const name of ["a", "b"]) world.branch(name, () => world.write(world.root, `${name}.txt`, `${name}\n`));
  await world.enqueue("a");
  await world.work();
  await world.promote();
  world.branch("main", () => world.write(world.root, "human.txt", "human\n"));
  const id = await world.enqueue("b");
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "merged" });
  expect(await world.promote()).toMatchObject({ status: "done" });
});

/** Three agents wait for their worktrees, and a user moves the landing branch of their run before they get them. */
async function movedBeforeSeating(): Promise<{ seats: SeatWorld; branch: string; ours: string; foreign: string }> {
  const seats = await seatWorld();
  const { landing: world } = seats;
  const run = await world.store.read((tx) => tx.runs.get("run-1"));
  if (run === undefined) throw new Error("there is no run-1");
  const branch = (await ensureLandingBranch(world.ports, run)) ?? "";
  const ours = world.tip(branch);
  const foreign = world.branch("evil", () => world.write(world.root, "evil.txt", "evil\n"));
  world.git(world.root, "update-ref", `refs/heads/${branch}`, foreign);
  return { seats, branch, ours, foreign };
}

const seatOf = (world: LandingWorld, name: string) =>
  world.store.read(async (tx) => {
    const agent = await tx.agents.byName(name);
    return { state: agent?.state, baseRef: agent?.baseRef, baseCommit: agent?.baseCommit };
  });

test("new agents start from the commit of our last operation, not from a commit that a user put there", async () => {
  const { seats, branch, ours, foreign } = await movedBeforeSeating();
  await using _ = seats;
  const { landing: world } = seats;
  expect(await seats.look()).toBe(3);
  for (const name of ["b1", "b2", "b3"]) {
    expect(await seatOf(world, name)).toEqual({ state: "booting", baseRef: branch, baseCommit: ours });
    expect(world.git(world.root, "ls-tree", "--name-only", `overstory/${name}/t`)).not.toContain("evil.txt");
  }
  const asked = await questions(world);
  expect(asked).toMatchObject([{ subject: `somebody moved ${branch}` }]);
  expect(world.tip(branch)).toBe(foreign);

  await world.call(decide, { id: asked[0]?.id ?? "", option: "accept" });
  await world.store.transaction((tx) =>
    tx.agents.reserve(
      storedAgent("b4", { worktreeKind: "linked", branch: "overstory/b4/t", state: "booting", parentName: "lead" }),
    ),
  );
  await seats.look();
  expect(await seatOf(world, "b4")).toEqual({ state: "booting", baseRef: branch, baseCommit: foreign });
});

test("a base branch that is named is compared as well, when it is a landing branch", async () => {
  const { seats, branch, ours } = await movedBeforeSeating();
  await using _ = seats;
  const { landing: world } = seats;
  const named = { worktreeKind: "linked", branch: "overstory/b4/t", state: "booting", baseRef: branch } as const;
  await world.store.transaction((tx) => tx.agents.reserve(storedAgent("b4", { ...named, parentName: "lead" })));
  await seats.look();
  expect(await seatOf(world, "b4")).toEqual({ state: "booting", baseRef: branch, baseCommit: ours });
});

test("where what our last operation left is gone, no agent starts, and its parent is told why", async () => {
  const { seats, branch } = await movedBeforeSeating();
  await using _ = seats;
  const { landing: world } = seats;
  await world.store.transaction(async (tx) => {
    const context = { caller: operator, ids: randomIds, now: 1, settings: world.ports.rules };
    const gone = "1".repeat(40);
    const ref = `refs/heads/${branch}`;
    const op = await newOp(tx, context, { kind: "land", ref, queueIds: [], beforeCommit: null, afterCommit: gone });
    await tx.mergeOps.settle(op.id, { status: "done", updatedAt: 1 });
  });
  await seats.look();
  const { states, mail } = await seats.facts();
  expect(states).toEqual(Array.from({ length: 3 }, () => "zombie/start_failed/no worktree"));
  expect(mail[0]?.body).toContain("somebody else moved it");
  expect(mail[0]?.body).toMatch(/ov decide \S+ accept/);
});

test("a landing branch that was moved back or deleted is not begun anew without what landed on it", async () => {
  const { world, ours } = await moved();
  await using _ = world;
  const old = world.git(world.root, "rev-parse", `${ours}^1`);
  world.branch("main", () => world.write(world.root, "human.txt", "human\n"));
  world.git(world.root, "update-ref", `refs/heads/${landing}`, old);
  expect(await landingInstead(world.ports, "main", null)).toBe(landing);
  expect(world.tip(landing)).toBe(old);
  expect((await world.promote()).request.cause).toBe("foreign_tip");
  world.git(world.root, "update-ref", "-d", `refs/heads/${landing}`);
  expect(await landingInstead(world.ports, "main", null)).toBe(landing);
  expect(world.tip(landing)).toBe(ours);
});

test("a landing branch that cannot be put back, because it is checked out, says so in the question that follows", async () => {
  const { world, ours, foreign } = await moved();
  await using _ = world;
  const id = await world.enqueue("b");
  await world.work();
  world.git(world.root, "checkout", "-q", landing);
  const [first] = await questions(world);
  await world.call(decide, { id: first?.id ?? "", option: "put back" });
  await world.work();
  expect(world.tip(landing)).toBe(foreign);
  const [second, ...others] = await questions(world);
  expect(others).toEqual([]);
  expect(second?.id).not.toBe(first?.id);
  expect(second?.context).toContain("put back was tried, and did not work");
  expect(second?.context).toContain(`${landing} is checked out at ${world.root}`);
  expect(second?.context).toContain("git switch <another branch>");
  expect((await world.entry(id)).status).not.toBe("merged");
  world.git(world.root, "checkout", "-q", "main");
  await world.call(decide, { id: second?.id ?? "", option: "put back" });
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "merged" });
  expect(world.git(world.root, "rev-parse", `${landing}^1`)).toBe(ours);
});

test("a promotion that finds nothing to do on a landing branch does not make its foreign commits ours", async () => {
  const { world, ours, foreign } = await moved();
  await using _ = world;
  const id = await world.enqueue("b");
  await world.work();
  const [asked] = await questions(world);
  // As earlier versions recorded it for a run whose target is a landing branch of another run.
  const request = { landing: "overstory/integration/run-2", target: landing };
  const about = { kind: "promote", ref: `refs/heads/${landing}`, queueIds: [], request } as const;
  const noted = { caller: operator, ids: randomIds, now: 1 };
  await world.store.transaction(async (tx) => {
    const op = await newOp(tx, noted, { ...about, beforeCommit: foreign, afterCommit: foreign });
    await tx.mergeOps.settle(op.id, { status: "done", updatedAt: 1 });
  });
  await world.work();
  expect((await world.entry(id)).status).not.toBe("merged");
  await world.call(decide, { id: asked?.id ?? "", option: "put back" });
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "merged" });
  expect(world.git(world.root, "rev-parse", `${landing}^1`)).toBe(ours);
});
