import { expect, test } from "bun:test";
import { mergeWorld } from "../../../testkit/merge-queue-world.ts";
import { decide } from "./decide.ts";
import { operatorInbox } from "./inbox.ts";

test("a branch that waits for approval is one decision, however it is asked for", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  const { id, branch } = await world.announce();
  const { decisions } = await world.must(operatorInbox, {});
  expect(decisions).toMatchObject([
    { id: `merge:${id}`, kind: "merge", from: "lead-1", subject: `land ${branch}?`, options: ["approve", "reject"] },
  ]);
  expect(await world.must(decide, { id: `merge:${id}`, option: "approve" })).toMatchObject({ kind: "merge" });
  expect(await world.entries()).toMatchObject([{ id, approval: "operator" }]);
  expect((await world.must(operatorInbox, {})).decisions).toEqual([]);
});

test("a rejected branch goes back to its agent with the note, also by the id of the message that asked", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  const { id } = await world.announce();
  const [gate] = await world.store.read((tx) => tx.messages.list({ to: "operator", type: "decision_gate" }));
  expect(await world.call(decide, { id: gate?.id ?? "", option: "perhaps" })).toMatchObject({
    refusal: { field: "option", allowed: ["approve", "reject"] },
  });
  await world.must(decide, { id: gate?.id ?? "", option: "reject", note: "the name is wrong" });
  expect(await world.entries()).toMatchObject([{ id, status: "failed", approval: "denied" }]);
  const [failed] = await world.mailOf("b1", "merge_failed");
  expect(failed?.body).toContain("the name is wrong");
  expect((await world.must(operatorInbox, {})).decisions).toEqual([]);
});

test("no agent decides, not even a coordinator", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  const { id } = await world.announce();
  for (const name of ["lead-1", "coordinator"]) {
    expect(await world.callAs(name, "operator.decide", { id: `merge:${id}`, option: "approve" })).toMatchObject({
      refusal: { kind: "not-allowed", caller: name },
    });
  }
  expect(await world.entries()).toMatchObject([{ id, approval: "waiting" }]);
});

test("no agent looks into the operator's inbox", async () => {
  await using world = await mergeWorld();
  expect(await world.callAs("lead-1", "operator.inbox", {})).toMatchObject({ refusal: { kind: "not-allowed" } });
});
