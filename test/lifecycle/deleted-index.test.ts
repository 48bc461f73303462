import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { databaseOf, letGo, slingNew, untilAgent, untilFile } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

const scenario = `
- do:
    - shell: touch "$HOME/up"
    - waitFor: { file: "\${env.HOME}/go" }
    - edit: { file: work.txt, write: "work\\n" }
    - commit: work
    - ov: [done, --summary, Work]
`;

test("deleting the index of the database's log under a working team loses nothing and stops nothing", async () => {
  await using project = await makeProject({ scenario });
  await slingNew(project, "B1");
  await untilFile(project, "up");
  const database = databaseOf(project);
  rmSync(`${database}-shm`);
  const ids = Array.from({ length: 8 }, (_, at) => `X${at}`);
  for (const id of ids) {
    await project.json("task", "create", id, "--id", id);
    expect((await project.ov("status")).code).toBe(0);
  }
  await letGo(project);
  await untilAgent(project, "b1", "completed/done");
  await project.settled();
  const { tasks } = (await project.json("task", "list", "--all")) as { tasks: { id: string }[] };
  expect(tasks.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
  using copy = new Database(database);
  expect(copy.query("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
}, 120_000);
