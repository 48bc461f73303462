import { expect, test } from "bun:test";
import { type UseCaseWorld, useCaseWorld } from "../../../testkit/use-case.ts";
import { createGroup } from "../groups/change-groups.ts";
import { groupStatus } from "../groups/read-groups.ts";
import { claimTask, createTask, updateTask } from "./change-tasks.ts";
import { closeTask } from "./close-task.ts";
import { addDependency, removeDependency } from "./dependencies.ts";
import { exportTasks, importTasks } from "./exchange.ts";
import { listReady, listTasks, showTask } from "./read-tasks.ts";

const everything = async (world: UseCaseWorld) => (await world.must(listTasks, { all: true })).tasks;

async function sample(world: UseCaseWorld): Promise<void> {
  await world.must(createTask, { id: "a", title: "First", description: "Zeile\n\u2028", labels: ["x"], priority: 0 });
  await world.must(createTask, { id: "b", title: "Second", blockedBy: ["a"], files: ["src/b.ts"], type: "bug" });
  await world.must(createTask, { id: "c", title: "Third", blockedBy: ["a", "b"], parentId: "a", assignee: "eve" });
  await world.must(createTask, { id: "d", title: "Fourth" });
  await world.must(claimTask, { id: "d", by: "ann" });
  await world.must(closeTask, { id: "a", reason: "landed" });
}

test("an export read into an empty project gives the same tasks, and exports the same text", async () => {
  await using from = useCaseWorld();
  await using to = useCaseWorld();
  await sample(from);
  const { text, tasks } = await from.must(exportTasks, {});
  expect(tasks).toBe(4);
  expect(await to.must(importTasks, { text })).toMatchObject({ created: ["a", "b", "c", "d"], updated: [] });
  expect(await everything(to)).toEqual(await everything(from));
  expect((await to.must(exportTasks, {})).text).toBe(text);
});

test("importing the same text again changes nothing, and older lines never overwrite newer tasks", async () => {
  await using world = useCaseWorld();
  await sample(world);
  const { text } = await world.must(exportTasks, {});
  expect(await world.must(importTasks, { text })).toMatchObject({ created: [], updated: [], unchanged: 4 });
  await world.must(updateTask, { id: "b", title: "Renamed here" });
  const before = await everything(world);
  await world.must(importTasks, { text });
  expect(await everything(world)).toEqual(before);
});

test("two projects that exchange a file by union merge end with the same tasks", async () => {
  await using left = useCaseWorld();
  await using right = useCaseWorld();
  await sample(left);
  await right.must(importTasks, { text: (await left.must(exportTasks, {})).text });
  await left.must(updateTask, { id: "b", title: "By left" });
  await right.must(addDependency, { taskId: "c", dependsOn: "d" });
  await right.must(createTask, { id: "e", title: "By right" });
  const union = (await left.must(exportTasks, {})).text + (await right.must(exportTasks, {})).text;
  await left.must(importTasks, { text: union });
  await right.must(importTasks, { text: union });
  expect(await everything(left)).toEqual(await everything(right));
  expect((await left.must(showTask, { id: "c" })).blockedBy).toEqual(["a", "b", "d"]);
  expect((await right.must(showTask, { id: "b" })).task.title).toBe("By left");
});

test("a dependency taken away on one side stays away, whichever side's lines come last", async () => {
  for (const order of ["left first", "right first"]) {
    await using left = useCaseWorld();
    await using right = useCaseWorld();
    await sample(left);
    const before = (await left.must(exportTasks, {})).text;
    await right.must(importTasks, { text: before });
    await left.must(removeDependency, { taskId: "c", dependsOn: "b" });
    const after = (await left.must(exportTasks, {})).text;
    await right.must(importTasks, { text: order === "left first" ? after + before : before + after });
    expect((await right.must(showTask, { id: "c" })).blockedBy).toEqual(["a"]);
  }
});

test("a newer line that no longer waits for a task takes the dependency away", async () => {
  await using world = useCaseWorld();
  await world.must(createTask, { id: "a", title: "A" });
  await world.must(createTask, { id: "b", title: "B", blockedBy: ["a"] });
  const text = JSON.stringify({ id: "b", title: "B", updatedAt: "2030-01-01T00:00:00.000Z" });
  await world.must(importTasks, { text });
  expect((await world.must(showTask, { id: "b" })).blockedBy).toEqual([]);
});

test("a closed task that a newer line opens again makes its completed group active", async () => {
  await using world = useCaseWorld();
  await world.must(createTask, { id: "a", title: "A" });
  await world.must(createGroup, { name: "g", taskIds: ["a"] });
  await world.must(closeTask, { id: "a" });
  const text = JSON.stringify({ id: "a", title: "A", status: "open", updatedAt: "2030-01-01T00:00:00.000Z" });
  await world.must(importTasks, { text });
  expect((await world.must(groupStatus, { group: "g" })).groups[0]?.group.status).toBe("active");
});

test("one malformed line refuses the whole import with its number", async () => {
  await using world = useCaseWorld();
  const text = '{"id":"a","title":"fine"}\n{"id":"b"}\nnonsense\n';
  expect(await world.call(importTasks, { text })).toEqual({
    ok: false,
    refusal: { kind: "invalid", field: "line 2", problem: "has no title, and 1 more line is wrong too" },
  });
  expect(await everything(world)).toEqual([]);
});

test("lines that wait for each other are refused with the way round, and nothing is stored", async () => {
  await using world = useCaseWorld();
  const text = '{"id":"a","title":"A","blockedBy":["b"]}\n{"id":"b","title":"B","blockedBy":["a"]}';
  expect(await world.call(importTasks, { text })).toMatchObject({ refusal: { kind: "dependency-cycle" } });
  expect(await everything(world)).toEqual([]);
});

test("a foreign line knows nothing of claims and files, so those stay; unknown dependencies are named", async () => {
  await using world = useCaseWorld();
  await world.must(createTask, { id: "a", title: "A", files: ["src/a.ts"] });
  await world.must(claimTask, { id: "a", by: "ann" });
  const text = JSON.stringify({
    id: "a",
    title: "Renamed there",
    status: "in_progress",
    updatedAt: "2030-01-01T00:00:00.000Z",
    blockedBy: ["elsewhere"],
  });
  const reply = await world.must(importTasks, { text });
  expect(reply.unknownDependencies).toEqual([{ taskId: "a", dependsOn: "elsewhere" }]);
  expect((await world.must(showTask, { id: "a" })).task).toMatchObject({
    title: "Renamed there",
    claimedBy: "ann",
    files: ["src/a.ts"],
  });
});

test("a task that an import closes unblocks others and completes its groups", async () => {
  await using world = useCaseWorld();
  await world.must(createTask, { id: "a", title: "A" });
  await world.must(createTask, { id: "b", title: "B", blockedBy: ["a"] });
  await world.must(createGroup, { name: "g", taskIds: ["a"] });
  const text = JSON.stringify({
    id: "a",
    title: "A",
    status: "closed",
    blocks: ["b"],
    updatedAt: "2030-01-01T00:00:00.000Z",
  });
  const reply = await world.must(importTasks, { text });
  expect(reply.ready.map(({ task }) => task.id)).toEqual(["b"]);
  expect(reply.completedGroups.map(({ name }) => name)).toEqual(["g"]);
  expect((await world.must(listReady, {})).tasks.map(({ task }) => task.id)).toEqual(["b"]);
});

test("an export keeps what the file has beyond ours, and refuses to replace a file it cannot read", async () => {
  await using world = useCaseWorld();
  await world.must(createTask, { id: "a", title: "A" });
  const existing = '{"id":"a","title":"older","estimate":3}\n{"id":"z","title":"not imported yet"}\n';
  const { text, kept } = await world.must(exportTasks, { existing });
  expect(kept).toBe(1);
  const lines = text.trim().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { id: "z", title: "not imported yet" },
    { id: "a", title: "A", estimate: 3 },
  ]);
  expect(await world.call(exportTasks, { existing: "<<<<<<< HEAD\n" })).toMatchObject({
    refusal: { kind: "invalid", field: "line 1" },
  });
});
