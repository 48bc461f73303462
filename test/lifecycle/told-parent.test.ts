import { expect, test } from "bun:test";
import { letGo, promptsOf, untilAgent, untilTurns } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** A coordinator whose only child ends as told, and who does nothing about it. */
const scenario = (end: string): string => `
- when: { capability: coordinator, turn: 1 }
  do:
    - ov: [task, create, Build, --id, B1]
    - ov: [sling, B1, --name, b1]
- when: { capability: coordinator }
  do:
    - say: I wait.
- when: { agent: b1 }
  do:
    - ${end}
`;

const troubleShown = async (project: TestProject) => ({
  inbox: (await project.json("inbox", "--peek")).troubled,
  status: await project.json("status"),
});

for (const [what, end, state] of [
  ["never reports", "say: nothing", "completed/no_signal"],
  ["cannot log in", "apiError: { status: 401 }", "zombie/crashed"],
] as const) {
  test(`a coordinator whose only child ${what} is woken with the next step; if it does nothing, the operator is asked`, async () => {
    await using project = await makeProject({ scenario: scenario(end) });
    await project.json("coordinator", "start", "--objective", "Build it");
    await untilAgent(project, "b1", state);
    await untilTurns(project, "coordinator", 2);
    await project.settled();
    const told = promptsOf(project, "coordinator").slice(1).join("\n");
    expect(told).toContain("worker_died");
    expect(told).toContain("ended without finishing");
    expect(told).toContain("ov recover b1");
    expect(told).not.toContain("wait for their leads");
    const { inbox, status } = await troubleShown(project);
    // The coordinator did nothing about it, so it stands still, too.
    expect(inbox).toMatchObject([{ agentName: "coordinator" }, { agentName: "b1" }]);
    expect(status).toMatchObject({ needsOperator: true });
    // A released child needs nobody. Its coordinator was told, and did nothing again.
    await project.json("release", "b1");
    await project.settled();
    expect(await troubleShown(project)).toMatchObject({ inbox: [{ agentName: "coordinator" }] });
  }, 120_000);
}

const orphan = `
- when: { capability: coordinator, turn: 1 }
  do:
    - ov: [task, create, Lead, --id, L1]
    - ov: [sling, L1, --name, l1, --capability, lead]
- when: { capability: coordinator }
  do:
    - say: I wait for b1.
- when: { agent: l1 }
  do:
    - ov: [task, create, Build, --id, B1]
    - ov: [sling, B1, --name, b1]
    - apiError: { status: 401 }
- when: { agent: b1 }
  do:
    - waitFor: { file: "\${env.HOME}/go" }
    - apiError: { status: 401 }
`;

test("the death of an agent whose lead has ended is told to the coordinator above", async () => {
  await using project = await makeProject({ scenario: orphan });
  await project.json("coordinator", "start", "--objective", "Build it");
  await untilAgent(project, "l1", "zombie/crashed");
  await untilTurns(project, "coordinator", 2);
  await letGo(project);
  await untilAgent(project, "b1", "zombie/crashed");
  await untilTurns(project, "coordinator", 3);
  await project.settled();
  const prompts = promptsOf(project, "coordinator");
  expect(prompts.slice(2).join("\n")).toContain("b1 (builder on B1) ended without finishing");
  expect(prompts.slice(2).join("\n")).toContain("[forwarded: l1, to whom it was sent, has ended.");
  const { inbox } = await troubleShown(project);
  expect(inbox).toMatchObject([{ agentName: "coordinator" }, { agentName: "l1" }, { agentName: "b1" }]);
}, 120_000);

test("status shows an agent that works again as working, without the failure of its earlier attempt", async () => {
  const again = `
- when: { agent: b1, attempt: 1 }
  do:
    - exit: 9
- when: { agent: b1 }
  do:
    - touch: "\${env.HOME}/again"
    - waitFor: { file: "\${env.HOME}/go" }
`;
  await using project = await makeProject({ scenario: again });
  await project.json("task", "create", "Build", "--id", "B1");
  await project.json("sling", "B1", "--name", "b1");
  await untilTurns(project, "b1", 1);
  expect((await project.json("status")).agents).toMatchObject([{ problem: expect.stringContaining("9") }]);
  await project.until("the second attempt ran", async () => (await project.agent("b1")).state === "in_turn");
  expect((await project.json("status")).agents).toMatchObject([{ status: "working", problem: null, advice: null }]);
  await letGo(project);
}, 120_000);
