import { describe, expect, test } from "bun:test";
import { type MergeWorld, mergeWorld } from "../../../testkit/merge-queue-world.ts";

const sentBack = { type: "review", payload: JSON.stringify({ verdict: "fail", branch: "overstory/b1/T1" }) };

/** What becomes of mail to the builder, who has submitted its work to `lead-1`. */
async function send(world: MergeWorld, from: string, more: object) {
  world.clock.now += 1000;
  return world.callAs(from, "mail.send", { to: "b1", subject: "more", body: `at ${world.clock.now}`, ...more });
}

const another = (world: MergeWorld, name: string, capability: "lead" | "reviewer", parentName: string) =>
  world.seat(name, { capability, parentName, runId: "run-2", taskId: null });

describe("an agent that has submitted its work", () => {
  test.each([
    ["dispatch", { type: "dispatch" }],
    ["assign", { type: "assign" }],
    ["a failing review", sentBack],
  ])("is not sent back by %s of another lead, which is refused and put on record", async (_, more) => {
    await using world = await mergeWorld();
    await another(world, "lead-2", "lead", "coordinator");
    expect(await send(world, "lead-2", more)).toMatchObject({
      ok: false,
      refusal: { kind: "not-allowed", caller: "lead-2", why: expect.stringContaining("Write to lead-1") },
    });
    expect((await world.agent("b1")).generation).toBe(1);
    const [record] = await world.store.read((tx) => tx.audit.list(10));
    expect(record).toMatchObject({ caller: "lead-2", action: "mail.send", refused: true });
  });

  test.each([
    [false, "between_turns"],
    [true, "zombie"],
  ] as const)("is sent back over its lead's head: %p, where that is %s", async (isBack, state) => {
    await using world = await mergeWorld();
    const lead = await world.agent("lead-1");
    await world.asEngine((tx, { now }) =>
      tx.agents.move(lead, { ...lead, state, stateVersion: 1 }, { to: state, actor: "test", reason: "so" }, now),
    );
    expect((await send(world, "coordinator", { type: "assign" })).ok).toBe(isBack);
    expect((await world.agent("b1")).generation).toBe(isBack ? 2 : 1);
  });

  test("is sent back by its lead and by its reviewer, and answers every question", async () => {
    for (const [from, more] of [
      ["lead-1", { type: "assign" }],
      ["lead-1", sentBack],
      ["rev", sentBack],
      ["lead-2", { type: "question" }],
    ] as const) {
      await using world = await mergeWorld();
      await another(world, "rev", "reviewer", "lead-1");
      await another(world, "lead-2", "lead", "coordinator");
      expect(await send(world, from, more)).toMatchObject({ ok: true });
      expect((await world.agent("b1")).generation).toBe(2);
    }
  });

  test("is not sent back by the reviewer of another agent", async () => {
    await using world = await mergeWorld();
    await another(world, "lead-2", "lead", "coordinator");
    await another(world, "rev", "reviewer", "lead-2");
    expect(await send(world, "rev", sentBack)).toMatchObject({ refusal: { kind: "not-allowed", caller: "rev" } });
  });
});
