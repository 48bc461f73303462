import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { KillPoint } from "../../src/ports/kill-points.ts";
import {
  answersOf,
  eventsOf,
  killOnceAt,
  letGo,
  pidOf,
  ranTurns,
  slingNew,
  startsOf,
  untilAgent,
  untilFile,
  untilTurns,
} from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

const control = ["--runtime", "scripted:control"];

test("an agent that asks during its turn is answered by its guard, and its turn ends when it has said so", async () => {
  await using project = await makeProject({
    scenario: `
- do:
    - ask: { tool: Bash, input: { command: npm test } }
    - ask: { tool: Bash, input: { command: git push }, expect: deny }
    - ask: { tool: Write, input: { file_path: ../elsewhere, content: x }, expect: deny }
    - ov: [done, --no-code, --summary, done]
    - say: finished
`,
  });
  await slingNew(project, "B1", ...control);
  await untilAgent(project, "b1", "completed/done");
  expect(answersOf(project, "b1")).toMatchObject([
    { request: "ask", answer: { behavior: "allow", updatedInput: { command: "npm test" } } },
    { request: "ask", answer: { behavior: "deny", message: expect.any(String) } },
    { request: "ask", answer: { behavior: "deny", message: expect.any(String) } },
  ]);
  expect(await ranTurns(project, "b1")).toMatchObject([{ clean: true, exitCode: 0 }]);
  const denied = (await eventsOf(project, "guard_denied")).map(({ data }) => JSON.parse(data ?? "{}"));
  expect(denied).toMatchObject([
    { rule: "git-push", tool: "Bash" },
    { rule: "boundary", tool: "Write" },
  ]);
  expect(await project.agent("b1")).toMatchObject({ runtime: "scripted", driver: "control", cliVersion: "2.1.325" });
}, 120_000);

test("files that an agent asks for are read and written inside of its rules", async () => {
  await using project = await makeProject({
    scenario: `
- do:
    - writeFile: { file: src/new.txt, text: "written for it\\n" }
    - readFile: src/new.txt
      expect: written for it
    - writeFile: { file: ../outside.txt, text: x }
      expect: deny
    - shell: cp src/new.txt "$HOME/seen"
    - commit: written
    - ov: [done, --summary, done]
    - say: finished
`,
  });
  await slingNew(project, "B1", ...control);
  await untilAgent(project, "b1", "completed/done");
  expect(await ranTurns(project, "b1")).toMatchObject([{ clean: true }]);
  expect(readFileSync(join(project.home, "seen"), "utf8")).toBe("written for it\n");
}, 120_000);

const atAnExchange: readonly KillPoint[] = ["reply.before", "reply.kept", "reply.given"];

test.each(atAnExchange)(
  "a supervisor that dies at %s is replaced, and the agent is answered once",
  async (point) => {
    await using project = await makeProject({
      scenario: `
- do:
    - ask: { tool: Bash, input: { command: git push }, expect: deny }
    - waitFor: { file: "\${env.HOME}/go" }
    - ask: { tool: Bash, input: { command: npm test } }
    - ov: [done, --no-code, --summary, done]
    - say: finished
`,
    });
    await project.json("task", "create", "Task B1", "--id", "B1");
    const { marker, env } = killOnceAt(project, point, "self");
    expect((await project.ovWith({ env }, "sling", "B1", "--name", "b1", ...control)).code).toBe(0);
    await project.until(`${point} was reached`, async () => existsSync(marker));
    await project.until("the first question was answered", async () => answersOf(project, "b1").length > 0);
    await letGo(project);
    await untilTurns(project, "b1", 1);
    // One process, one turn: the successor went on with the agent that its predecessor had started.
    expect(startsOf(project, "b1")).toHaveLength(1);
    expect(await ranTurns(project, "b1")).toMatchObject([{ clean: true, attempt: 1 }]);
    expect(answersOf(project, "b1")).toMatchObject([
      { request: "ask", answer: { behavior: "deny" } },
      { request: "ask", answer: { behavior: "allow" } },
    ]);
    expect(await eventsOf(project, "guard_denied")).toHaveLength(1);
  },
  120_000,
);

test("an agent that is killed while it waits for an answer leaves nothing behind", async () => {
  await using project = await makeProject({
    scenario: `
- when: { attempt: 1 }
  do:
    - ask: { tool: Bash, input: { command: npm test } }
    - touch: "\${env.HOME}/asked"
    - hang: true
- do: [{ say: finished }]
`,
  });
  await slingNew(project, "B1", ...control);
  await untilFile(project, "asked");
  process.kill(await pidOf(project, "b1", "agent"), "SIGKILL");
  await untilTurns(project, "b1", 1);
  const [turn] = await ranTurns(project, "b1");
  expect(turn).toMatchObject({ clean: false });
  await project.json("stop", "b1");
  await project.until("every process had ended", async () => project.processes().length === 0);
}, 120_000);
