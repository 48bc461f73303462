import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Glob } from "bun";
import { makeProject } from "../../testkit/project.ts";
import { connect, seat, use } from "./mcp.world.ts";

// The same fact has the same name and form wherever a program reads it: each of these objects is one view.
test("the CLI and the tools say the same about an agent, a message, a task and an entry of the queue", async () => {
  await using project = await makeProject();
  const branch = "overstory/b1/T1";
  for (const id of ["T1", "T2"]) await project.json("task", "create", `Task ${id}`, "--id", id, "--files", "src");
  await project.json("task", "dep", "add", "T2", "T1");
  const b1 = await seat(project, "b1", "builder", { parentName: "coord", branch, taskId: "T1", depth: 1 });
  await seat(project, "b2", "builder", { parentName: "coord", taskId: "T2", depth: 1 });
  await project.git("checkout", "--quiet", "-b", branch, "main");
  writeFileSync(join(project.root, "new.ts"), "export const a = 1;\n");
  await project.git("add", "new.ts");
  await project.git("commit", "--quiet", "-m", "add new.ts");
  await project.git("checkout", "--quiet", "main");
  const coord = await seat(project, "coord", "coordinator", { depth: 0 });
  await using asCoord = await connect(project, coord);
  await using asBuilder = await connect(project, b1);
  const tool = async (name: string, given: Record<string, unknown> = {}): Promise<Data> =>
    (await use(asCoord, name, given)).data;

  const fleet = named(await tool("fleet", { scope: "all" }), "agents", "b1");
  expect(named(await project.json("status", "--all"), "agents", "b1")).toEqual(fleet);
  const discovered = named(await project.json("agents", "discover"), "agents", "b1");
  const ofRun = named(await project.json("run", "show", "run-1"), "agents", "b1");
  for (const key of Object.keys(discovered)) {
    expect([key, discovered[key]]).toEqual([key, fleet[key]]);
    expect([key, ofRun[key]]).toEqual([key, fleet[key]]);
  }

  expect((await project.json("task", "show", "T2")).task).toEqual((await tool("task_show", { id: "T2" })).task);
  expect((await project.json("task", "ready")).tasks).toEqual((await tool("task_ready")).tasks);

  const sent = await tool("send", { to: "@builders", type: "status", subject: "all", body: "begin" });
  expect(sent).toMatchObject({ recipientCount: 2, messageIds: [sent.id] });
  const [byTool] = (await use(asBuilder, "inbox")).data.messages as Data[];
  const [byCommand] = (await project.json("mail", "check", "--agent", "b2")).messages as Data[];
  expect(byCommand).toEqual({ ...byTool, to: "b2" });
  const [shown] = (await project.json("mail", "list", "--to", "b2")).messages as Data[];
  expect(shown).toEqual({ ...without(byTool ?? {}, "capability"), to: "b2", state: "delivered", read: true });

  const dry = await project.json("merge", "--branch", branch, "--dry-run");
  const preview = await tool("merge_preview", { branch });
  // Who asks decides who would have to approve it; everything else is the branch's.
  expect(keysOf(dry)).toEqual(keysOf(preview));
  expect(dry.prediction).toEqual(preview.prediction);
  const queued = await tool("merge", { branch });
  expect(data(await project.json("merge", "add", branch))).toEqual({ ...queued, added: false });
  // Without gates it waits for the operator, so that no engine takes it up meanwhile.
  const listed = (await project.json("merge", "list")).entries as Data[];
  expect(listed).toEqual([{ ...(queued.entry as Data), waitsFor: [], place: null }]);
});

test("the CLI and the tools say the same about groups, specs and what the gates said", async () => {
  await using project = await makeProject({ gates: ["true"] });
  await project.json("task", "create", "Task", "--id", "T1");
  await using asCoord = await connect(project, await seat(project, "coord", "coordinator", { depth: 0 }));
  const tool = async (name: string, given: Record<string, unknown> = {}): Promise<Data> =>
    (await use(asCoord, name, given)).data;
  const { group } = await tool("group_create", { name: "first", tasks: ["T1"] });
  expect((await project.json("group", "list")).groups).toEqual([group]);
  expect((await project.json("group", "status")).groups).toEqual((await tool("group_status")).groups);
  await project.json("spec", "write", "T1", "--body", "Do it.");
  expect(data(await project.json("spec", "read", "T1"))).toEqual(await tool("spec_read", { task_id: "T1" }));
  const ran = data(await project.json("gate", "run", "main"));
  const seen = await tool("gates", { branch: "main" });
  expect(data(await project.json("gate", "show", String(ran.receiptId)))).toEqual(without(seen, "branch"));
});

test("no surface spells a key of 0.11 or writes a moment for programs on its own", () => {
  const root = resolve(import.meta.dir, "../..");
  const older = readFileSync(join(root, "src/contract/older-keys.ts"), "utf8");
  // What refusals and failures say about a branch is no view, and the CLI's own formats are for people.
  const elsewhere = ["src/surfaces/shared/failures.ts", "src/surfaces/shared/refusal-details.ts"];
  const keys = onlyOlder.filter((key) => older.includes(key));
  expect(keys).toEqual([...onlyOlder]);
  const wrong: string[] = [];
  for (const file of new Glob("src/{surfaces,contract/views}/**/*.ts").scanSync(root)) {
    if (file.endsWith(".test.ts") || elsewhere.includes(file)) continue;
    const source = readFileSync(join(root, file), "utf8");
    for (const key of keys) if (new RegExp(`\\b${key}\\b`).test(source)) wrong.push(`${file} spells ${key}`);
    if (file !== "src/surfaces/shared/format.ts" && source.includes("toISOString("))
      wrong.push(`${file} writes a moment`);
    for (const [, shaper] of source.matchAll(/(?:function|const) (\w+Json|dataOf|jsonOf)\b/g)) {
      wrong.push(`${file} has ${shaper}: an object for programs is a view of src/contract/views`);
    }
  }
  expect(wrong).toEqual([]);
});

/** Keys that nothing but scripts for 0.11 reads. */
const onlyOlder = [
  "branchName",
  "claudeSessionId",
  "coordinatorSessionId",
  "fileScope",
  "initialTurnFinalState",
  "memberIssueIds",
  "pidKilled",
  "resolvedTier",
  "seedsPreserved",
  "tmuxKilled",
  "tmuxSession",
  "watchdogStopped",
] as const;

type Data = Record<string, unknown>;

function named(document: Data, list: string, name: string): Data {
  const found = (document[list] as Data[]).find((one) => one.name === name);
  if (found === undefined) throw new Error(`no ${name} in ${JSON.stringify(document)}`);
  return found;
}

/** A document without what every document of the CLI has. */
const data = ({ success: _success, command: _command, ...rest }: Data): Data => rest;

const without = (all: Data, key: string): Data =>
  Object.fromEntries(Object.entries(all).filter(([one]) => one !== key));

const keysOf = (given: Data | undefined): readonly string[] => Object.keys(data(given ?? {})).toSorted();
