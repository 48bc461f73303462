import { expect, test } from "bun:test";
import { coordinatedWorld, look } from "../../../testkit/coordinated-world.ts";
import { agentCaller } from "../../../testkit/use-case.ts";
import { readOutput } from "../coordinators/status.ts";
import { sendMail } from "../mail/send.ts";
import { readAttention } from "../operator/read-attention.ts";

test("a coordinator that ends its turns without acting is told to the operator once for each, with the next command", async () => {
  await using world = await coordinatedWorld();
  await world.store.transaction((tx) => tx.runs.setObjective(world.runId, "Do it all"));
  const told = async () =>
    (await world.store.read((tx) => tx.messages.list({ to: "operator", type: "escalation" }))).map(
      ({ subject, body }) => `${subject}\n${body}`,
    );
  const turn = await world.beginTurn("chief");
  expect(await told()).toEqual([]);
  await world.settle(turn);
  const [first, ...more] = await told();
  expect(more).toEqual([]);
  expect(first).toContain("chief stands still, and run run-2 with it");
  expect(first).toContain("ov coordinator check-complete");
  expect(first).toContain("ov coordinator send");
  // Another look finds the same standstill, which was told.
  await world.must(look, {});
  expect(await told()).toHaveLength(1);
  world.clock.now += 1000;
  await world.settle(await world.beginTurn("chief"));
  expect(await told()).toHaveLength(2);
  // The command that follows its output says it, too, and the attention list names the command.
  const output = { capability: "coordinator", name: "chief", lines: 10 } as const;
  expect((await world.must(readOutput, output)).lines).toEqual([]);
  const { lines } = await world.must(readOutput, { ...output, after: 0 });
  expect(lines.map(({ text }) => text)).toEqual([
    expect.stringContaining("[engine] it stands still"),
    expect.stringContaining("ov coordinator check-complete"),
  ]);
  const { items } = await world.must(readAttention, {});
  expect(items).toMatchObject([{ kind: "risk", command: expect.stringContaining("ov coordinator check-complete") }]);
});

test("a coordinator that waits for a builder, or for the operator's answer, does not stand still", async () => {
  await using world = await coordinatedWorld();
  await world.store.transaction((tx) => tx.runs.setObjective(world.runId, "Do it all"));
  await world.seatBelow("b1", {
    capability: "builder",
    branch: "overstory/b1/T1",
    headCommit: "h1",
    ahead: 1,
    state: "working",
  });
  await world.settle(await world.beginTurn("chief"));
  const chief = agentCaller("chief", "coordinator", { runId: world.runId });
  await world.must(sendMail, { to: "operator", type: "question", subject: "?", body: "may I?" }, chief);
  await world.end("b1", "stopped");
  expect(await world.store.read((tx) => tx.messages.list({ to: "operator", type: "escalation" }))).toEqual([]);
});
