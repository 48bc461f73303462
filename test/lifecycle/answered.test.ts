import { expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { slingNew, untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

const find = `ov mail list --type question --json | sed -n 's/.*"id":"\\(msg-[^"]*\\)".*/\\1/p'`;
const waits = [`- touch: "\${env.HOME}/ready"`, `- waitFor: { file: "\${env.HOME}/asked" }`];
const answers = `- shell: ${JSON.stringify(`ov mail reply "$(${find})" --body 42`)}`;
const finishes = "- ov: [done, --no-code, --summary, done]";

test.each([
  ["was answered meanwhile asks for nothing more", [...waits, answers, finishes], 1],
  ["came after its report was accepted reopens who is done", [finishes, ...waits], 2],
])(
  "a question that %s",
  async (_, steps, generation) => {
    await using project = await makeProject({ scenario: `- do:\n    ${steps.join("\n    ")}\n` });
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
