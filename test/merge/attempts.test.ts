import { expect, test } from "bun:test";
import { showMerge } from "../../src/usecases/merge/read-merges.ts";
import { landingWorld } from "../../testkit/landing-world.ts";

test("an attempt that landed others is a failed one for the entry that conflicted, and its gates did not look at it", async () => {
  await using world = await landingWorld({ files: { "f.txt": "0\n" }, gates: ["true"] });
  const head = world.git(world.root, "rev-parse", "HEAD");
  world.branch("a", () => world.write(world.root, "f.txt", "a\n"), head);
  world.branch("b", () => world.write(world.root, "f.txt", "b\n"), head);
  world.branch("c", () => world.write(world.root, "c.txt", "c\n"), head);
  const [a, b, c] = [await world.enqueue("a"), await world.enqueue("b"), await world.enqueue("c")];
  await world.work();
  expect((await world.entry(b)).status).toBe("conflict");
  const left = await world.call(showMerge, { of: String(b) });
  expect(left.attempts.map(({ outcome }) => outcome)).toEqual(["failed"]);
  expect(left.gates.map(({ on }) => on)).toEqual(["others"]);
  for (const id of [a, c]) {
    const shown = await world.call(showMerge, { of: String(id) });
    expect(shown.attempts.map(({ outcome }) => outcome)).toEqual(["landed"]);
    expect(shown.gates.map(({ on }) => on)).toEqual(["entry"]);
  }
});

test("the results of the gates on the landing branch are told from those on the entry's own tree", async () => {
  await using world = await landingWorld({ gates: ["test ! -e red.txt"] });
  world.branch("red", () => world.write(world.root, "red.txt", "red\n"));
  const id = await world.enqueue("red");
  await world.work();
  const shown = await world.call(showMerge, { of: String(id) });
  expect(shown.attempts.map(({ outcome }) => outcome)).toEqual(["failed"]);
  expect(shown.gates.map(({ status, on }) => `${status} on ${on}`).toSorted()).toEqual([
    "failed on entry",
    "passed on base",
  ]);
});

test("an attempt whose engine died after the landing is a landed one for what had landed", async () => {
  await using world = await landingWorld({ gates: ["true"] });
  world.branch("a", () => world.write(world.root, "a.txt", "a\n"));
  const id = await world.enqueue("a");
  await world.work();
  const [attempt] = await world.store.read((tx) => tx.mergeAttempts.of(id));
  await world.store.transaction((tx) =>
    tx.mergeAttempts.change(attempt?.id ?? "", { outcome: "lost", members: [], gateResults: [] }),
  );
  const shown = await world.call(showMerge, { of: String(id) });
  expect(shown.attempts.map(({ outcome }) => outcome)).toEqual(["landed"]);
});
