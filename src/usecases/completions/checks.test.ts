import { expect, test } from "bun:test";
import { mailWorld } from "../../../testkit/mail-world.ts";
import { operator } from "../../domain/caller/caller.ts";
import { checkStatus, requestDone } from "./checks.ts";
import { requestGates, requestVerify } from "./request-gates.ts";

const done = { summary: "did it" };

test("an agent asks for its own work, and nobody is told anything yet", async () => {
  await using world = await mailWorld();
  const builder = await world.seat("b1", { taskId: "T1", branch: "overstory/b1/T1" });
  const { id, attached } = await world.must(requestDone, { ...done, task: "T1" }, builder);
  expect(attached).toBe(false);
  const { check } = await world.must(checkStatus, { id });
  expect(check).toMatchObject({ kind: "completion", agentName: "b1", status: "queued", refName: "overstory/b1/T1" });
  expect(await world.store.read((tx) => tx.messages.list({}))).toEqual([]);
  expect(await world.store.read((tx) => tx.checks.dueWork())).toBe(true);
});

test("asking again attaches to what is not answered yet, and the newest words count", async () => {
  await using world = await mailWorld();
  const builder = await world.seat("b1");
  const first = await world.must(requestDone, done, builder);
  const second = await world.must(requestDone, { summary: "did more" }, builder);
  expect(second).toEqual({ id: first.id, attached: true });
  const { check } = await world.must(checkStatus, { id: first.id });
  expect(check.request).toMatchObject({ done: { summary: "did more" } });
  await world.store.transaction((tx) => tx.checks.change(first.id, ["queued"], { status: "failed" }));
  expect((await world.must(requestDone, done, builder)).attached).toBe(false);
});

test("only a live worker finishes, for itself or through the operator", async () => {
  await using world = await mailWorld();
  const builder = await world.seat("b1", { taskId: "T1" });
  const coordinator = await world.seat("coordinator", { capability: "coordinator" });
  await world.seat("old", { state: "completed", outcome: "done" });
  const refusal = async (request: object, caller = operator) => {
    const answer = await world.call(requestDone, { ...done, ...request }, { caller });
    return answer.ok ? "accepted" : answer.refusal.kind;
  };
  expect(await refusal({ agent: "old" }, builder)).toBe("not-allowed");
  expect(await refusal({ task: "T2" }, builder)).toBe("invalid");
  expect(await refusal({ summary: " " }, builder)).toBe("invalid");
  expect(await refusal({}, coordinator)).toBe("not-allowed");
  expect(await refusal({})).toBe("invalid");
  expect(await refusal({ agent: "nobody" })).toBe("not-found");
  expect(await refusal({ agent: "old" })).toBe("not-allowed");
  expect(await refusal({ agent: "b1" })).toBe("accepted");
});

test("gates are run for the operator on anything, for agents on work of their run", async () => {
  await using world = await mailWorld();
  const builder = await world.seat("b1", { branch: "overstory/b1/T1" });
  const lead = await world.seat("lead-1", { capability: "lead" });
  const monitor = await world.seat("monitor", { capability: "monitor" });
  const named = async (ref: string | undefined, caller = operator) => {
    const answer = await world.call(requestGates, { ref }, { caller });
    if (!answer.ok) return answer.refusal.kind;
    return (await world.must(checkStatus, { id: answer.value.id })).check.refName;
  };
  expect(await named(undefined)).toBe("HEAD");
  expect(await named("v1.0")).toBe("v1.0");
  expect(await named("b1")).toBe("overstory/b1/T1");
  expect(await named(undefined, builder)).toBe("overstory/b1/T1");
  expect(await named("b1", lead)).toBe("overstory/b1/T1");
  expect(await named("main", builder)).toBe("not-allowed");
  expect(await named("b1", monitor)).toBe("not-allowed");
  expect(await world.call(requestVerify, { receipt: "none" })).toMatchObject({ refusal: { noun: "receipt" } });
});
