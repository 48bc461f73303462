import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pidsOf } from "../../src/compose/kill-victims.ts";
import { linuxProcesses } from "../../src/host/processes.ts";
import { makeProject } from "../../testkit/project.ts";

const scenario = `
- when: { attempt: 1 }
  do:
    - shell: echo $$ > "$HOME/tool"; exec sleep 600
- do:
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, Done, --body, second try]
`;

test("what a killed agent had running ends before its turn is tried again", async () => {
  await using project = await makeProject({ scenario });
  await project.json("sling", "Work", "--name", "a1", "--skip-task-check");
  const note = join(project.home, "tool");
  await project.until("the tool ran", async () => existsSync(note) && readFileSync(note, "utf8") !== "");
  const tool = linuxProcesses.identify(Number(readFileSync(note, "utf8")));
  const [agent] = pidsOf("agent", project.root);
  if (tool === undefined || agent === undefined) throw new Error("the agent or its tool is not there");
  process.kill(agent, "SIGKILL");
  await project.until("the turn had failed", async () => (await project.agent("a1")).state === "between_turns");
  expect(linuxProcesses.check(tool)).toBe("gone");
  await project.until("it finished", async () => (await project.agent("a1")).outcome === "done");
}, 60_000);
