import { expect, test } from "bun:test";
import { activeRun, agentCaller, storedAgent, type UseCaseWorld, useCaseWorld } from "../../../testkit/use-case.ts";
import { claimTask, createTask, reopenTask, updateTask } from "../tasks/change-tasks.ts";
import { closeTask } from "../tasks/close-task.ts";
import { addMembers, createGroup, removeMembers } from "./change-groups.ts";
import { groupStatus, listGroups } from "./read-groups.ts";

const coordinator = agentCaller("coordinator", "coordinator");

async function withTasks(world: UseCaseWorld, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) await world.must(createTask, { id, title: id });
}

const statusOf = async (world: UseCaseWorld, group: string) => {
  const { groups } = await world.must(groupStatus, { group });
  return groups[0];
};

const inbox = (world: UseCaseWorld, name: string) => world.store.read((tx) => tx.deliveries.inState(name, ["queued"]));

test("a group shows how far its tasks are", async () => {
  await using world = useCaseWorld();
  await withTasks(world, "a", "b", "c", "d");
  await world.must(createGroup, { name: " release ", taskIds: ["a", "b", "c", "d"] });
  await world.must(closeTask, { id: "a" });
  await world.must(claimTask, { id: "b" });
  await world.must(updateTask, { id: "c", status: "blocked" });
  expect(await statusOf(world, "release")).toMatchObject({
    group: { name: "release", status: "active", owner: "operator" },
    memberIds: ["a", "b", "c", "d"],
    progress: { total: 4, completed: 1, inProgress: 1, blocked: 1, open: 1 },
  });
});

test.each([
  ["an empty name", { name: " ", taskIds: ["a"] }, { kind: "invalid", field: "name" }],
  ["no tasks", { name: "g", taskIds: [] }, { kind: "invalid", field: "tasks" }],
  ["an unknown task", { name: "g", taskIds: ["a", "zzz"] }, { kind: "not-found", id: "zzz" }],
  ["a task named twice", { name: "g", taskIds: ["a", "a"] }, { kind: "invalid", field: "tasks", value: "a" }],
  ["an id no tracker has", { name: "g", taskIds: ["../a"], skipValidation: true }, { kind: "invalid", field: "task" }],
])("a group with %s is refused", async (_, request, refusal) => {
  await using world = useCaseWorld();
  await withTasks(world, "a");
  expect(await world.call(createGroup, request)).toMatchObject({ ok: false, refusal });
  expect((await world.must(listGroups, {})).groups).toEqual([]);
});

test("tasks of another tracker can be followed and count as open", async () => {
  await using world = useCaseWorld();
  await world.must(createGroup, { name: "g", taskIds: ["bd-1"], skipValidation: true });
  expect((await statusOf(world, "g"))?.progress).toMatchObject({ total: 1, open: 1 });
});

test("closing the last task completes the group once and tells its owner without waking it", async () => {
  await using world = useCaseWorld();
  await withTasks(world, "a", "b");
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", 1));
    await tx.agents.reserve(storedAgent("coordinator", { capability: "coordinator" }));
  });
  await world.must(createGroup, { name: "g", taskIds: ["a", "b"] }, coordinator);
  expect((await world.must(closeTask, { id: "a" })).completedGroups).toEqual([]);
  expect((await world.must(closeTask, { id: "b" })).completedGroups).toMatchObject([{ name: "g" }]);
  await world.must(closeTask, { id: "b" });
  expect((await statusOf(world, "g"))?.group).toMatchObject({ status: "completed", completedAt: expect.any(Number) });
  const mail = await inbox(world, "coordinator");
  expect(mail).toMatchObject([
    { message: { fromAgent: "system", type: "status", subject: "Group complete: g" }, delivery: { wake: false } },
  ]);
  expect((await world.events()).filter(({ type }) => type === "group_completed")).toHaveLength(1);
  const told = (await world.events()).filter(({ type, agentName }) => type === "mail_sent" && agentName === "system");
  expect(told.map(({ source }) => source)).toEqual(["engine"]);
});

test("news for an owner that has ended goes to its nearest live ancestor", async () => {
  await using world = useCaseWorld();
  await withTasks(world, "a");
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", 1));
    await tx.agents.reserve(storedAgent("coordinator", { capability: "coordinator" }));
    await tx.agents.reserve(
      storedAgent("lea", { capability: "lead", parentName: "coordinator", state: "completed", outcome: "done" }),
    );
  });
  await world.must(createGroup, { name: "g", taskIds: ["a"] }, agentCaller("lea", "lead"));
  await world.must(closeTask, { id: "a" });
  expect(await inbox(world, "lea")).toEqual([]);
  expect(await inbox(world, "coordinator")).toMatchObject([{ message: { address: "lea" } }]);
});

test("a reopened task makes its completed group active again, and its closing completes it again", async () => {
  await using world = useCaseWorld();
  await withTasks(world, "a");
  await world.must(createGroup, { name: "g", taskIds: ["a"] });
  await world.must(closeTask, { id: "a" });
  await world.must(reopenTask, { id: "a" });
  expect((await statusOf(world, "g"))?.group).toMatchObject({ status: "active", completedAt: null });
  expect((await world.must(closeTask, { id: "a" })).completedGroups).toHaveLength(1);
  expect(await inbox(world, "operator")).toHaveLength(2);
});

test("adding reopens a completed group, and taking out the last open task completes it", async () => {
  await using world = useCaseWorld();
  await withTasks(world, "a", "b");
  await world.must(createGroup, { name: "g", taskIds: ["a"] });
  await world.must(closeTask, { id: "a" });
  expect(await world.must(addMembers, { group: "g", taskIds: ["b"] })).toMatchObject({
    group: { status: "active", completedAt: null },
    memberIds: ["a", "b"],
  });
  expect(await world.must(removeMembers, { group: "g", taskIds: ["b"] })).toMatchObject({
    group: { status: "completed" },
    memberIds: ["a"],
  });
});

test("taking a closed task out of a completed group does not announce it again", async () => {
  await using world = useCaseWorld();
  await withTasks(world, "a", "b");
  await world.must(createGroup, { name: "g", taskIds: ["a", "b"] });
  for (const id of ["a", "b"]) await world.must(closeTask, { id });
  const before = await statusOf(world, "g");
  const after = await world.must(removeMembers, { group: "g", taskIds: ["b"] });
  expect(after.group.completedAt).toBe(before?.group.completedAt ?? null);
  expect(await inbox(world, "operator")).toHaveLength(1);
});

test("members cannot be added twice, taken out when absent, or taken out until none is left", async () => {
  await using world = useCaseWorld();
  await withTasks(world, "a", "b");
  const { group } = await world.must(createGroup, { name: "g", taskIds: ["a"] });
  const member = { kind: "group-member", group: group.id };
  expect(await world.call(addMembers, { group: "g", taskIds: ["a"] })).toMatchObject({
    refusal: { ...member, task: "a", problem: "already" },
  });
  expect(await world.call(removeMembers, { group: "g", taskIds: ["b"] })).toMatchObject({
    refusal: { ...member, task: "b", problem: "absent" },
  });
  expect(await world.call(removeMembers, { group: "g", taskIds: ["a"] })).toMatchObject({
    refusal: { kind: "group-would-be-empty" },
  });
});

test("workers look at groups but do not arrange them", async () => {
  await using world = useCaseWorld();
  await withTasks(world, "a", "b");
  await world.must(createGroup, { name: "g", taskIds: ["a"] });
  const builder = agentCaller("ann", "builder", { taskId: "a" });
  const denied = { ok: false, refusal: { kind: "not-allowed", caller: "ann" } };
  expect(await world.call(createGroup, { name: "h", taskIds: ["a"] }, builder)).toMatchObject(denied);
  expect(await world.call(addMembers, { group: "g", taskIds: ["b"] }, builder)).toMatchObject(denied);
  expect(await world.call(removeMembers, { group: "g", taskIds: ["a"] }, builder)).toMatchObject(denied);
  expect((await world.must(groupStatus, {}, builder)).groups).toHaveLength(1);
});

test("without a name only active groups are shown, in the list all of them", async () => {
  await using world = useCaseWorld();
  await withTasks(world, "a", "b");
  await world.must(createGroup, { name: "done", taskIds: ["a"] });
  await world.must(createGroup, { name: "going on", taskIds: ["b"] });
  await world.must(closeTask, { id: "a" });
  const names = (groups: readonly { group: { name: string } }[]): string[] => groups.map(({ group }) => group.name);
  expect(names((await world.must(groupStatus, {})).groups)).toEqual(["going on"]);
  expect(names((await world.must(listGroups, {})).groups)).toEqual(["done", "going on"]);
});
