import { expect, test } from "bun:test";
import { letGo, promptsOf, slingNew, untilAgent, untilTurns } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

const scenario = `
- when: { capability: lead, turn: 1 }
  do:
    - ov: [task, create, Build, --id, B1]
    - ov: [sling, B1, --name, b1]
- when: { capability: lead, turn: 2 }
  do:
    - say: it reported, but its program still runs; I will look later
- when: { capability: lead }
  do:
    - ov: [done, --no-code, --reason, nothing to build, --summary, all done]
- when: { agent: b1 }
  do:
    - ov: [done, --no-code, --summary, built]
    - waitFor: { file: "\${env.HOME}/go" }
`;

test("a parent that saw its child's report too early is not left asleep when the child ends", async () => {
  await using project = await makeProject({ scenario });
  await slingNew(project, "L1", "--capability", "lead");
  await untilTurns(project, "l1", 2);
  expect(await project.agent("b1")).toMatchObject({ endedAt: null });
  await letGo(project);
  await untilAgent(project, "l1", "completed/done");
  const prompts = promptsOf(project, "l1");
  expect(prompts).toHaveLength(3);
  expect(prompts[2]).toBe(
    "This turn starts because b1 has ended, and nothing else that was waited for is left. Go on where you stopped.",
  );
  const why = (await project.ov("mail", "why", "l1")).out;
  expect(why).toContain("b1 has ended, and nothing else that was waited for is left");
  await project.settled();
}, 120_000);
