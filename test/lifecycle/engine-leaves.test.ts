import { expect, test } from "bun:test";
import { copyFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { untilAgent, untilFile } from "../../testkit/lifecycle.ts";
import { ovBinary } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

const untilNobodyIsLeft = (project: TestProject): Promise<void> =>
  project.until("engine and keeper had left", async () => project.processes().length === 0, 20_000);

/** A reader that dies with mail in hand, before it has said that it printed it. */
const diesReading = { OVERSTORY_TEST_KILL_AT: "tx:1+", OVERSTORY_TEST_KILL_IN: "command" };

const claimsFor = async (project: TestProject, name: string): Promise<number> =>
  (await project.read((tx) => tx.deliveries.inState(name, ["claimed"]))).length;

test("an engine leaves after the stop of an agent that waits for tomorrow's budget", async () => {
  const scenario = "- do: [{ ov: [done, --no-code, --summary, d] }]\n";
  await using project = await makeProject({ scenario, config: "budgets: { day: { turns: 1 } }\n" });
  for (const name of ["b1", "b2"]) await project.json("sling", "Work", "--name", name, "--skip-task-check");
  const parked = async () =>
    (await project.read((tx) => tx.waits.ofKind("budget"))).map(({ agentName }) => agentName)[0];
  await project.until("one of them was parked", async () => (await parked()) !== undefined);
  const name = (await parked()) ?? "";
  await untilAgent(project, name === "b1" ? "b2" : "b1", "completed/done");
  await project.json("stop", name);
  await untilNobodyIsLeft(project);
  expect(await project.read((tx) => tx.waits.ofKind("budget"))).toEqual([]);
  // A command that only reads starts no engine for it either.
  await project.json("status");
  expect(project.processes()).toEqual([]);
}, 120_000);

test("an engine leaves although a person's reader died with mail in hand, and the mail is shown again", async () => {
  const scenario = "- do: [{ ov: [done, --no-code, --summary, d] }]\n";
  await using project = await makeProject({ scenario, env: { OVERSTORY__MAIL__LEASE_MS: "8000" } });
  await project.json("sling", "Work", "--name", "b1", "--skip-task-check");
  await untilAgent(project, "b1", "completed/done");
  await project.ovWith({ env: diesReading }, "mail", "check");
  expect(await claimsFor(project, "operator")).toBe(1);
  await project.json("engine", "start");
  await project.until("the engine had left before", async () => {
    expect(await claimsFor(project, "operator")).toBe(1);
    return project.processes().length === 0;
  });
  await project.until("it was shown again", async () => (await project.ov("mail", "check")).out.includes("Subject"));
}, 120_000);

test("an engine whose program was moved away tells the operator and leaves, and one from another path goes on", async () => {
  const scenario = `
- do:
    - shell: if [ -e "$HOME/began" ]; then touch "$HOME/second"; fi
    - shell: touch "$HOME/began"; until [ -e "$HOME/go" ]; do sleep 0.05; done
    - say: half done
`;
  await using project = await makeProject({ scenario });
  const moved = join(project.home, "old-ov");
  copyFileSync(ovBinary(), moved);
  const env = { ...process.env, ...project.env };
  const slung = Bun.spawnSync([moved, "sling", "Do the work", "--name", "b1"], { cwd: project.root, env });
  expect(slung.exitCode).toBe(0);
  await untilFile(project, "began");
  rmSync(moved);
  writeFileSync(join(project.home, "go"), "");
  await project.until("the operator was told", async () => {
    const mail = await project.read((tx) => tx.messages.list({ to: "operator", type: "error" }));
    return mail.some(({ subject, body }) => subject.includes("program is gone") && body.includes("ov engine start"));
  });
  await project.json("mail", "send", "--to", "b1", "--subject", "Go on", "--body", "now");
  await untilFile(project, "second");
}, 120_000);

test("a command replaces an engine whose program was deleted at once", async () => {
  const scenario = `
- do:
    - shell: touch "$HOME/$OVERSTORY_AGENT_NAME"; until [ -e "$HOME/go" ]; do sleep 0.05; done
    - ov: [done, --no-code, --summary, d]
`;
  await using project = await makeProject({ scenario });
  const old = join(project.home, "old-ov");
  copyFileSync(ovBinary(), old);
  const env = { ...process.env, ...project.env };
  expect(Bun.spawnSync([old, "sling", "Do the work", "--name", "b1"], { cwd: project.root, env }).exitCode).toBe(0);
  await untilFile(project, "b1");
  rmSync(old);
  await project.json("sling", "Do more work", "--name", "b2");
  await untilFile(project, "b2");
  writeFileSync(join(project.home, "go"), "");
  await untilAgent(project, "b2", "completed/done");
  expect(await project.read((tx) => tx.messages.list({ to: "operator", type: "error" }))).toEqual([]);
}, 120_000);
