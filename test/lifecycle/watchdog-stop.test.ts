import { expect, test } from "bun:test";
import { openSqlite } from "../../src/store/sqlite.ts";
import { databaseOf, deathNotices, ranTurns, slingNew, untilAgent, untilFile } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** What the watchdog does when nudging did not help: it writes down its wish, and the engine ends the process. */
async function giveUpOn(project: TestProject, name: string): Promise<void> {
  const { id } = await project.agent(name);
  const store = openSqlite({ path: databaseOf(project), life: "process" });
  await store.transaction((tx) => tx.agents.requestStop(id, "watchdog"));
  await store.close();
}

test("an agent that the watchdog ends in its turn is a stalled zombie, told once, as one that had no turn", async () => {
  await using project = await makeProject({
    scenario: `
- when: { agent: busy }
  do: [{ touch: "\${env.HOME}/ready" }, { hang: true }]
- do: [{ ov: [mail, send, --to, operator, --type, question, --subject, q, --body, which?] }]
`,
  });
  await slingNew(project, "BUSY");
  await slingNew(project, "IDLE");
  await untilFile(project, "ready");
  await untilAgent(project, "busy", "in_turn");
  await untilAgent(project, "idle", "between_turns");
  // The busy one last: while it works the engine looks by itself for what nobody told it.
  for (const name of ["idle", "busy"]) {
    await giveUpOn(project, name);
    await untilAgent(project, name, "completed", "zombie");
    expect(await project.agent(name)).toMatchObject({ state: "zombie", outcome: "stalled" });
    const [death, ...more] = await deathNotices(project, name);
    expect(more).toEqual([]);
    expect(JSON.parse(death?.payload ?? "{}")).toMatchObject({ terminatedBy: "tier0", outcome: "stalled" });
  }
  expect(await ranTurns(project, "busy")).toMatchObject([{ status: "failed" }]);
  await project.until("its processes were gone", async () => project.processes().length === 0);
});

test("one that had finished before it fell silent is done, and nobody hears of a death", async () => {
  await using project = await makeProject({
    scenario: `
- do:
    - ov: [done, --no-code, --summary, done]
    - touch: "\${env.HOME}/ready"
    - hang: true
`,
  });
  await slingNew(project, "B1");
  await untilFile(project, "ready");
  await giveUpOn(project, "b1");
  await untilAgent(project, "b1", "completed", "zombie");
  expect(await project.agent("b1")).toMatchObject({ state: "completed", outcome: "done" });
  expect(await deathNotices(project, "b1")).toEqual([]);
});
