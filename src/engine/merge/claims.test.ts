import { expect, test } from "bun:test";
import { type LandingOptions, type LandingWorld, landingWorld } from "../../../testkit/landing-world.ts";
import { approveMerge } from "../../usecases/merge/queue/decide-entry.ts";

const landing = "overstory/integration/r1";

/** A branch that its parent approved while the project still had a gate; the engine that meets it has these rules. */
async function approvedEarlier(world: LandingWorld): Promise<number> {
  world.git(world.root, "branch", landing, "main");
  const headCommit = world.branch("work", () => world.write(world.root, "b.txt", "b\n"));
  const announced = { headCommit, targetBranch: landing, asker: "parent", enqueuedBy: "lead-1" } as const;
  const id = await world.enqueue("work", announced);
  await world.store.transaction((tx) => tx.merges.change(id, ["pending"], { approval: "parent" }));
  return id;
}

const questions = async ({ store }: LandingWorld): Promise<readonly string[]> =>
  (await store.read((tx) => tx.messages.list({ to: "operator", type: "decision_gate" }))).map(({ body }) => body);

test("a parent's approval does not cover a landing that nothing checks any more: the operator is asked, once", async () => {
  await using world = await landingWorld({ gates: [], merge: { unverified: "wait" } });
  const id = await approvedEarlier(world);
  const asked = (await questions(world)).length;
  const before = world.tip(landing);
  for (let pass = 0; pass < 2; pass++) await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "pending", approval: "waiting", attempts: 0 });
  expect(world.tip(landing)).toBe(before);
  const [question, ...more] = (await questions(world)).slice(0, -asked || undefined);
  expect(question).toContain("no gate is configured, so nothing has checked it");
  expect(more).toEqual([]);

  await world.call(approveMerge, { of: String(id) });
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "merged", approval: "operator", verdict: "unverified" });
});

const stillGood: Readonly<Record<string, LandingOptions>> = {
  "a gate looks at what lands": { gates: ["true"] },
  "the project lands what nothing has checked": { gates: [], merge: { unverified: "land" } },
};
test.each(Object.entries(stillGood))("a parent's approval is enough where %s", async (_, options) => {
  await using world = await landingWorld(options);
  const id = await approvedEarlier(world);
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "merged", approval: "parent" });
});

test("a project that wants the operator's word for every branch by now gets to give it", async () => {
  await using world = await landingWorld({ gates: ["true"], merge: { mode: "approve" } });
  const id = await approvedEarlier(world);
  await world.work();
  expect(await world.entry(id)).toMatchObject({ status: "pending", approval: "waiting" });
});
