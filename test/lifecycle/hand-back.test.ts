import { expect, test } from "bun:test";
import { promptsOf, slingNew, untilTurns } from "../../testkit/lifecycle.ts";
import { ovBinary } from "../../testkit/ov.ts";
import { makeProject } from "../../testkit/project.ts";

const asks = "- do: [{ ov: [mail, send, --to, operator, --type, question, --subject, q, --body, what next] }]\n";

test("an engine that stays wakes an agent at once with the mail that came while a person had it", async () => {
  // Nothing else lets the engine look while this test waits: neither its leaving nor its watchdog.
  const patient = { OVERSTORY__ENGINE__IDLE_EXIT_MS: "600000" };
  const config = "watchdog:\n  tier0Enabled: false\n";
  await using project = await makeProject({ scenario: asks, env: patient, config });
  await slingNew(project, "B1");
  await untilTurns(project, "b1", 1);
  const { id } = await project.agent("b1");
  const person = Bun.spawn({
    cmd: [ovBinary(), "attach", "b1"],
    cwd: project.root,
    env: { ...project.env },
    stdio: ["pipe", "ignore", "ignore"],
  });
  try {
    await project.until("the person had it", async () => {
      const live = await project.read((tx) => tx.processes.liveForAgent(id));
      return live.some(({ role, turnId }) => role === "agent" && turnId === null);
    });
    await project.json("mail", "send", "--to", "b1", "--type", "question", "--subject", "News", "--body", "while away");
  } finally {
    person.kill("SIGKILL");
    await person.exited;
  }
  await untilTurns(project, "b1", 2);
  expect(promptsOf(project, "b1")[1]).toContain("while away");
}, 120_000);
