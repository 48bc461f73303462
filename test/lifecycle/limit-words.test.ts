import { expect, test } from "bun:test";
import { slingNew } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

const scenario = `
- when: { capability: coordinator }
  do: [{ say: I lead. }]
- do: [{ hang: true }]
`;

test("a full run is refused with its real number of agents and with the file that set the limit", async () => {
  await using project = await makeProject({ scenario });
  const go = ["go", "Build it", "--yes", "--no-check-gates", "--max-agents", "2"];
  const started = await project.ov(...go);
  expect(started).toMatchObject({ code: 0 });
  const { runId } = await project.agent("coordinator");
  await slingNew(project, "B1", "--parent", "coordinator");
  await project.json("task", "create", "More", "--id", "B2");
  const full = await project.ov("sling", "B2", "--parent", "coordinator");
  expect(full.code).toBe(6);
  expect(full.err).toContain(`run ${runId} has had 2 agents and may have 2 in all`);
  expect(full.err).toContain("agents.maxSessionsPerRun in");
  expect(full.err).toContain(".overstory/config.local.yaml");
  expect(full.err).toContain("ov config set agents.maxSessionsPerRun <n> --local");
  // A limit that was lowered afterwards is not taken for the number of agents.
  await project.json("config", "set", "agents.maxSessionsPerRun", "1", "--local");
  expect((await project.ov("sling", "B2", "--parent", "coordinator")).err).toContain("has had 2 agents and may have 1");
  const variable = "OVERSTORY__AGENTS__MAX_SESSIONS_PER_RUN";
  const overridden = await project.ovWith({ env: { [variable]: "2" } }, "sling", "B2", "--parent", "coordinator");
  expect(overridden.err).toContain(`agents.maxSessionsPerRun in ${variable}`);
}, 120_000);

test("a full parent is refused with the flag or the key that set its limit", async () => {
  await using project = await makeProject({ scenario, config: "agents:\n  maxAgentsPerLead: 1\n" });
  await slingNew(project, "L1", "--capability", "lead");
  await slingNew(project, "B1", "--parent", "l1");
  await project.json("task", "create", "More", "--id", "B2");
  const configured = await project.ov("sling", "B2", "--parent", "l1");
  expect(configured.err).toContain('"l1" has 1 live child and may have 1 (agents.maxAgentsPerLead in');
  expect(configured.err).toContain(".overstory/config.yaml");
  const typed = await project.ov("sling", "B2", "--parent", "l1", "--max-agents", "1");
  expect(typed.err).toContain("may have 1 (--max-agents of this sling)");
  await slingNew(project, "L2", "--capability", "lead", "--dispatch-max-agents", "1");
  await slingNew(project, "B3", "--parent", "l2");
  const given = await project.ov("sling", "B2", "--parent", "l2");
  expect(given.err).toContain("may have 1 (--dispatch-max-agents of the sling of l2)");
}, 120_000);
