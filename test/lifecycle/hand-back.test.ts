import { expect, test } from "bun:test";
import { promptsOf, slingNew, untilTurns } from "../../testkit/lifecycle.ts";
import { ovBinary } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

const asks = "- do: [{ ov: [mail, send, --to, operator, --type, question, --subject, q, --body, what next] }]\n";

/** A person opens the agent at a terminal, and closes the terminal after the work. */
async function whileAttached(project: TestProject, name: string, work: () => Promise<unknown>): Promise<void> {
  const { id } = await project.agent(name);
  const person = Bun.spawn({
    cmd: [ovBinary(), "attach", name],
    cwd: project.root,
    env: { ...project.env },
    stdio: ["pipe", "ignore", "ignore"],
  });
  try {
    await project.until("the person had it", async () => {
      const live = await project.read((tx) => tx.processes.liveForAgent(id));
      return live.some(({ role, turnId }) => role === "agent" && turnId === null);
    });
    await work();
  } finally {
    person.kill("SIGKILL");
    await person.exited;
  }
}

test("an engine that stays wakes an agent at once with the mail that came while a person had it", async () => {
  // Nothing else lets the engine look while this test waits: neither its leaving nor its watchdog.
  const patient = { OVERSTORY__ENGINE__IDLE_EXIT_MS: "600000" };
  const config = "watchdog:\n  tier0Enabled: false\n";
  await using project = await makeProject({ scenario: asks, env: patient, config });
  await slingNew(project, "B1");
  await untilTurns(project, "b1", 1);
  await whileAttached(project, "b1", () =>
    project.json("mail", "send", "--to", "b1", "--type", "question", "--subject", "News", "--body", "while away"),
  );
  await untilTurns(project, "b1", 2);
  expect(promptsOf(project, "b1")[1]).toContain("while away");
}, 120_000);

test("a coordinator whose run ends while a person has it open stays until the person has left", async () => {
  await using project = await makeProject({ scenario: "- do: [{ say: I wait. }]\n" });
  await project.json("coordinator", "start");
  await untilTurns(project, "coordinator", 1);
  await whileAttached(project, "coordinator", async () => {
    await project.json("run", "complete", "--force");
    expect(await project.agent("coordinator")).toMatchObject({ outcome: null, releasedAt: null });
  });
  await project.until("it has ended", async () => (await project.agent("coordinator")).releasedAt !== null);
  expect(await project.agent("coordinator")).toMatchObject({ state: "completed", outcome: "done" });
}, 120_000);
