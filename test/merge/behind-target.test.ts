import { expect, spyOn, test } from "bun:test";
import { operator } from "../../src/domain/caller/caller.ts";
import { catchUp, ensureLandingBranch } from "../../src/engine/merge/landing-branch.ts";
import { waitingFor } from "../../src/usecases/agents/parked.ts";
import { requestUndo } from "../../src/usecases/merge/landing/request-undo.ts";
import { unpromotedWork } from "../../src/usecases/merge/landing/unpromoted.ts";
import { approveMerge } from "../../src/usecases/merge/queue/decide-entry.ts";
import { overview } from "../../src/usecases/status/overview.ts";
import { type LandingWorld, landingWorld } from "../../testkit/landing-world.ts";
import { seatWorld } from "../../testkit/seat-world.ts";
import { activeRun } from "../../testkit/use-case.ts";

const landing = "overstory/integration/run-1";

const make = (world: LandingWorld, name: string, from: string): string =>
  world.branch(name, () => world.write(world.root, `${name}.txt`, `${name}\n`), from);

/** The user commits to the target that is checked out. */
function commit(world: LandingWorld, file: string, text: string): string {
  world.write(world.root, file, text);
  world.git(world.root, "add", file);
  world.git(world.root, "commit", "--quiet", "-m", `my own ${file}`);
  return world.tip("main");
}

/** A run whose first branch has landed. */
async function begun(world: LandingWorld): Promise<void> {
  const known = await world.store.read((tx) => tx.runs.get("run-1"));
  const run = { ...activeRun("run-1", 0), targetBranch: "main" };
  if (known === undefined) await world.store.transaction((tx) => tx.runs.insert(run));
  expect(await ensureLandingBranch(world.ports, known === undefined ? run : { ...known, targetBranch: "main" })).toBe(
    landing,
  );
  make(world, "a", "main");
  await world.enqueue("a", { runId: "run-1", targetBranch: landing });
  await world.work();
  expect(world.show(landing, "a.txt")).toBe("a");
}

const baseOf = (world: LandingWorld, name: string): Promise<string | null | undefined> =>
  world.store.read(async (tx) => (await tx.agents.byName(name))?.baseCommit);

test("an agent of a promoted run starts at the target's newest commit", async () => {
  await using seats = await seatWorld();
  await begun(seats.landing);
  await seats.landing.promote("run-1");
  const mine = commit(seats.landing, "fix.txt", "fix\n");
  await seats.look();
  expect(await baseOf(seats.landing, "b1")).toBe(mine);
  expect(seats.landing.tip(landing)).toBe(mine);
});

test("a later run that builds on unpromoted work starts with the target's own commits too", async () => {
  await using seats = await seatWorld();
  const world = seats.landing;
  await begun(world);
  commit(world, "fix.txt", "fix\n");
  // The first look queues the commits of the target; the agents wait for the gates.
  await seats.look();
  expect(await baseOf(world, "b1")).toBeNull();
  await world.work();
  seats.clock.advance(600);
  await seats.look();
  expect(await baseOf(world, "b1")).toBe(world.tip(landing));
  expect([world.show(landing, "a.txt"), world.show(landing, "fix.txt")]).toEqual(["a", "fix"]);
});

test("commits of the target that cannot be taken in keep no agent from starting", async () => {
  await using seats = await seatWorld();
  const world = seats.landing;
  await begun(world);
  const before = world.tip(landing);
  commit(world, "a.txt", "mine\n");
  await seats.look();
  await world.work();
  seats.clock.advance(600);
  await seats.look();
  expect(await baseOf(world, "b1")).toBe(before);
  const [landed] = await world.store.read((tx) =>
    unpromotedWork(tx, { settings: world.ports.rules, ids: world.ports.ids }),
  );
  expect(landed).toMatchObject({ landings: 1, notTakenIn: 2 });
});

test("a user who commits again and again keeps no agent from starting", async () => {
  await using seats = await seatWorld();
  const world = seats.landing;
  await begun(world);
  commit(world, "fix.txt", "fix\n");
  await seats.look();
  await world.work();
  commit(world, "again.txt", "again\n");
  await seats.look();
  expect(await baseOf(world, "b1")).toBe(world.tip(landing));
  expect(world.show(landing, "fix.txt")).toBe("fix");
  expect((await seats.facts()).states).toEqual(Array(3).fill("booting/null/seated"));
});

test("an agent that waits for the target's commits starts no git process, and says what it waits for", async () => {
  await using seats = await seatWorld();
  const world = seats.landing;
  await begun(world);
  commit(world, "fix.txt", "fix\n");
  await seats.look();
  expect(seats.seating.dueInMs()).toBe(5 * 60_000);
  const spawned = spyOn(Bun, "spawn");
  for (let n = 0; n < 5; n++) {
    seats.clock.advance(1_000);
    expect(await seats.look()).toBe(0);
  }
  expect(spawned).not.toHaveBeenCalled();
  spawned.mockRestore();
  const { agents } = await world.call(overview, { all: true, mailbox: "operator" });
  expect(agents.find(({ agent }) => agent.name === "b1")?.waits).toMatchObject([{ kind: "merge", ref: "merge:2" }]);
  const [b1, context] = [await world.store.read((tx) => tx.agents.byName("b1")), { caller: operator, now: Date.now() }];
  if (b1 === undefined) throw new Error("there is no b1");
  expect((await world.store.read((tx) => waitingFor(tx, context, b1))).reason).toBe(
    `it starts when merge 2 has brought the newest commits of main to ${landing}`,
  );
});

test("an agent starts without the target's commits when they take too long, and that is said", async () => {
  await using seats = await seatWorld();
  const world = seats.landing;
  await begun(world);
  const before = world.tip(landing);
  commit(world, "fix.txt", "fix\n");
  await seats.look();
  // A newer commit takes the place of the first. Nobody waits longer for it.
  seats.clock.advance(4 * 60_000);
  const mine = commit(world, "more.txt", "more\n");
  expect(await catchUp(world.ports, landing, "run-1")).toMatchObject({ id: 3, headCommit: mine });
  expect((await seats.facts()).mail).toEqual([]);
  expect(await seats.look()).toBe(0);
  seats.clock.advance(60_000);
  await seats.look();
  expect(await baseOf(world, "b1")).toBe(before);
  const { mail } = await seats.facts();
  expect(mail.map(({ subject }) => subject)).toContain("[ENGINE] b1 starts without the newest commits of main");
  expect(mail[0]?.body).toContain(`lacks main at ${mine.slice(0, 12)}. Merge 3, which brings these commits,`);
});

test("a queue that cannot be looked at keeps no agent from starting", async () => {
  await using seats = await seatWorld();
  const world = seats.landing;
  await begun(world);
  const before = world.tip(landing);
  make(world, "x", landing);
  await world.enqueue("x", { runId: "run-1", targetBranch: landing });
  commit(world, "fix.txt", "fix\n");
  await seats.look();
  expect(await baseOf(world, "b1")).toBeNull();
  const refsBelow = async (): Promise<never> => {
    throw new Error("git could not be started");
  };
  await world.work({ ...world.ports, report: () => {}, merging: { ...world.ports.merging, refsBelow } });
  await seats.look();
  expect(await baseOf(world, "b1")).toBe(before);
  expect((await seats.facts()).mail[0]?.body).toContain("is not through:");
});

test("the gates of a landing see the target's newest commits", async () => {
  await using world = await landingWorld({ gates: ["test ! -e b.txt || test -e fix.txt"] });
  await begun(world);
  make(world, "b", landing);
  commit(world, "fix.txt", "fix\n");
  const id = await world.enqueue("b", { runId: "run-1", targetBranch: landing });
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "merged", verdict: "verified" });
  const [landed] = await world.store.read((tx) =>
    unpromotedWork(tx, { settings: world.ports.rules, ids: world.ports.ids }),
  );
  // The commits of the target are no work that waits for it.
  expect(landed).toMatchObject({ landings: 2, notTakenIn: null });
  const mail = await world.store.read((tx) => tx.messages.list({ to: "operator" }));
  expect(mail.filter(({ subject }) => subject.includes("main"))).toEqual([]);
});

test("a promoted landing branch moves to the target before work lands on it", async () => {
  await using world = await landingWorld({ gates: ["test ! -e b.txt || test -e fix.txt"] });
  await begun(world);
  make(world, "b", landing);
  await world.promote("run-1");
  commit(world, "fix.txt", "fix\n");
  const id = await world.enqueue("b", { runId: "run-1", targetBranch: landing });
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "merged", verdict: "verified" });
  expect(await world.store.read((tx) => tx.merges.list({ branch: "main" }))).toEqual([]);
});

test("commits of the target that break a gate keep nothing else from landing, and are tried once", async () => {
  await using world = await landingWorld({ gates: ["test ! -e red.txt"] });
  await begun(world);
  make(world, "b", landing);
  make(world, "c", landing);
  commit(world, "red.txt", "red\n");
  for (const name of ["b", "c"]) {
    const id = await world.enqueue(name, { runId: "run-1", targetBranch: landing });
    await world.work();
    expect(await world.entry(id)).toMatchObject({ status: "merged", verdict: "verified" });
  }
  expect(await world.store.read((tx) => tx.merges.list({ branch: "main" }))).toMatchObject([
    { status: "failed", cause: "gate_failed" },
  ]);
});

test("a target that lost commits is not taken in: the promotion asks first", async () => {
  await using world = await landingWorld({ gates: ["true"] });
  commit(world, "secret.txt", "secret\n");
  await begun(world);
  make(world, "b", landing);
  world.git(world.root, "rm", "--quiet", "secret.txt");
  world.git(world.root, "commit", "--quiet", "--amend", "--allow-empty", "-m", "without it");
  await world.enqueue("b", { runId: "run-1", targetBranch: landing });
  await world.work();
  expect(await world.store.read((tx) => tx.merges.list({ branch: "main" }))).toEqual([]);
  expect(await world.promote("run-1")).toMatchObject({ status: "dropped", request: { cause: "rewritten_target" } });
});

for (const source of ["cli", "engine"] as const) {
  const by = source === "engine" ? " by an earlier version" : "";
  test(`a branch without an agent that was taken out and queued again${by} is work, and no commit of the target`, async () => {
    await using world = await landingWorld({ gates: ["true"] });
    await begun(world);
    make(world, "mine", "main");
    const first = await world.enqueue("mine", { runId: "run-1", targetBranch: landing, source: "cli" });
    await world.work();
    await world.undo(String(first), { requeue: source === "cli" });
    if (source === "engine") await world.enqueue("mine", { runId: "run-1", targetBranch: landing, source });
    const [again] = await world.store.read((tx) => tx.merges.list({ branch: "mine", statuses: ["pending"] }));
    if (again === undefined) throw new Error("the branch is not in the queue again");
    expect(again).toMatchObject({ source, enqueuedBy: "operator" });
    await world.call(approveMerge, { of: String(again.id) });
    await world.work();
    expect(world.show(landing, "mine.txt")).toBe("mine");
    const context = { settings: world.ports.rules, ids: world.ports.ids };
    expect(await world.store.read((tx) => unpromotedWork(tx, context))).toMatchObject([{ landings: 2 }]);
    expect((await world.undo(String(again.id))).status).toBe("done");
    expect((await world.entry(again.id)).status).toBe("reverted");
  }, 60_000);
}

test("what lands while a promotion takes the target in counts as promoted with it", async () => {
  await using world = await landingWorld();
  await begun(world);
  commit(world, "fix.txt", "fix\n");
  make(world, "b", landing);
  const id = await world.enqueue("b", { runId: "run-1", targetBranch: landing });
  expect(await world.promote("run-1")).toMatchObject({ status: "done" });
  expect(world.show("main", "b.txt")).toBe("b");
  const context = { settings: world.ports.rules, ids: world.ports.ids };
  expect(await world.store.read((tx) => unpromotedWork(tx, context))).toEqual([]);
  expect(await world.call(requestUndo, { of: String(id), requeue: false })).toMatchObject({ promoted: "main" });
  await world.work();
  expect(await world.store.read((tx) => unpromotedWork(tx, context))).toMatchObject([{ landings: 0, takenOut: 1 }]);
});
