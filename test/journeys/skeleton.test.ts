import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { statePath } from "../../testkit/state.ts";
import { expectSkeletonDone, skeletonProject } from "./skeleton.world.ts";

test("a task becomes a commit on a branch and a report to the operator, and everything ends by itself", async () => {
  await using project = await skeletonProject();
  expect((await project.json("task", "create", "Write a greeting", "--id", "T1")).success).toBe(true);
  const slung = await project.json("sling", "T1", "--name", "b1");
  expect(slung).toMatchObject({ agentName: "b1", capability: "builder", taskId: "T1", branch: "overstory/b1/T1" });
  await expectSkeletonDone(project);
  expect(existsSync(statePath(project.root, "run", "engine.json"))).toBe(false);
  expect((await project.ov("mail", "check")).out).toContain("greeting.txt says hello");
});

test("sling returns while the agent's first turn still runs", async () => {
  await using project = await skeletonProject({
    scenario: `
- do:
    - waitFor: { file: "\${env.HOME}/go" }
    - ov: [done, --no-code, --summary, d]
`,
  });
  await project.json("task", "create", "Wait", "--id", "T1");
  await project.json("sling", "T1", "--name", "b1");
  await project.until("the turn was running", async () => (await project.read((tx) => tx.turns.countRunning())) === 1);
  await Bun.write(join(project.home, "go"), "");
  await project.until("it completed", async () => (await project.agent("b1")).state === "completed");
});
