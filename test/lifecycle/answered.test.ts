import { expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { slingNew, untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

const scenarioWhere = (answer: string): string => `
- do:
    - touch: "\${env.HOME}/ready"
    - waitFor: { file: "\${env.HOME}/asked" }
    - shell: ${JSON.stringify(answer)}
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, Done, --body, done]
`;

const find = `ov mail list --type question --json | sed -n 's/.*"id":"\\(msg-[^"]*\\)".*/\\1/p'`;

test.each([
  ["was answered meanwhile asks for nothing more", `ov mail reply "$(${find})" --body 42`, 1],
  ["nobody has read yet reopens who is done", "true", 2],
])(
  "a question that %s",
  async (_, answer, generation) => {
    await using project = await makeProject({ scenario: scenarioWhere(answer) });
    await slingNew(project, "B1");
    await project.until("it worked", async () => existsSync(join(project.home, "ready")));
    await project.json("mail", "send", "--to", "b1", "--type", "question", "--subject", "What", "--body", "how many?");
    writeFileSync(join(project.home, "asked"), "");
    await untilAgent(project, "b1", "completed/done");
    await project.settled();
    expect(await project.agent("b1")).toMatchObject({ generation });
  },
  60_000,
);
