import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { letGo, untilAgent, untilFile } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

/** The second lead writes to the first one's builder: in its last turn, which has reported already, and after its end. */
const scenario = `
- when: { agent: lead1, turn: 1 }
  do:
    - ov: [task, create, Build, --id, B]
    - ov: [sling, B, --name, b1]
- when: { agent: b1, turn: 1 }
  do:
    - edit: { file: work.txt, write: "work\\n" }
    - commit: work
    - ov: [done, --summary, It is done]
    - touch: "\${env.HOME}/reported"
    - waitFor: { file: "\${env.HOME}/written" }
- when: { agent: lead2, turn: 1 }
  do:
    - waitFor: { file: "\${env.HOME}/reported" }
    - ov: [mail, send, --to, b1, --type, assign, --subject, More, --body, do mine too]
    - touch: "\${env.HOME}/written"
    - waitFor: { file: "\${env.HOME}/over" }
    - shell: ov mail send --to b1 --type assign --subject More --body "and this" >"$HOME/refused" 2>&1
      expect: 8
    - touch: "\${env.HOME}/finished"
    - ov: [mail, send, --to, b1, --type, question, --subject, How, --body, how did you do it]
`;

test("no lead sends the builder of another back to work, be it in its last turn or after it; asking is free", async () => {
  await using project = await makeProject({ scenario, gates: ["true"] });
  for (const [task, name] of [
    ["L1", "lead1"],
    ["L2", "lead2"],
  ] as const) {
    await project.json("task", "create", `Lead ${task}`, "--id", task);
    await project.json("sling", task, "--name", name, "--capability", "lead");
  }
  await untilAgent(project, "b1", "completed/done");
  expect(await project.agent("b1")).toMatchObject({ generation: 1, revivals: 0 });
  const handedOn = await project.read((tx) => tx.messages.list({ to: "lead1", type: "assign" }));
  expect(handedOn).toMatchObject([{ fromAgent: "lead2", body: expect.stringContaining("forwarded: b1") }]);
  await letGo(project, "over");
  await untilFile(project, "finished");
  expect(readFileSync(join(project.home, "refused"), "utf8")).toContain("lead2 may not send b1 back to work by assign");
  const refusals = (await project.read((tx) => tx.audit.list(50))).filter(({ refused }) => refused);
  expect(refusals).toMatchObject([{ caller: "lead2", action: "mail.send" }]);
  await project.until("the question brought it back", async () => (await project.agent("b1")).generation === 2);
}, 60_000);
