import { expect, test } from "bun:test";
import { slingNew, untilTurns } from "../../testkit/lifecycle.ts";
import { ovBinary } from "../../testkit/ov.ts";
import { makeProject } from "../../testkit/project.ts";

const asks = "- do: [{ ov: [mail, send, --to, operator, --type, question, --subject, q, --body, what next] }]\n";

test("an engine that stays wakes an agent at once with the mail that came while a person had it", async () => {
  const patient = { OVERSTORY__ENGINE__IDLE_EXIT_MS: "120000" };
  await using project = await makeProject({ scenario: asks, env: patient });
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
  const began = performance.now();
  await untilTurns(project, "b1", 2);
  expect(performance.now() - began).toBeLessThan(15_000);
}, 60_000);
