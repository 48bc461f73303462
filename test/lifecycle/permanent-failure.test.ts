import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deathNotices, queuedTurn, ranTurns, untilAgent, untilTurns } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** A program that stands for the real CLI and does nothing but what these lines of shell say. */
async function projectWith(script: string): Promise<TestProject> {
  const project = await makeProject();
  const bin = join(project.home, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "claude"), `#!/bin/sh\n[ "$1" = --version ] && exit 0\n${script}\n`, { mode: 0o755 });
  await project.json("task", "create", "T1", "--id", "T1");
  const env = { PATH: `${bin}:${process.env.PATH}` };
  const slung = await project.ovWith({ env }, "sling", "T1", "--name", "b1", "--runtime", "claude");
  expect(slung.code).toBe(0);
  return project;
}

const complaint = "error: unknown option '--include-partial-messages'";

test("a CLI that refuses to work at all is not asked again, and its words reach the parent and the status", async () => {
  await using project = await projectWith(`echo "${complaint}" >&2; exit 1`);
  await untilAgent(project, "b1", "zombie/crashed");
  expect(await ranTurns(project, "b1")).toMatchObject([{ attempt: 1, status: "failed", exitCode: 1 }]);
  expect(await queuedTurn(project, "b1")).toBeUndefined();
  const [notice, ...more] = await deathNotices(project, "b1");
  expect(more).toEqual([]);
  expect(notice?.body).toContain(complaint);
  expect((await project.ov("status", "--all")).out).toContain(complaint);
  const { agents } = await project.json("status", "--all");
  expect(agents).toMatchObject([{ agentName: "b1", problem: expect.stringContaining(complaint) }]);
});

test.each([
  ["it had begun", `echo '{"type":"system","subtype":"init","session_id":"s"}'; echo "${complaint}" >&2; exit 1`],
  ["it complains of something else", 'echo "the network is down" >&2; exit 1'],
])("a failure is tried again when %s", async (_, script) => {
  await using project = await projectWith(script);
  await untilTurns(project, "b1", 1);
  await project.until("the turn had failed", async () => (await queuedTurn(project, "b1")) !== undefined);
  expect(await queuedTurn(project, "b1")).toMatchObject({ trigger: "retry", attempt: 2 });
});
