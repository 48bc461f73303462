import { expect, test } from "bun:test";
import { statSync, writeFileSync } from "node:fs";
import { makeProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

test("an engine that starts cuts the logs of the engines and supervisors before it", async () => {
  await using project = await makeProject();
  await project.json("engine", "start");
  await project.json("engine", "stop");
  const logs = ["engine.log", "supervisors.log"].map((name) => statePath(project.root, "run", name));
  for (const log of logs) writeFileSync(log, "a line of an earlier engine\n".repeat(100_000), { mode: 0o600 });
  await project.json("engine", "start");
  for (const log of logs) {
    expect(statSync(log).size).toBeLessThan(10_000);
    expect(statSync(`${log}.1`).size).toBeLessThanOrEqual(1024 * 1024);
  }
  await project.json("engine", "stop");
}, 60_000);
