import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ranTurns } from "../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../testkit/project.ts";

/** Programs of every driver that speak to a person, where their events should be, and leave. */
let project: TestProject;

const drivers = {
  claude: "2.1.325 (Claude Code)",
  "claude:control": "2.1.325 (Claude Code)",
  codex: "codex-cli 0.166.0",
  gemini: "0.61.0",
  "gemini:acp": "0.61.0",
  opencode: "1.18.33",
  "opencode:acp": "1.18.33",
  pi: "0.73.1",
  copilot: "1.0.102",
  "copilot:acp": "1.0.102",
};
const names = Object.keys(drivers);
const agentOf = (runtime: string): string => runtime.replace(":", "-");

const timeoutMs = 180_000;

beforeAll(async () => {
  project = await makeProject({ config: "agents:\n  continuePrompts: 0\n  maxConcurrent: 4\n" });
  const bin = join(project.home, "talking");
  mkdirSync(bin, { recursive: true });
  for (const [runtime, version] of Object.entries(drivers))
    writeFileSync(join(bin, runtime.split(":")[0] ?? ""), talking(version), { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env.PATH}`, ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k", GEMINI_API_KEY: "k" };
  for (const runtime of names) {
    const [name, task] = [agentOf(runtime), agentOf(runtime).toUpperCase()];
    await project.json("task", "create", `Task ${task}`, "--id", task);
    const answer = await project.ovWith({ env }, "sling", task, "--name", name, "--runtime", runtime);
    expect(answer, answer.err).toMatchObject({ code: 0 });
  }
}, timeoutMs);
afterAll(async () => project?.[Symbol.asyncDispose](), 60_000);

test.each(names)(
  "%s: what the program wrote for a person is in its log and in the reason of the failure",
  async (runtime) => {
    const name = agentOf(runtime);
    const ended = async () => (await ranTurns(project, name)).find(({ endedAt }) => endedAt !== null);
    await project.until(`a turn of ${name} had ended`, async () => (await ended()) !== undefined, timeoutMs);
    const turn = await ended();
    expect(turn?.error).toContain("exited with 3");
    expect(turn?.error).toContain("TypeError: cannot read the owl");
    expect(turn?.error).toContain("the flag --feather is old");
    const { out } = await project.ovWith({}, "logs", name);
    for (const line of ["TypeError: cannot read the owl", "    at Nest.open (nest.js:7:3)"])
      expect(out).toContain(`! ${line}`);
    expect(out).toContain("the flag --feather is old");
    // A key that a program prints line by line is recognised by none of its lines.
    expect(out + turn?.error).not.toContain("MIIEvQIBADANBgkq");
  },
  timeoutMs,
);

const talking = (version: string): string => `#!/bin/sh
case " $* " in *" --version "*) echo '${version}'; exit 0 ;; esac
echo 'TypeError: cannot read the owl'
echo '    at Nest.open (nest.js:7:3)'
echo 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj'
echo 'the flag --feather is old' >&2
exit 3
`;
