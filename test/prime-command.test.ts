import { expect, test } from "bun:test";
import { openSqlite } from "../src/store/sqlite.ts";
import { anAgent, aRun, aTask } from "../testkit/contracts/store/rows.ts";
import { statePath } from "../testkit/state.ts";
import { initWorld } from "./init.world.ts";

test("prime answers with agent, compact and context, and names the branch one is on when it is another", async () => {
  using world = await initWorld();
  await world.ov("init", "--name", "garden");
  await world.git("checkout", "--quiet", "-b", "topic");
  const said = await world.json("prime");
  expect(Object.keys(said)).toEqual(["success", "command", "agent", "compact", "context", "sessions", "remembered"]);
  expect(said).toMatchObject({ agent: null, compact: false });
  expect(said.context).toContain("# garden\n\n- branch: main (checked out here: topic)\n- agents: 0 live");
  expect((await world.json("prime", "--compact")).context).not.toContain("limits");
  expect((await world.ov("prime")).out).toBe(`${String(said.context)}\n`);
});

test("a person may prime an agent by name; an agent's hook may prime the orchestrator", async () => {
  using world = await initWorld();
  await world.ov("init");
  const store = openSqlite({ path: statePath(world.root, "overstory.db"), life: "command" });
  await store.transaction(async (tx) => {
    await tx.runs.insert(aRun("r1"));
    await tx.tasks.insert(aTask("t1", { title: "Parse dates" }));
    await tx.agents.reserve(anAgent("ann", { taskId: "t1", branch: "overstory/ann/t1" }));
  });
  await store.close();
  const said = await world.json("prime", "--agent", "ann", "--compact");
  expect(said).toMatchObject({ agent: "ann", compact: true });
  expect(said.context).toContain('- task: t1 "Parse dates" (open)\n- parent: operator\n- branch: overstory/ann/t1');
  expect(await world.json("prime", "--agent", "orchestrator")).toMatchObject({ agent: "orchestrator" });
  expect((await world.ov("prime", "--agent", "anm")).err).toContain('did you mean "ann"');
});

test("prime keeps what the user changed in the project's own files", async () => {
  using world = await initWorld();
  await world.ov("init");
  world.write(".overstory/.gitignore", "*\n");
  await world.ov("prime");
  expect(world.read(".overstory/.gitignore")).toBe("*\n");
});
