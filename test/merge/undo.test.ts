import { expect, test } from "bun:test";
import fc from "fast-check";
import { requestPromote } from "../../src/usecases/merge/landing/promotion.ts";
import { approveMerge } from "../../src/usecases/merge/queue/decide-entry.ts";
import { overview } from "../../src/usecases/status/overview.ts";
import { landingWorld } from "../../testkit/landing-world.ts";

const landing = "overstory/integration/main";

test("undoing the last landing puts the branch back where it was", async () => {
  await using world = await landingWorld();
  world.branch("a", () => world.write(world.root, "a.txt", "a\n"));
  const id = await world.enqueue("a");
  await world.work();
  const op = await world.undo(String(id));
  expect(op).toMatchObject({ status: "done", afterCommit: world.tip("main") });
  expect(world.tip(landing)).toBe(world.tip("main"));
  expect(await world.entry(id)).toMatchObject({ status: "reverted" });
});

test("an undone branch that is queued again waits for approval and brings its work back, and an undo can be undone", async () => {
  await using world = await landingWorld();
  for (const name of ["a", "b"]) world.branch(name, () => world.write(world.root, `${name}.txt`, `${name}\n`));
  const ids = [await world.enqueue("a"), await world.enqueue("b")];
  await world.work();
  await world.undo(String(ids[0]), { requeue: true });
  expect(() => world.show(landing, "a.txt")).toThrow();
  await world.call(approveMerge, { of: "a" });
  await world.work();
  expect([world.show(landing, "a.txt"), world.show(landing, "b.txt")]).toEqual(["a", "b"]);
  const undone = await world.undo(String(ids[1]));
  expect(() => world.show(landing, "b.txt")).toThrow();
  await world.undo(undone.id);
  expect(world.show(landing, "b.txt")).toBe("b");
  expect(await world.entry(ids[1] ?? 0)).toMatchObject({ status: "merged" });
});

test("an undone branch that has another commit since lands whole, once", async () => {
  await using world = await landingWorld();
  for (const name of ["a", "b"]) world.branch(name, () => world.write(world.root, `${name}.txt`, `${name}\n`));
  const ids = [await world.enqueue("a"), await world.enqueue("b")];
  await world.work();
  await world.undo(String(ids[0]));
  expect(() => world.show(landing, "a.txt")).toThrow();
  world.branch("a", () => world.write(world.root, "more.txt", "more\n"));
  const again = await world.enqueue("a");
  await world.work();
  expect(await world.entry(again)).toMatchObject({ status: "merged" });
  const shown = ["a.txt", "more.txt", "b.txt"].map((file) => world.show(landing, file));
  expect(shown).toEqual(["a", "more", "b"]);
  // What came back once is not brought back over what was made of it since.
  world.branch("a", () => world.write(world.root, "a.txt", "changed\n"));
  await world.enqueue("a");
  await world.work();
  expect(world.show(landing, "a.txt")).toBe("changed");
});

test("a branch that landed twice and was undone twice comes back whole", async () => {
  await using world = await landingWorld();
  for (const name of ["a", "b"]) world.branch(name, () => world.write(world.root, `${name}.txt`, `${name}\n`));
  const first = await world.enqueue("a");
  await world.work();
  world.branch("a", () => world.write(world.root, "more.txt", "more\n"));
  const second = await world.enqueue("a");
  await world.work();
  await world.enqueue("b");
  await world.work();
  for (const id of [first, second]) expect(await world.undo(String(id))).toMatchObject({ status: "done" });
  for (const file of ["a.txt", "more.txt"]) expect(() => world.show(landing, file)).toThrow();
  const again = await world.enqueue("a");
  await world.work();
  expect(await world.entry(again)).toMatchObject({ status: "merged", filesModified: ["a.txt", "more.txt"] });
  expect(["a.txt", "more.txt", "b.txt"].map((file) => world.show(landing, file))).toEqual(["a", "more", "b"]);
});

test("what later work rests on is not taken out: the cause is named and the branch stays", async () => {
  await using world = await landingWorld({ files: { "x.txt": "one\n" } });
  world.branch("a", () => world.write(world.root, "x.txt", "two\n"));
  const a = await world.enqueue("a");
  await world.work();
  world.git(world.root, "branch", "b", landing);
  world.branch("b", () => world.write(world.root, "x.txt", "three\n"));
  await world.enqueue("b");
  await world.work();
  const tip = world.tip(landing);
  const op = await world.undo(String(a));
  expect(op.status).toBe("dropped");
  expect(op.problem).toStartWith("what came later touches the same lines as a");
  expect(world.tip(landing)).toBe(tip);
  expect(await world.entry(a)).toMatchObject({ status: "merged" });
  // What the problem says to type works.
  const commands = undosIn(op.problem);
  expect(commands).toHaveLength(2);
  for (const id of commands) expect(await world.undo(id)).toMatchObject({ status: "done" });
  expect(world.show(landing, "x.txt")).toBe("one");
});

const undosIn = (problem: string | null): readonly string[] =>
  [...(problem ?? "").matchAll(/ov merge undo (op-\w+)/g)].map(([, id]) => id ?? "");

test("a promotion that was pushed is not taken back by moving the target behind its remote", async () => {
  await using world = await landingWorld();
  world.branch("a", () => world.write(world.root, "a.txt", "a\n"));
  await world.enqueue("a");
  await world.work();
  const promoted = await world.promote();
  world.git(world.root, "update-ref", "refs/remotes/origin/main", "main");
  const before = world.tip("main");
  const op = await world.undo(promoted.id);
  expect([op.status, world.tip("main")]).toEqual(["dropped", before]);
  expect(op.problem).toContain("this promotion was pushed: origin/main has it");
  // The named commands take it out by a commit on top, which can be pushed.
  const [, land = ""] = op.problem?.match(/ov merge undo (\S+), then: ov merge promote/) ?? [];
  expect(await world.undo(land)).toMatchObject({ status: "done" });
  await world.call(requestPromote, { target: "main" });
  await world.work();
  expect(() => world.show("main", "a.txt")).toThrow();
  expect(world.git(world.root, "merge-base", "main", "origin/main")).toContain(before);
});

test("a promotion that commits came after is not taken back; the commands that take its work out are named", async () => {
  await using world = await landingWorld();
  for (const name of ["a", "b"]) {
    world.branch(name, () => world.write(world.root, `${name}.txt`, `${name}\n`));
    await world.enqueue(name);
    await world.work();
  }
  const promoted = await world.promote();
  world.write(world.root, "own.txt", "own\n");
  world.git(world.root, "add", "own.txt");
  world.git(world.root, "commit", "--quiet", "-m", "by hand");
  const op = await world.undo(promoted.id);
  expect(op.status).toBe("dropped");
  expect(op.problem).toEndWith("then: ov merge promote --target main");
  expect(undosIn(op.problem)).toHaveLength(2);
  for (const id of undosIn(op.problem)) expect(await world.undo(id)).toMatchObject({ status: "done" });
  const { unpromoted } = await world.call(overview, { all: false, mailbox: "operator" });
  expect(unpromoted).toMatchObject([{ target: "main", landings: 0, takenOut: 2 }]);
  const { promote } = await world.call(requestPromote, { target: "main" });
  await world.work();
  expect(await world.store.read((tx) => tx.mergeOps.get(promote?.id ?? ""))).toMatchObject({ status: "done" });
  for (const name of ["a", "b"]) expect(() => world.show("main", `${name}.txt`)).toThrow();
  expect(world.show("main", "own.txt")).toBe("own");
});

test("an undo that would break the gates is refused", async () => {
  await using world = await landingWorld({ gates: ["test ! -e b.txt || test -e a.txt"] });
  for (const name of ["a", "b"]) world.branch(name, () => world.write(world.root, `${name}.txt`, `${name}\n`));
  const ids = [await world.enqueue("a"), await world.enqueue("b")];
  await world.work();
  const op = await world.undo(String(ids[0]));
  expect(op.problem).toStartWith("without it these gates would fail: ");
  expect(world.show(landing, "a.txt")).toBe("a");
});

test("any members of trains, undone in any order, leave what merging the rest would give", async () => {
  const some = fc.uniqueArray(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(some, fc.constantFrom(1, 3, 8), fc.boolean(), async (order, batchSize, overlapping) => {
      const lines = Array.from({ length: 30 }, (_, at) => `line ${at}\n`).join("");
      await using world = await landingWorld({ files: { "shared.txt": lines }, gates: ["true"], merge: { batchSize } });
      const names = ["b0", "b1", "b2", "b3", "b4", "b5"];
      for (const [at, name] of names.entries()) {
        world.branch(name, () => {
          world.write(world.root, `${name}.txt`, `${name}\n`);
          if (overlapping) world.write(world.root, "shared.txt", lines.replace(`line ${at * 5}\n`, `${name}\n`));
        });
      }
      const ids: number[] = [];
      for (const name of names) ids.push(await world.enqueue(name));
      await world.work();
      for (const at of order) await world.undo(String(ids[at]));
      const rest = names.filter((_, at) => !order.includes(at));
      world.git(world.root, "checkout", "--quiet", "-b", "expected", "main");
      for (const name of rest) world.git(world.root, "merge", "--quiet", "--no-edit", name);
      expect(world.tip(`${landing}^{tree}`)).toBe(world.tip("expected^{tree}"));
    }),
    { numRuns: 8 },
  );
}, 300_000);

test("an undo is not refused for a gate that fails already with what it takes out", async () => {
  await using world = await landingWorld({
    files: { "red.txt": "red\n", "a.txt": "one\ntwo\nthree\n" },
    gates: ["test ! -e red.txt"],
  });
  for (const name of ["a", "b"]) world.branch(name, () => world.write(world.root, `${name}-new.txt`, `${name}\n`));
  const first = await world.enqueue("a");
  await world.work();
  await world.enqueue("b");
  await world.work();
  expect(await world.undo(String(first))).toMatchObject({ status: "done", problem: null });
});

test("an undo on a branch that is checked out now changes nothing and names the commands that let it happen", async () => {
  await using world = await landingWorld();
  world.git(world.root, "branch", "dev");
  for (const name of ["a", "b"]) {
    world.branch(name, () => world.write(world.root, `${name}.txt`, `${name}\n`));
    await world.enqueue(name, { targetBranch: "dev" });
    await world.work();
  }
  world.git(world.root, "switch", "--quiet", "dev");
  const before = world.tip("dev");
  const { status, problem } = await world.undo("a");
  expect([status, world.tip("dev")]).toEqual(["dropped", before]);
  const [, free = "", again = ""] =
    /: git (-C \S+ switch --detach), then again: ov merge undo (\S+),/.exec(problem ?? "") ?? [];
  world.git(world.root, ...free.split(" "), "--quiet");
  expect(await world.undo(again)).toMatchObject({ status: "done" });
  expect(() => world.show("dev", "a.txt")).toThrow();
});
