import { expect, test } from "bun:test";
import { promptsOf, slingNew, untilAgent, untilTurns } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

const scenario = `
- when: { capability: coordinator }
  do: [{ say: I lead. }]
- do:
    - ov: [done, --no-code, --summary, "\${agent}"]
`;

test("an own sling says that it joins the coordinator's run, and its ending wakes no coordinator", async () => {
  await using project = await makeProject({ scenario });
  const { runId } = await project.json("coordinator", "start", "--objective", "Build it");
  await untilTurns(project, "coordinator", 1);
  await project.json("task", "create", "Mine", "--id", "M1");
  const said = await project.ov("sling", "M1", "--name", "m1");
  expect(said.out).toContain(`in run ${runId}, which coordinator leads`);
  expect(said.out).toContain("--run new");
  await untilAgent(project, "m1", "completed/done");
  await project.settled();
  expect(promptsOf(project, "coordinator")).toHaveLength(1);
  // The coordinator did nothing, which the operator is told too.
  const told = await project.read((tx) => tx.messages.list({ to: "operator" }));
  expect(told.filter(({ type }) => type !== "escalation")).toMatchObject([{ fromAgent: "m1" }]);
}, 120_000);

test("--run new begins a run of its own, --run <id> joins one, and nothing else is taken", async () => {
  await using project = await makeProject({ scenario });
  const { runId: led } = await project.json("coordinator", "start", "--objective", "Build it");
  await slingNew(project, "M1", "--run", "new");
  const { runId: own } = await project.agent("m1");
  expect(own).not.toBe(led);
  await slingNew(project, "M2", "--run", String(led));
  expect(await project.agent("m2")).toMatchObject({ runId: led, parentName: "operator" });
  await slingNew(project, "M3");
  expect((await project.agent("m3")).runId).toBe(own);
  await project.json("task", "create", "Four", "--id", "M4");
  const refused = async (...flags: string[]) => {
    const answer = await project.ov("sling", "M4", ...flags);
    return [answer.code, answer.err];
  };
  expect((await refused("--run", "run-nowhere"))[0]).toBe(7);
  expect(await refused("--run", own, "--parent", "coordinator")).toEqual([2, expect.stringContaining(String(led))]);
  for (const name of ["m1", "m3"]) await untilAgent(project, name, "completed/done");
  await project.settled();
  await project.json("run", "complete", "--force");
  expect(await refused("--run", own)).toEqual([2, expect.stringContaining("has ended")]);
}, 120_000);
