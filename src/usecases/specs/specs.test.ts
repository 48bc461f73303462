import { expect, test } from "bun:test";
import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { aTask } from "../../../testkit/contracts/store/rows.ts";
import { activeRun, agentCaller, storedAgent, type UseCaseWorld, useCaseWorld } from "../../../testkit/use-case.ts";
import { ok } from "../../domain/result.ts";
import { createTask } from "../tasks/change-tasks.ts";
import { readSpec, writeSpec } from "./specs.ts";

test("a spec is written to its file, names its author, and is read back", async () => {
  await using world = useCaseWorld();
  const { path } = await world.must(writeSpec, { taskId: "app-1", body: "Do it", agent: "ann" });
  expect(path).toEndWith("/specs/app-1.md");
  expect(readFileSync(path, "utf8")).toBe("<!-- written-by: ann -->\nDo it\n");
  expect(await world.must(readSpec, { taskId: "app-1" })).toMatchObject({
    path,
    text: "<!-- written-by: ann -->\nDo it\n",
    author: "ann",
    updatedAt: expect.any(Number),
  });
  await world.must(writeSpec, { taskId: "app-1", body: "Do it better\n" });
  expect(readFileSync(path, "utf8")).toBe("Do it better\n");
  expect((await world.events()).map(({ type }) => type)).toEqual(["spec_written", "spec_written"]);
});

test.each([
  ["an id that would leave the directory", { taskId: "../../x", body: "b" }, { kind: "invalid", field: "task id" }],
  ["an empty body", { taskId: "t", body: " \n" }, { kind: "invalid", field: "body" }],
  ["an author that would end the comment", { taskId: "t", body: "b", agent: "x --> y" }, { field: "agent" }],
])("%s is refused and writes nothing", async (_, request, refusal) => {
  await using world = useCaseWorld();
  expect(await world.call(writeSpec, request)).toMatchObject({ ok: false, refusal });
  expect(await world.call(readSpec, { taskId: "t" })).toMatchObject({ refusal: { kind: "not-found", noun: "spec" } });
  expect(await world.events()).toEqual([]);
});

test("the answer says whether there is such a task; another tracker may have it", async () => {
  await using world = useCaseWorld();
  expect(await world.must(writeSpec, { taskId: "t1", body: "b" })).toMatchObject({ isKnown: false });
  await world.must(createTask, { title: "One", id: "t1" });
  expect(await world.must(writeSpec, { taskId: "t1", body: "b" })).toMatchObject({ isKnown: true });
});

test("a scout writes under its own name only, a builder not at all", async () => {
  await using world = useCaseWorld();
  const scout = { ...agentCaller("sam", "scout"), taskId: "t" };
  await world.must(writeSpec, { taskId: "t", body: "found" }, scout);
  expect((await world.must(readSpec, { taskId: "t" })).author).toBe("sam");
  expect(await world.call(writeSpec, { taskId: "t", body: "b", agent: "ann" }, scout)).toMatchObject({
    refusal: { kind: "not-allowed", caller: "sam" },
  });
  expect(await world.call(writeSpec, { taskId: "t", body: "b" }, agentCaller("ann", "builder"))).toMatchObject({
    refusal: { kind: "not-allowed", caller: "ann" },
  });
});

test("a lead writes the spec of no task of another team, and of none that others work on", async () => {
  await using world = useCaseWorld();
  await world.store.transaction(async (tx) => {
    for (const id of ["run-1", "run-2"]) await tx.runs.insert(activeRun(id, 1));
    const tasks = { theirs: "run-2", own: "run-1", held: "run-1", free: "run-1" };
    for (const [id, runId] of Object.entries(tasks)) await tx.tasks.insert(aTask(id, { runId }));
    for (const [name, taskId, parentName] of [
      ["b1", "own", "lena"],
      ["b2", "held", "other"],
    ] as const)
      await tx.agents.reserve(storedAgent(name, { taskId, parentName, runId: "run-1" }));
  });
  const lead = agentCaller("lena", "lead", { runId: "run-1" });
  const write = (taskId: string, caller?: typeof lead) => world.call(writeSpec, { taskId, body: "b" }, caller);
  for (const [id, why] of [
    ["theirs", "it belongs to run-2, which another team works for"],
    ["held", "b2, which works on it, is not below it; tell other, who gave b2 the task"],
  ] as const) {
    await world.must(writeSpec, { taskId: id, body: "first" });
    expect(await write(id, lead)).toMatchObject({
      refusal: { kind: "not-allowed", action: `write the spec of task ${id}`, caller: "lena", why },
    });
    expect(await world.must(readSpec, { taskId: id })).toMatchObject({ text: "first\n", author: null });
  }
  for (const id of ["own", "free", "elsewhere-1"]) expect(await write(id, lead)).toMatchObject({ ok: true });
});

test("what a caller claims to have prepared is not believed", async () => {
  await using world = useCaseWorld();
  const forged = { path: "/etc/passwd", digest: "0", author: "root" };
  expect((await world.must(writeSpec, { taskId: "t", body: "b", written: forged })).path).toStartWith(world.dir);
  expect((await world.must(readSpec, { taskId: "t" })).text).toBe("b\n");
});

test("a spec file that a person wrote by hand is read, without an author", async () => {
  await using world = useCaseWorld();
  const { path } = await world.must(writeSpec, { taskId: "t", body: "b" });
  writeFileSync(path.replace("t.md", "u.md"), "by hand\n");
  expect(await world.must(readSpec, { taskId: "u" })).toMatchObject({
    text: "by hand\n",
    author: null,
    updatedAt: null,
  });
});

test("a person's edit of the spec file counts until the next text is given", async () => {
  await using world = useCaseWorld();
  const { path } = await world.must(writeSpec, { taskId: "t", body: "first", agent: "ann" });
  writeFileSync(path, "by hand\n");
  edited(path, 5_000);
  expect(await world.must(readSpec, { taskId: "t" })).toMatchObject({ text: "by hand\n", author: null });
  edited(path, -5_000);
  await world.must(writeSpec, { taskId: "t", body: "second", agent: "ann" });
  expect(readFileSync(path, "utf8")).toBe("<!-- written-by: ann -->\nsecond\n");
});

test("killed before the commit, the old text is still the one that is read", async () => {
  await using world = useCaseWorld();
  const { path } = await world.must(writeSpec, { taskId: "t", body: "old" });
  await keptOnly(world, "new");
  expect(readFileSync(path, "utf8")).toBe("old\n");
  expect((await world.must(readSpec, { taskId: "t" })).text).toBe("old\n");
});

test.each([["first"], ["second"]])(
  "killed after the commit of the %s text, the next reader renews the file",
  async (which) => {
    await using world = useCaseWorld();
    if (which === "second") await world.must(writeSpec, { taskId: "t", body: "old" });
    const request = await keptOnly(world, "new");
    await world.store.transaction((tx) => writeSpec.run(tx, world.context(), request));
    const found = await world.must(readSpec, { taskId: "t" });
    expect(found.text).toBe("new\n");
    expect(readFileSync(found.path, "utf8")).toBe("new\n");
  },
);

test("a spec above one MiB is refused, and the one there is stays", async () => {
  await using world = useCaseWorld();
  await world.must(writeSpec, { taskId: "t", body: "old" });
  const refused = await world.call(writeSpec, { taskId: "t", body: "x".repeat(1024 * 1024 + 1) });
  expect(refused).toMatchObject({ ok: false, refusal: { kind: "invalid", field: "body" } });
  expect((await world.must(readSpec, { taskId: "t" })).text).toBe("old\n");
});

/** Does what is done before the transaction, and no more. */
async function keptOnly(world: UseCaseWorld, body: string) {
  const { settings, caller } = world.context();
  const terms = { settings, caller: async () => ok(caller), shellOf: async () => undefined };
  const prepared = await writeSpec.prepare?.(world.files, terms, { taskId: "t", body });
  if (prepared?.ok !== true) throw new Error("the text was not kept");
  return prepared.value;
}

/** File times are too coarse to tell two writes of one moment apart. */
function edited(path: string, fromNowMs: number): void {
  const time = new Date(Date.now() + fromNowMs);
  utimesSync(path, time, time);
}
