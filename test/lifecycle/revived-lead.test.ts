import { expect, test } from "bun:test";
import { letGo, promptsOf, untilAgent, untilTurns } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

const scenario = `
- when: { agent: lead1, turn: 1 }
  do:
    - ov: [sling, B1, --name, b1, --skip-task-check]
- when: { agent: lead1, input: the builder reports }
  do:
    - ov: [mail, send, --to, operator, --type, merge_ready, --subject, r, --body, r, --payload, '{"branch":"overstory/b1/B1"}']
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, late, --body, now it is]
- when: { agent: lead1 }
  do: [{ say: I wait for my builder }]
- do:
    - waitFor: { file: "\${env.HOME}/go" }
    - edit: { file: b1.txt, write: "work\\n" }
    - commit: work
    - ov: [mail, send, --to, lead1, --type, worker_done, --subject, Done, --body, the builder reports]
`;

test("a lead that is reopened still has its children: it waits for them, and their reports wake it", async () => {
  await using project = await makeProject({ scenario });
  await project.json("sling", "L", "--name", "lead1", "--capability", "lead", "--skip-task-check");
  await untilAgent(project, "lead1", "between_turns");
  await project.json("stop", "lead1");
  await project.json("recover", "lead1");
  await untilTurns(project, "lead1", 1);
  const lead = await project.agent("lead1");
  expect(lead).toMatchObject({ generation: 2, reminders: 0, state: "between_turns" });
  const children = await project.read((tx) => tx.agents.list({ parentName: "lead1", live: true }));
  expect(children.map(({ name }) => name)).toEqual(["b1"]);
  expect(await project.read((tx) => tx.waits.of("lead1"))).toMatchObject([{ kind: "child", ref: "b1" }]);
  await letGo(project);
  await untilAgent(project, "lead1", "completed/done");
  expect(promptsOf(project, "lead1").at(-1)).toContain("the builder reports");
}, 60_000);
