import { expect, test } from "bun:test";
import { aTask } from "../../../testkit/contracts/store/rows.ts";
import { activeRun, agentCaller, storedAgent, type UseCaseWorld, useCaseWorld } from "../../../testkit/use-case.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import { claimTask, createTask, reopenTask, updateTask } from "./change-tasks.ts";
import { closeTask } from "./close-task.ts";
import { addDependency, removeDependency } from "./dependencies.ts";
import { moveTask } from "./move-task.ts";
import { listReady, listTasks, showTask } from "./read-tasks.ts";

const builder = agentCaller("ann", "builder", { taskId: "own" });
const lead = agentCaller("lea", "lead", { taskId: "top" });

async function add(world: UseCaseWorld, id: string, blockedBy: readonly string[] = []): Promise<void> {
  await world.must(createTask, { id, title: `Task ${id}`, blockedBy });
}

async function readyIds(world: UseCaseWorld): Promise<string[]> {
  return (await world.must(listReady, {})).tasks.map(({ task }) => task.id);
}

/** As sling will leave it: there is a branch to land. */
async function makeCodeTask(world: UseCaseWorld, id: string): Promise<void> {
  const { task } = await world.must(showTask, { id });
  await world.store.transaction((tx) => tx.tasks.update({ ...task, mergeState: "pending" }));
}

test("ids come from the project's name and never collide", async () => {
  await using world = useCaseWorld({ projectName: "My App" });
  const ids = new Set<string>();
  for (let i = 0; i < 50; i++) ids.add((await world.must(createTask, { title: "x" })).task.id);
  expect(ids.size).toBe(50);
  for (const id of ids) expect(id).toMatch(/^my-app-[a-z0-9]{4}$/);
});

test.each([
  ["an id that is taken", { id: "own", title: "x" }, { kind: "invalid", field: "id" }],
  ["an id that would leave the directory", { id: "../x", title: "x" }, { kind: "invalid", field: "id" }],
  ["no title", { title: " " }, { kind: "invalid", field: "title" }],
  ["an unknown parent", { title: "x", parentId: "owm" }, { kind: "not-found", id: "owm", nearest: "own" }],
  ["an unknown dependency", { title: "x", blockedBy: ["none"] }, { kind: "not-found", id: "none" }],
  ["itself as dependency", { id: "n", title: "x", blockedBy: ["n"] }, { kind: "dependency-cycle", path: ["n", "n"] }],
])("creating with %s is refused and stores nothing", async (_, request, refusal) => {
  await using world = useCaseWorld();
  await add(world, "own");
  const before = await world.events();
  expect(await world.call(createTask, request)).toMatchObject({ ok: false, refusal });
  expect((await world.must(listTasks, { all: true })).tasks).toHaveLength(1);
  expect(await world.events()).toEqual(before);
});

test("an agent's task belongs to its run, the operator's to the run that is going on", async () => {
  await using world = useCaseWorld();
  expect((await world.must(createTask, { title: "x" })).task.runId).toBeNull();
  await world.store.transaction((tx) => tx.runs.insert(activeRun("run-9", 1)));
  expect((await world.must(createTask, { title: "x" })).task.runId).toBe("run-9");
  expect((await world.must(createTask, { title: "x" }, builder)).task.runId).toBe("run-1");
});

test("L6: what a lead creates is part of its own task, unless it says otherwise", async () => {
  await using world = useCaseWorld();
  expect((await world.must(createTask, { title: "x" }, lead)).task.parentId).toBeNull();
  await add(world, "top");
  expect((await world.must(createTask, { title: "x" }, lead)).task.parentId).toBe("top");
  expect((await world.must(createTask, { title: "x", parentId: null }, lead)).task.parentId).toBeNull();
  await add(world, "own");
  expect((await world.must(createTask, { title: "x" }, builder)).task.parentId).toBeNull();
});

test("lists leave closed tasks out unless asked, and every list can be limited", async () => {
  await using world = useCaseWorld();
  for (const id of ["a", "b", "c"]) await add(world, id);
  await world.must(closeTask, { id: "a" });
  const ids = async (request: object): Promise<string[]> =>
    (await world.must(listTasks, request)).tasks.map(({ task }) => task.id);
  expect(await ids({})).toEqual(["b", "c"]);
  expect(await ids({ all: true })).toEqual(["a", "b", "c"]);
  expect(await ids({ status: "closed" })).toEqual(["a"]);
  expect(await ids({ limit: 1 })).toEqual(["b"]);
  expect((await world.must(listReady, { limit: 1 })).tasks).toHaveLength(1);
  expect(await world.call(listTasks, { status: "opne" })).toMatchObject({
    refusal: { kind: "invalid", field: "status", nearest: "open" },
  });
});

test("of twenty connections that claim the same task at the same time exactly one gets it", async () => {
  await using world = useCaseWorld();
  await add(world, "own");
  const claimants = Array.from({ length: 20 }, (_, i) => ({ name: `agent-${i}`, world: world.another() }));
  try {
    const answers = await Promise.all(
      claimants.map(({ name, world: mine }) =>
        mine.call(claimTask, { id: "own" }, agentCaller(name, "builder", { taskId: "own" })),
      ),
    );
    const winners = answers.flatMap((answer) => (answer.ok ? [answer.value.task.claimedBy] : []));
    expect(winners).toHaveLength(1);
    const holder = winners[0] ?? "";
    for (const answer of answers) {
      if (!answer.ok) expect(answer.refusal).toEqual({ kind: "task-held", task: "own", holder });
    }
    expect((await world.must(showTask, { id: "own" })).task).toMatchObject({
      status: "in_progress",
      claimedBy: holder,
    });
    expect((await world.events()).filter(({ type }) => type === "task_claimed")).toHaveLength(1);
  } finally {
    for (const { world: mine } of claimants) await mine[Symbol.asyncDispose]();
  }
});

test("a claim can be given to another by those who direct, and to nobody by others", async () => {
  await using world = useCaseWorld();
  await add(world, "own");
  expect(await world.call(claimTask, { id: "own", by: "bob" }, builder)).toMatchObject({
    refusal: { kind: "not-allowed" },
  });
  expect((await world.must(claimTask, { id: "own", by: "ann" }, lead)).task.claimedBy).toBe("ann");
  await world.must(claimTask, { id: "own" }, builder);
  expect((await world.events()).filter(({ type }) => type === "task_claimed")).toHaveLength(1);
});

test("a task that waits cannot be claimed, and becomes ready with the closing of its last dependency", async () => {
  await using world = useCaseWorld();
  await add(world, "a");
  await add(world, "b");
  await add(world, "c", ["a", "b"]);
  expect(await readyIds(world)).toEqual(["a", "b"]);
  expect(await world.call(claimTask, { id: "c" })).toMatchObject({ refusal: { kind: "task-blocked", by: ["a", "b"] } });
  expect((await world.must(closeTask, { id: "a" })).ready).toEqual([]);
  expect((await world.must(closeTask, { id: "b" })).ready.map(({ task }) => task.id)).toEqual(["c"]);
  expect(await readyIds(world)).toEqual(["c"]);
  await world.must(reopenTask, { id: "a" });
  expect(await readyIds(world)).toEqual(["a"]);
});

test("a task set aside as blocked opens when what it waits for is closed", async () => {
  await using world = useCaseWorld();
  await add(world, "a");
  await add(world, "b", ["a"]);
  await world.must(updateTask, { id: "b", status: "blocked" });
  expect((await world.must(closeTask, { id: "a" })).ready.map(({ task }) => task.status)).toEqual(["open"]);
  expect((await world.events()).map(({ type }) => type)).toContain("task_unblocked");
});

test("a task that an agent works on is not announced as ready", async () => {
  await using world = useCaseWorld();
  await add(world, "a");
  await add(world, "b", ["a"]);
  await world.must(closeTask, { id: "a" });
  await world.must(claimTask, { id: "b" });
  await world.must(reopenTask, { id: "a" });
  expect((await world.must(closeTask, { id: "a" })).ready).toEqual([]);
});

test("closing twice is told once", async () => {
  await using world = useCaseWorld();
  await add(world, "a");
  await add(world, "b", ["a"]);
  await world.must(closeTask, { id: "a", reason: "done" });
  const again = await world.must(closeTask, { id: "a", reason: "really" });
  expect(again).toMatchObject({ ready: [], task: { closeReason: "done" } });
  expect((await world.events()).filter(({ type }) => type === "task_closed")).toHaveLength(1);
});

test("dependencies that would close a circle are refused with the way round, and change nothing", async () => {
  await using world = useCaseWorld();
  await add(world, "a");
  await add(world, "b", ["a"]);
  await add(world, "c", ["b"]);
  expect(await world.call(addDependency, { taskId: "a", dependsOn: "c" })).toEqual({
    ok: false,
    refusal: { kind: "dependency-cycle", path: ["a", "c", "b", "a"] },
  });
  expect(await world.call(addDependency, { taskId: "a", dependsOn: "a" })).toMatchObject({
    refusal: { path: ["a", "a"] },
  });
  expect((await world.must(showTask, { id: "a" })).blockedBy).toEqual([]);
});

test("adding or removing a dependency a second time changes nothing", async () => {
  await using world = useCaseWorld();
  await add(world, "a");
  await add(world, "b");
  const pair = { taskId: "b", dependsOn: "a" };
  expect(await world.must(addDependency, pair)).toMatchObject({ changed: true, blockedBy: ["a"] });
  expect(await world.must(addDependency, pair)).toMatchObject({ changed: false });
  expect((await world.must(showTask, { id: "a" })).blocks).toEqual(["b"]);
  expect(await world.must(removeDependency, pair)).toMatchObject({ changed: true, blockedBy: [] });
  expect(await world.must(removeDependency, pair)).toMatchObject({ changed: false });
});

test("a parent that would make the task its own ancestor is refused", async () => {
  await using world = useCaseWorld();
  await add(world, "top");
  await world.must(createTask, { id: "part", title: "x", parentId: "top" });
  expect(await world.call(updateTask, { id: "top", parentId: "part" })).toMatchObject({
    refusal: { kind: "invalid", field: "parent" },
  });
});

test.each<[string, Caller, string]>([
  ["its own task", builder, "own"],
  ["any task, being a lead", lead, "other"],
])("an agent may change, claim and close %s", async (_, caller, id) => {
  await using world = useCaseWorld();
  for (const task of ["own", "other"]) await add(world, task);
  await world.must(updateTask, { id, labels: ["found-more"] }, caller);
  await world.must(claimTask, { id }, caller);
  await world.must(closeTask, { id }, caller);
  const mine = (await world.events()).filter(({ source }) => source === "agent");
  expect(mine.map(({ type, agentName }) => [type, agentName])).toEqual(
    ["task_updated", "task_claimed", "task_closed"].map((type) => [type, caller.name]),
  );
});

test("an agent is refused another's task and every code task; the operator is not", async () => {
  await using world = useCaseWorld();
  for (const task of ["own", "other"]) await add(world, task);
  const denied = { ok: false, refusal: { kind: "not-allowed", caller: "ann" } };
  expect(await world.call(updateTask, { id: "other", title: "mine now" }, builder)).toMatchObject(denied);
  expect(await world.call(claimTask, { id: "other" }, builder)).toMatchObject(denied);
  expect(await world.call(closeTask, { id: "other" }, builder)).toMatchObject(denied);
  expect(await world.call(reopenTask, { id: "other" }, builder)).toMatchObject(denied);
  expect(await world.call(addDependency, { taskId: "other", dependsOn: "own" }, builder)).toMatchObject(denied);
  await makeCodeTask(world, "own");
  expect(await world.call(closeTask, { id: "own" }, builder)).toMatchObject(denied);
  expect(await world.call(closeTask, { id: "own" }, lead)).toMatchObject({ refusal: { kind: "not-allowed" } });
  expect((await world.must(closeTask, { id: "own" })).task.status).toBe("closed");
});

test("an agent cannot reword its own task, by which its work is judged", async () => {
  await using world = useCaseWorld();
  for (const task of ["own", "top", "part"]) await add(world, task);
  const changes = [{ title: "Less" }, { description: "Nothing is wanted" }, { files: ["**"] }, { criteria: [] }];
  for (const change of changes) {
    for (const [caller, id] of [
      [builder, "own"],
      [lead, "top"],
    ] as const) {
      const why = expect.stringContaining("judged by these words");
      expect(await world.call(updateTask, { id, ...change }, caller)).toMatchObject({ refusal: { why } });
    }
  }
  await world.must(updateTask, { id: "part", title: "More" }, lead);
  await world.must(updateTask, { id: "own", status: "in_progress" }, builder);
});

test("a lead or coordinator leaves the tasks of another team alone, until that team's run has ended", async () => {
  await using world = useCaseWorld();
  await world.store.transaction((tx) => tx.runs.insert(activeRun("run-2", 1)));
  for (const id of ["theirs", "other"]) await world.must(createTask, { id, title: "x" });
  const head = agentCaller("coordinator", "coordinator", { runId: "run-1" });
  const tries = (caller: Caller) => [
    world.call(closeTask, { id: "theirs" }, caller),
    world.call(updateTask, { id: "theirs", title: "y" }, caller),
    world.call(claimTask, { id: "theirs", by: "ann" }, caller),
    world.call(addDependency, { taskId: "theirs", dependsOn: "other" }, caller),
  ];
  const why = expect.stringContaining("run-2, which another team works for");
  for (const caller of [head, lead]) {
    for (const tried of tries(caller)) {
      expect(await tried).toMatchObject({ ok: false, refusal: { kind: "not-allowed", why } });
    }
  }
  await world.must(closeTask, { id: "theirs" });
  expect(await world.call(reopenTask, { id: "theirs" }, head)).toMatchObject({ refusal: { why } });
  await world.store.transaction((tx) => tx.runs.complete("run-2", "completed", 2));
  expect(await world.call(reopenTask, { id: "theirs" }, head)).toMatchObject({ ok: true });
});

test("a task of no run is left alone while an agent of another run works on it", async () => {
  await using world = useCaseWorld();
  await world.must(createTask, { id: "slung", title: "x" });
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-2", 1));
    await tx.agents.reserve(storedAgent("b2", { runId: "run-2", taskId: "slung" }));
  });
  const why = "b2, which works on it, belongs to run-2";
  expect(await world.call(updateTask, { id: "slung", title: "y" }, lead)).toMatchObject({ refusal: { why } });
  expect(await world.call(closeTask, { id: "slung" }, lead)).toMatchObject({ refusal: { why } });
});

test("a lead leaves tasks alone on which agents work that are not below it, until those are gone", async () => {
  await using world = useCaseWorld();
  const leadOf = (taskId: string) => ({ capability: "lead", taskId, parentName: "coordinator" }) as const;
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", 1));
    for (const id of ["top", "theirs", "part", "mine"]) await tx.tasks.insert(aTask(id, { runId: "run-1" }));
    await tx.agents.reserve(storedAgent("lea", leadOf("top")));
    await tx.agents.reserve(storedAgent("lou", leadOf("theirs")));
    await tx.agents.reserve(storedAgent("bob", { taskId: "part", parentName: "lou", depth: 2 }));
    await tx.agents.reserve(storedAgent("eve", { taskId: "mine", parentName: "lea", depth: 2 }));
  });
  const refused = (worker: string, parent: string) => ({
    refusal: {
      kind: "not-allowed",
      why: `${worker}, which works on it, is not below it; tell ${parent}, who gave ${worker} the task`,
    },
  });
  expect(await world.call(closeTask, { id: "theirs" }, lead)).toMatchObject(refused("lou", "coordinator"));
  expect(await world.call(closeTask, { id: "part" }, lead)).toMatchObject(refused("bob", "lou"));
  expect(await world.call(updateTask, { id: "part", files: ["lib"] }, lead)).toMatchObject(refused("bob", "lou"));
  expect(await world.call(updateTask, { id: "part", status: "blocked" }, lead)).toMatchObject(refused("bob", "lou"));
  await world.must(closeTask, { id: "part" });
  expect(await world.call(reopenTask, { id: "part" }, lead)).toMatchObject(refused("bob", "lou"));
  await world.must(updateTask, { id: "mine", title: "y" }, lead);
  await world.must(closeTask, { id: "mine" }, lead);
  const coordinator = agentCaller("coordinator", "coordinator");
  await world.must(updateTask, { id: "theirs", title: "y" }, coordinator);
  await world.store.transaction((tx) => tx.agents.release("agent-lou", 1));
  await world.must(closeTask, { id: "theirs" }, lead);
});

test("an agent adds no part to the task of another team", async () => {
  await using world = useCaseWorld();
  await world.store.transaction((tx) => tx.runs.insert(activeRun("run-2", 1)));
  await world.must(createTask, { id: "theirs", title: "x" });
  for (const caller of [lead, agentCaller("b1", "builder", { runId: "run-1" })]) {
    expect(await world.call(createTask, { title: "y", parentId: "theirs" }, caller)).toMatchObject({
      refusal: { kind: "not-allowed" },
    });
  }
});

test("a task has a bounded number of patterns, of a bounded length", async () => {
  await using world = useCaseWorld();
  const files = Array.from({ length: 201 }, (_, at) => `src/${at}.ts`);
  expect(await world.call(createTask, { title: "x", files })).toMatchObject({ refusal: { field: "files" } });
  expect(await world.call(createTask, { title: "x", files: ["a".repeat(1_025)] })).toMatchObject({ ok: false });
  expect(await world.call(createTask, { title: "x", files: files.slice(1) })).toMatchObject({ ok: true });
});

test("an unknown task is not found, with the id that was probably meant", async () => {
  await using world = useCaseWorld();
  await add(world, "parser");
  expect(await world.call(showTask, { id: "praser" })).toEqual({
    ok: false,
    refusal: { kind: "not-found", noun: "task", id: "praser", nearest: "parser" },
  });
});

test("C11: an agent of a run that has ended adds no task to it", async () => {
  await using world = useCaseWorld();
  await world.store.transaction((tx) =>
    tx.runs.insert({ ...activeRun("run-1", 1), status: "completed", completedAt: 2 }),
  );
  const head = agentCaller("coordinator", "coordinator", { runId: "run-1" });
  expect(await world.call(createTask, { title: "late" }, head)).toMatchObject({
    refusal: { kind: "not-allowed", why: expect.stringContaining("run-1 has ended") },
  });
  expect(await world.call(createTask, { title: "of a person" })).toMatchObject({ ok: true });
});

test("B6: other files of a task reach the agent that holds it, unless another agent has them", async () => {
  await using world = useCaseWorld();
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", 1));
    await tx.agents.reserve(storedAgent("lea", { capability: "lead", taskId: "top", scope: ["src"] }));
    const below = { parentName: "lea", state: "in_turn" } as const;
    await tx.agents.reserve(storedAgent("ann", { ...below, taskId: "own", scope: ["src/a.ts"], shares: ["x.md"] }));
    await tx.agents.reserve(storedAgent("bob", { ...below, taskId: "other", scope: ["docs"] }));
    const held = (id: string, claimedBy: string) => aTask(id, { runId: "run-1", status: "in_progress", claimedBy });
    await tx.tasks.insert(held("top", "lea"));
    for (const [id, name] of [
      ["own", "ann"],
      ["other", "bob"],
    ] as const) {
      await tx.tasks.insert({ ...held(id, name), parentId: "top" });
    }
  });
  const area = async () => {
    const ann = await world.store.read((tx) => tx.agents.byName("ann"));
    return [ann?.scope, ann?.shares];
  };
  const met = await world.must(updateTask, { id: "own", files: ["src/a.ts", "docs/usage.md"] }, lead);
  expect(met.holder).toEqual([
    "ann keeps the files it was started with, because docs/usage.md may meet what bob changes (docs)",
  ]);
  expect(await area()).toEqual([["src/a.ts"], ["x.md"]]);
  const given = await world.must(updateTask, { id: "own", shares: ["x.md", "usage.md"] }, lead);
  expect(given.holder).toEqual(["ann, which holds it, has these files from now on, and is told"]);
  expect(await area()).toEqual([["src/a.ts"], ["x.md", "usage.md"]]);
  const letters = await world.store.read((tx) => tx.messages.list({ to: "ann" }));
  expect(letters.map(({ fromAgent, body }) => [fromAgent, body])).toEqual([
    ["lea", "From now on you own src/a.ts, and you share x.md, usage.md."],
  ]);
  expect(await world.must(updateTask, { id: "own", shares: ["x.md", "usage.md"] }, lead)).toMatchObject({ holder: [] });
  expect(await world.must(updateTask, { id: "top", files: ["src", "lib"] })).toMatchObject({
    holder: [expect.stringContaining("lea, which holds it")],
  });
});

test("on the board a person holds a task back, lets it go, closes and reopens it; other moves are refused with the reason", async () => {
  await using world = useCaseWorld();
  await add(world, "a");
  await add(world, "b", ["a"]);
  const statusAfter = async (to: "waiting" | "ready" | "done") =>
    (await world.must(moveTask, { id: "a", to })).task.status;
  expect(await statusAfter("waiting")).toBe("blocked");
  expect(await statusAfter("ready")).toBe("open");
  expect(await world.call(moveTask, { id: "a", to: "working" as const })).toMatchObject({
    refusal: { kind: "invalid", problem: "cannot be reached by hand: an agent takes it there: sling one" },
  });
  expect(await world.call(moveTask, { id: "b", to: "ready" as const })).toMatchObject({
    refusal: { problem: "cannot be reached by hand: it waits for a" },
  });
  expect(await statusAfter("done")).toBe("closed");
  expect(await readyIds(world)).toEqual(["b"]);
  expect(await statusAfter("ready")).toBe("open");
  expect(await world.call(moveTask, { id: "a", to: "done" as const }, builder)).toMatchObject({ ok: false });
});
