import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { agentCaller, useCaseWorld } from "../../../testkit/use-case.ts";
import { readSpec } from "./read-spec.ts";
import { writeSpec } from "./write-spec.ts";

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

test("a scout writes under its own name only, a builder not at all", async () => {
  await using world = useCaseWorld();
  const scout = agentCaller("sam", "scout");
  await world.must(writeSpec, { taskId: "t", body: "found" }, scout);
  expect((await world.must(readSpec, { taskId: "t" })).author).toBe("sam");
  expect(await world.call(writeSpec, { taskId: "t", body: "b", agent: "ann" }, scout)).toMatchObject({
    refusal: { kind: "not-allowed", caller: "sam" },
  });
  expect(await world.call(writeSpec, { taskId: "t", body: "b" }, agentCaller("ann", "builder"))).toMatchObject({
    refusal: { kind: "not-allowed", caller: "ann" },
  });
});

test("what a caller claims to have prepared is not believed", async () => {
  await using world = useCaseWorld();
  const forged = { path: "/etc/passwd", digest: "0", author: "root" };
  expect((await world.must(writeSpec, { taskId: "t", body: "b", written: forged })).path).toStartWith(world.dir);
  const found = { path: "/etc/passwd", text: "secret" };
  expect((await world.must(readSpec, { taskId: "t", found })).text).toBe("b\n");
});

test("a spec that somebody put there by hand is read, without an author", async () => {
  await using world = useCaseWorld();
  const { path } = await world.must(writeSpec, { taskId: "t", body: "b" });
  writeFileSync(path.replace("t.md", "u.md"), "by hand\n");
  expect(await world.must(readSpec, { taskId: "u" })).toMatchObject({
    text: "by hand\n",
    author: null,
    updatedAt: null,
  });
});
