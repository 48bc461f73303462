import { expect, test } from "bun:test";
import { join } from "node:path";
import { type LandingWorld, landingWorld } from "../../testkit/landing-world.ts";

const landing = "overstory/integration/main";

const adds = (world: LandingWorld, name: string): string =>
  world.branch(name, () => world.write(world.root, `${name}.txt`, `${name}\n`));

test("a gate that was flaky does not keep the gates after it from being asked", async () => {
  await using place = await landingWorld();
  const mark = join(place.root, "..", "flaky");
  await using world = await landingWorld({
    gates: [`test ! -e broken.txt || test -e '${mark}' || { touch '${mark}'; false; }`, "test ! -e broken.txt"],
  });
  adds(world, "broken");
  const id = await world.enqueue("broken");
  await world.work();
  expect(await world.entry(id)).toMatchObject({
    status: "failed",
    cause: "gate_failed",
    causeDetail: { gate: "gate-2" },
  });
});

test("a gate that fails already before a change does not keep the gates after it from being asked", async () => {
  await using world = await landingWorld({
    files: { "red.txt": "red\n" },
    gates: ["test ! -e red.txt", "test ! -e broken.txt"],
  });
  adds(world, "broken");
  const id = await world.enqueue("broken");
  await world.work();
  expect(await world.entry(id)).toMatchObject({
    status: "failed",
    cause: "gate_failed",
    causeDetail: { gate: "gate-2" },
  });
});

test("where dependencies cannot be installed nothing lands", async () => {
  await using world = await landingWorld({ gates: ["true"], merge: { setup: "exit 3" } });
  for (const name of ["a", "b"]) adds(world, name);
  const ids = [await world.enqueue("a"), await world.enqueue("b")];
  await world.work();
  for (const id of ids) expect(await world.entry(id)).toMatchObject({ status: "blocked", cause: "gate_failed" });
  expect(() => world.show(landing, "a.txt")).toThrow();
});

test("what is blocked is told once, and tried again at growing distances", async () => {
  await using world = await landingWorld({ gates: ["true"], merge: { setup: "exit 3" } });
  for (const name of ["a", "b"]) adds(world, name);
  const ids = [await world.enqueue("a"), await world.enqueue("b")];
  const rests: number[] = [];
  for (let tries = 0; tries < 3; tries++) {
    await world.work();
    const { notBefore, updatedAt } = await world.entry(ids[0] ?? 0);
    rests.push(notBefore - updatedAt);
    world.later(notBefore - updatedAt + 1_000);
  }
  expect(rests).toEqual([30_000, 60_000, 120_000]);
  const mails = await world.store.read((tx) => tx.messages.list({ to: "operator" }));
  expect(mails.map(({ subject }) => subject)).toEqual(["merge blocked (a gate failed): a"]);
  expect(mails[0]?.body).toContain(`ov merge resume ${ids[0]}`);
});

test("a branch that breaks the installing of dependencies is named as the one, and others land", async () => {
  await using world = await landingWorld({ gates: ["true"], merge: { setup: "test ! -e broken.txt" } });
  const ids = [];
  for (const name of ["a", "broken", "c"]) {
    adds(world, name);
    ids.push(await world.enqueue(name));
  }
  await world.work();
  const ends = await Promise.all(ids.map((id) => world.entry(id)));
  expect(ends.map(({ status, verdict }) => [status, verdict])).toEqual([
    ["merged", "verified"],
    ["failed", null],
    ["merged", "verified"],
  ]);
  expect(ends[1]).toMatchObject({ cause: "gate_failed", causeDetail: { gate: "setup" } });
});

test("a setup that fails once is tried again before anything is said about the branch", async () => {
  await using place = await landingWorld();
  const mark = join(place.root, "..", "network");
  const setup = `test -e '${mark}' || { touch '${mark}'; exit 1; }`;
  await using world = await landingWorld({ gates: ["test -e a.txt"], merge: { setup } });
  adds(world, "a");
  const id = await world.enqueue("a");
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "merged", verdict: "verified" });
});
