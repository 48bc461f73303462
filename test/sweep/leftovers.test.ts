import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ProcessIdentity } from "../../src/domain/process/process.ts";
import { pidsOf } from "../../src/host/kill-points.ts";
import { linuxProcesses } from "../../src/host/processes.ts";
import { letGo } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

const scenario = `
- when: { attempt: 1 }
  do:
    - shell: echo $$ > "$HOME/tool"; exec sleep 600
- do:
    - ov: [done, --no-code, --summary, second try]
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
}, 120_000);

/** Leaves a server running in a session of its own; once it is let go, its next word is the last of its turn. */
const leavesServer = (...words: string[]): string => `
- do:
    - child: { command: 'echo $$ > "$HOME/server"; exec sleep 600', newSession: true }
    - waitFor: { file: "\${env.HOME}/server" }
    - waitFor: { file: "\${env.HOME}/go" }
    - ov: [mail, send, --to, operator, ${words.join(", ")}, --subject, s, --body, b]
`;

async function serverOf(project: TestProject): Promise<ProcessIdentity> {
  const note = join(project.home, "server");
  await project.until("the server ran", async () => existsSync(note) && readFileSync(note, "utf8") !== "");
  const server = linuxProcesses.identify(Number(readFileSync(note, "utf8")));
  if (server === undefined) throw new Error("the server is not there");
  return server;
}

test.each(["question", "worker_done"])(
  "a server that a clean turn left running ends with the turn: %s",
  async (type) => {
    await using project = await makeProject({ scenario: leavesServer("--type", type) });
    await project.json("sling", "Work", "--name", "a1", "--skip-task-check");
    const server = await serverOf(project);
    expect(linuxProcesses.check(server)).toBe("alive");
    await letGo(project);
    await project.until("its turn was over", async () => (await project.read((tx) => tx.turns.running())).length === 0);
    expect(linuxProcesses.check(server)).toBe("gone");
  },
  120_000,
);
