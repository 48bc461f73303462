import { expect, test } from "bun:test";
import { openSqlite } from "../../src/store/sqlite.ts";
import { makeProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

/** Asks its parent and waits. */
const scenario = `
- do:
    - ov: [mail, send, --to, operator, --type, question, --subject, which, --body, "which one?"]
`;

test("looking changes nothing in the database", async () => {
  await using project = await makeProject({ scenario });
  await project.json("task", "create", "Do it", "--id", "T1");
  await project.json("sling", "T1", "--name", "b1");
  await project.until("b1 waited", async () => (await project.agent("b1")).state === "between_turns");
  await project.until("every process had ended", async () => project.processes().length === 0);
  const database = statePath(project.root, "overstory.db");
  const bytes = async (): Promise<string> => {
    const hasher = new Bun.CryptoHasher("sha256");
    for (const path of [database, `${database}-wal`]) {
      if (await Bun.file(path).exists()) hasher.update(await Bun.file(path).arrayBuffer());
    }
    return hasher.digest("hex");
  };
  const store = openSqlite({ path: database, life: "process", readOnly: true });
  const counter = await store.changeCounter();
  const before = await bytes();
  for (const command of [["status"], ["status", "--all"], ["agents", "discover"], ["engine", "status"]]) {
    expect((await project.ov(...command, "--json")).code).toBe(0);
  }
  const found = await project.json("agents", "discover", "--capability", "builder", "--parent", "operator");
  expect(found.agents).toEqual([
    expect.objectContaining({
      agentName: "b1",
      capability: "builder",
      state: "between_turns",
      taskId: "T1",
      branchName: "overstory/b1/T1",
      parentAgent: "operator",
      depth: 1,
      fileScope: [],
    }),
  ]);
  expect(await store.changeCounter()).toBe(counter);
  await store.close();
  expect(await bytes()).toBe(before);
});
