import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ensureLandingBranch } from "../../src/engine/merge/landing-branch.ts";
import { Slots } from "../../src/engine/merge/slots.ts";
import { MergeWorker } from "../../src/engine/merge/worker.ts";
import { requestPromote } from "../../src/usecases/merge/landing/promotion.ts";
import { type LandingWorld, landingWorld } from "../../testkit/landing-world.ts";
import { activeRun } from "../../testkit/use-case.ts";
import { amended, answer, filesOf, landing, make, questions } from "./rewritten-target.world.ts";

test("what the user took out of the target is not put back by a promotion: the operator is asked once", async () => {
  const { world, secret, mine } = await amended();
  await using _ = world;
  for (let time = 0; time < 2; time++) {
    expect(await world.promote("run-1")).toMatchObject({ status: "dropped", request: { cause: "rewritten_target" } });
    expect(world.tip("main")).toBe(mine);
  }
  const asked = await questions(world);
  expect(asked).toMatchObject([{ options: ["leave out", "bring back"] }]);
  expect(asked[0]?.context).toContain(`git log -p ${mine.slice(0, 10)}..${secret.slice(0, 10)}`);
  expect((await world.promote("run-1")).problem).toContain(`ov decide ${asked[0]?.id} 'leave out'`);
});

test("left out, only what landed is replayed, and neither the files nor the history have the rest", async () => {
  const { world, secret } = await amended();
  await using _ = world;
  await world.promote("run-1");
  const before = world.tip(landing);
  await answer(world, "leave out");
  expect(await questions(world)).toEqual([]);
  expect(await world.promote("run-1")).toMatchObject({ status: "done", problem: null });
  expect(filesOf(world, "main")).toEqual(["a.txt", "notes.txt"]);
  expect(world.git(world.root, "log", "--format=%H", "main").split("\n")).not.toContain(secret);
  expect(world.git(world.root, "for-each-ref", "--points-at", before, "refs/overstory/backup")).not.toBe("");
});

test("a branch that was begun before goes back to its owner with the command that replays it, and lands then", async () => {
  const { world, secret } = await amended();
  await using _ = world;
  await world.promote("run-1");
  await answer(world, "leave out");
  const id = await world.enqueue("b", { runId: "run-1", targetBranch: landing });
  await world.work();
  const { status, causeDetail } = await world.entry(id);
  expect(status).toBe("conflict");
  const command = `git rebase --onto ${landing} ${secret.slice(0, 12)} b`;
  expect(causeDetail?.message).toContain(command);
  world.git(world.root, ...command.split(" ").slice(1), "--quiet");
  world.git(world.root, "checkout", "--quiet", "main");
  await world.enqueue("b", { runId: "run-1", targetBranch: landing });
  await world.work();
  expect(await world.promote("run-1")).toMatchObject({ status: "done" });
  expect(filesOf(world, "main")).toEqual(["a.txt", "b.txt", "notes.txt"]);
});

test("brought back, the target gets everything", async () => {
  const { world } = await amended();
  await using _ = world;
  await world.promote("run-1");
  await answer(world, "bring back");
  expect(await world.promote("run-1")).toMatchObject({ status: "done" });
  expect(filesOf(world, "main")).toEqual(["a.txt", "notes.txt", "secret.txt"]);
});

test("where what landed needs what was taken out, nothing is changed, and the operator learns why", async () => {
  const { world } = await amended({ gates: ["test ! -e a.txt || test -e secret.txt"] });
  await using _ = world;
  await world.promote("run-1");
  const before = world.tip(landing);
  await answer(world, "leave out");
  expect(world.tip(landing)).toBe(before);
  const mail = await world.store.read((tx) => tx.messages.list({ to: "operator", type: "error" }));
  expect(mail.at(-1)?.body).toContain("these gates fail: gate-1");
  expect((await world.promote("run-1")).request.cause).toBe("rewritten_target");
  expect(await questions(world)).toHaveLength(1);
});

test("changes of the same lines are not replayed", async () => {
  const { world } = await amended();
  await using _ = world;
  world.branch("c", () => world.write(world.root, "notes.txt", "one\nours\nthree\n"), landing);
  await world.enqueue("c", { runId: "run-1", targetBranch: landing });
  await world.work();
  world.write(world.root, "notes.txt", "one\ntheirs\nthree\n");
  world.git(world.root, "commit", "--quiet", "--amend", "-am", "changed");
  await world.promote("run-1");
  await answer(world, "leave out");
  const mail = await world.store.read((tx) => tx.messages.list({ to: "operator", type: "error" }));
  expect(mail.at(-1)?.body).toContain("notes.txt");
});

test("a target that loses what was promoted is noticed, and gets it back or not as the operator says", async () => {
  for (const [option, files] of [
    ["bring back", ["a.txt", "mine.txt"]],
    ["leave out", ["mine.txt"]],
  ] as const) {
    await using world = await landingWorld();
    make(world, "a", "main");
    await world.enqueue("a");
    await world.work();
    const before = world.tip("main");
    await world.promote();
    world.git(world.root, "reset", "--quiet", "--hard", before);
    world.write(world.root, "mine.txt", "mine\n");
    world.git(world.root, "add", ".");
    world.git(world.root, "commit", "--quiet", "-m", "mine");
    expect((await world.promote()).request.cause).toBe("rewritten_target");
    expect(existsSync(join(world.root, "a.txt"))).toBe(false);
    await answer(world, option);
    if (option === "bring back") expect(await world.promote()).toMatchObject({ status: "done" });
    // Everything that had landed was left out.
    else await expect(world.promote()).rejects.toThrow("nothing to promote");
    expect(filesOf(world, "main")).toEqual([...files]);
  }
});

for (const own of ["a new message", "a commit"] as const) {
  test(`work that is reset away after a promotion which had to take in ${own} does not come back unasked`, async () => {
    await using world = await begunOnOwnCommit();
    const { root } = world;
    if (own === "a commit") world.write(root, "notes.txt", "one\n");
    world.git(root, "add", ".");
    world.git(root, "commit", "--quiet", ...(own === "a commit" ? ["-m", own] : ["--amend", "-m", "in better words"]));
    const mine = world.tip("main");
    expect(await world.promote("run-1")).toMatchObject({ status: "done", problem: null });
    expect(filesOf(world, "main")).toContain("one.txt");
    world.git(root, "reset", "--quiet", "--hard", mine);
    expect(await world.promote("run-1")).toMatchObject({ status: "dropped", request: { cause: "rewritten_target" } });
    expect(world.tip("main")).toBe(mine);
  });
}

test("what was reset away below a promotion does not come back when the promoted landing is undone", async () => {
  const world = await landingWorld({ gates: ["true"] });
  await using _ = world;
  const { root } = world;
  world.write(root, "secret.txt", "secret\n");
  world.git(root, "add", ".");
  world.git(root, "commit", "--quiet", "-m", "with a secret");
  const secret = world.tip("main");
  await world.store.transaction((tx) => tx.runs.insert(activeRun("run-1", 1)));
  const begun = await world.store.read((tx) => tx.runs.get("run-1"));
  if (begun === undefined) throw new Error("no run");
  expect(await ensureLandingBranch(world.ports, begun)).toBe(landing);
  make(world, "a", secret);
  const a = await world.enqueue("a", { runId: "run-1", targetBranch: landing });
  await world.work();
  const promotion = await world.promote("run-1");
  expect(promotion.status).toBe("done");
  world.git(root, "reset", "--quiet", "--hard", `${secret}~1`);
  const mine = world.tip("main");
  const refused = await world.undo(promotion.id);
  expect(refused.problem).toContain("main no longer has this promotion");
  expect(refused.problem).not.toContain("ov merge promote");
  expect(await world.undo(String(a))).toMatchObject({ status: "done" });
  expect(await world.promote("run-1")).toMatchObject({ status: "dropped", request: { cause: "rewritten_target" } });
  expect(world.tip("main")).toBe(mine);
  await answer(world, "leave out");
  expect(await questions(world)).toEqual([]);
  await world.promote("run-1");
  expect(world.git(root, "log", "--format=%H", "main").split("\n")).not.toContain(secret);
});

test("a target that has the commits again is promoted to without a question", async () => {
  const { world, secret } = await amended();
  await using _ = world;
  await world.promote("run-1");
  world.git(world.root, "reset", "--quiet", "--hard", secret);
  expect(await world.promote("run-1")).toMatchObject({ status: "done" });
  expect(await questions(world)).toEqual([]);
});

/** A run with one landed branch of somebody else, begun on a commit that the user has not pushed yet. */
async function begunOnOwnCommit(): Promise<LandingWorld> {
  const world = await landingWorld({ gates: ["true"] });
  const { root } = world;
  world.write(root, "mine.txt", "mine\n");
  world.git(root, "add", ".");
  world.git(root, "commit", "--quiet", "-m", "my own commit");
  const begun = activeRun("run-1", 1);
  await world.store.transaction((tx) => tx.runs.insert(begun));
  await ensureLandingBranch(world.ports, begun);
  world.git(root, "checkout", "--quiet", "-b", "a");
  for (const name of ["one", "two"]) {
    world.write(root, `${name}.txt`, `${name}\n`);
    world.git(root, "add", ".");
    world.git(root, "commit", "--quiet", `--author=Agent ${name} <${name}@example.invalid>`, "-m", `work ${name}`);
  }
  world.git(root, "checkout", "--quiet", "main");
  await world.enqueue("a", { runId: "run-1", targetBranch: landing });
  await world.work();
  return world;
}

const historyOf = (world: LandingWorld, branch: string): readonly string[] =>
  world.git(world.root, "log", "--no-merges", "--format=%an: %s", branch).split("\n");

test("a rebase that keeps every patch of the target loses nothing: the promotion asks nobody", async () => {
  await using world = await begunOnOwnCommit();
  const mine = world.tip("main");
  // As `git pull --rebase` does when somebody else pushed.
  world.branch("upstream", () => world.write(world.root, "theirs.txt", "theirs\n"), "main^");
  world.git(world.root, "rebase", "--quiet", "upstream");
  expect(world.tip("main")).not.toBe(mine);
  expect(await world.promote("run-1")).toMatchObject({ status: "done", problem: null });
  expect(await questions(world)).toEqual([]);
  expect(filesOf(world, "main")).toEqual(["mine.txt", "one.txt", "theirs.txt", "two.txt"]);
  const history = historyOf(world, "main");
  expect(history.filter((line) => line.endsWith("my own commit"))).toHaveLength(1);
  expect(history).toContain("Agent one: work one");
  expect(history).toContain("Agent two: work two");
  expect(world.git(world.root, "log", "--merges", "--format=%s", "main")).toContain("a");
});

test("a new message for the newest commit of the target loses nothing either", async () => {
  await using world = await begunOnOwnCommit();
  world.git(world.root, "commit", "--quiet", "--amend", "-m", "in better words");
  expect(await world.promote("run-1")).toMatchObject({ status: "done", problem: null });
  expect(await questions(world)).toEqual([]);
  expect(historyOf(world, "main").some((line) => line.endsWith("my own commit"))).toBe(false);
});

test("a branch that was begun before a new message lands by itself, in commits of its own, and stays as it was", async () => {
  await using world = await begunOnOwnCommit();
  make(world, "b", landing);
  const [mine, begun] = [world.tip("main"), world.tip("b")];
  world.git(world.root, "commit", "--quiet", "--amend", "-m", "in better words");
  await world.promote("run-1");
  const id = await world.enqueue("b", { runId: "run-1", targetBranch: landing });
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "merged", headCommit: begun });
  expect(world.tip("b")).toBe(begun);
  expect(filesOf(world, landing)).toEqual(["b.txt", "mine.txt", "one.txt", "two.txt"]);
  const commits = world.git(world.root, "log", "--format=%H", landing).split("\n");
  expect(commits).not.toContain(mine);
  expect(historyOf(world, landing).filter((line) => line.endsWith("work one"))).toHaveLength(1);
  // Announced again, it brings nothing new. It can be taken out, and comes back.
  const again = await world.enqueue("b", { runId: "run-1", targetBranch: landing });
  await world.work();
  expect((await world.entry(again)).status).toBe("merged");
  expect((await world.undo(String(id))).status).toBe("done");
  expect(filesOf(world, landing)).toEqual(["mine.txt", "one.txt", "two.txt"]);
  expect(await world.promote("run-1")).toMatchObject({ status: "done", problem: null });
});

test("a branch begun before that does not apply by itself is sent back with words that are true", async () => {
  await using world = await begunOnOwnCommit();
  world.branch("b", () => world.write(world.root, "mine.txt", "theirs\n"), landing);
  const begun = world.tip(landing);
  world.git(world.root, "commit", "--quiet", "--amend", "-m", "in better words");
  await world.promote("run-1");
  world.write(world.root, "mine.txt", "changed\n");
  world.git(world.root, "commit", "--quiet", "-am", "on");
  await world.promote("run-1");
  const id = await world.enqueue("b", { runId: "run-1", targetBranch: landing });
  await world.work();
  const { status, causeDetail } = await world.entry(id);
  expect(status).toBe("conflict");
  expect(causeDetail?.message).toContain("which main has under another id now; replay only its own commits:");
  expect(causeDetail?.message).not.toContain("taken out");
  world.git(world.root, "rebase", "--quiet", "-X", "theirs", "--onto", landing, begun, "b");
  world.git(world.root, "checkout", "--quiet", "main");
  const again = await world.enqueue("b", { runId: "run-1", targetBranch: landing });
  await world.work();
  expect((await world.entry(again)).status).toBe("merged");
});

test("a replay that breaks off is one operation, however often it is tried", async () => {
  await using world = await begunOnOwnCommit();
  world.git(world.root, "commit", "--quiet", "--amend", "-m", "in better words");
  const { promote } = await world.call(requestPromote, { runId: "run-1" });
  let breaks = 3;
  const merging = {
    ...world.ports.merging,
    mergeOver: async (...of: Parameters<typeof world.ports.merging.mergeOver>) => {
      if (breaks-- > 0) throw new Error("git could not be started");
      return world.ports.merging.mergeOver(...of);
    },
  };
  const ports = { ...world.ports, report: () => {}, merging };
  const stop = new AbortController().signal;
  const worker = new MergeWorker(ports, { slots: new Slots(1), stop, wake: () => worker.look() });
  worker.look();
  const state = () => world.store.read(async (tx) => (await tx.mergeOps.get(promote?.id ?? ""))?.status);
  while ((await state()) !== "done") await Bun.sleep(20);
  await worker.settled();
  const replays = await world.store.read((tx) => tx.mergeOps.list({ kind: "restore" }));
  expect(replays.map(({ status }) => status)).toEqual(["done"]);
}, 60_000);

test("left out, the commits of agents keep their authors and messages", async () => {
  await using world = await begunOnOwnCommit();
  world.git(world.root, "rm", "--quiet", "mine.txt");
  world.git(world.root, "commit", "--quiet", "--amend", "--allow-empty", "-m", "without it");
  await world.promote("run-1");
  await answer(world, "leave out");
  expect(await world.promote("run-1")).toMatchObject({ status: "done" });
  // Commits of one second have no order of their own.
  expect(historyOf(world, "main")).toContain("Agent one: work one");
  expect(historyOf(world, "main")).toContain("Agent two: work two");
});

test("an answer that could not be carried out is named where the question is asked again, with the ways out", async () => {
  const { world } = await amended();
  await using _ = world;
  world.branch("c", () => world.write(world.root, "notes.txt", "one\nours\nthree\n"), landing);
  await world.enqueue("c", { runId: "run-1", targetBranch: landing });
  await world.work();
  world.write(world.root, "notes.txt", "one\ntheirs\nthree\n");
  world.git(world.root, "commit", "--quiet", "--amend", "-a", "-m", "without it");
  await world.promote("run-1");
  await answer(world, "leave out");
  const { problem } = await world.promote("run-1");
  expect(problem).toContain("'leave out' was tried and did not work");
  const [asked] = await questions(world);
  expect(asked?.context).toContain("leave out was tried, and did not work: what landed and what was changed in main");
  expect(asked?.context).toContain("choose bring back, promote, join the files");
  // One recipe: the ways out, and not the first question's words beside them.
  expect(asked?.context).not.toContain("commit by commit where that is possible");
  const told = await world.store.read((tx) => tx.messages.list({ to: "operator", type: "error" }));
  expect(told.map(({ body }) => body)).toEqual([
    expect.stringContaining("To be asked again, with the ways out: ov merge"),
  ]);
  expect(told[0]?.body).not.toContain("Ways out:");
});
