import { expect, test } from "bun:test";
import { eventsOf, slingNew, untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

const failing = '{ name: Bash, input: { command: make }, output: "no rule to make it", error: true }';

test("turn.maxSameFailures ends a turn that does the same again and again, and tells parent and operator", async () => {
  await using project = await makeProject({
    scenario: `
- do:
    - repeat: { times: 20, do: [{ tool: ${failing} }] }
    - hang: true
`,
    config: "turn:\n  maxSameFailures: 4\n",
  });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "zombie/crashed", "zombie/failed", "zombie/hopeless");
  const agent = await project.agent("b1");
  const [turn] = await project.read((tx) => tx.turns.listFor(agent.id));
  expect(turn).toMatchObject({ failure: "loop", advice: expect.stringContaining("ov recover b1 --fresh") });
  expect(turn?.error).toContain("the same call failed in the same way 4 times in a row (Bash: make)");
  const told = await project.read((tx) => tx.messages.list({ to: "operator" }));
  expect(told.some(({ body }) => body.includes("goes round in circles"))).toBe(true);
}, 120_000);

test("asking a job again and again until it has ended is no loop", async () => {
  const asked = [1, 2, 3, 4, 5, 6, 7].map(
    (percent) => `    - tool: { name: Bash, input: { command: status }, output: "${percent} %", error: true }`,
  );
  await using project = await makeProject({
    scenario: `
- do:
${asked.join("\n")}
    - repeat: { times: 8, do: [{ tool: { name: Bash, input: { command: cat log }, output: "waiting" } }] }
    - ov: [mail, send, --to, operator, --type, question, --subject, q, --body, which?]
`,
  });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "between_turns");
  const agent = await project.agent("b1");
  const [turn] = await project.read((tx) => tx.turns.listFor(agent.id));
  expect(turn).toMatchObject({ status: "settled", failure: null });
}, 120_000);

test("turn.maxDenials ends a turn whose calls are denied one after the other", async () => {
  await using project = await makeProject({
    scenario: `
- do:
    - repeat: { times: 6, do: [{ ask: { tool: Bash, input: { command: git push }, expect: deny } }] }
    - hang: true
`,
    config: "turn:\n  maxDenials: 3\n",
  });
  await slingNew(project, "B1", "--runtime", "scripted:control");
  await untilAgent(project, "b1", "zombie/crashed", "zombie/failed", "zombie/hopeless");
  expect((await eventsOf(project, "guard_denied")).length).toBeGreaterThanOrEqual(3);
  const agent = await project.agent("b1");
  const [turn] = await project.read((tx) => tx.turns.listFor(agent.id));
  expect(turn).toMatchObject({
    failure: "loop",
    error: expect.stringContaining("3 calls of tools in a row were denied"),
  });
}, 120_000);
