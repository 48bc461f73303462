import { expect, test } from "bun:test";
import { type CoordinatedWorld, coordinatedWorld, look } from "../../../testkit/coordinated-world.ts";
import { agentCaller } from "../../../testkit/use-case.ts";
import { nextDelivery } from "../../domain/mail/delivery.ts";
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

/** Plays turns that only read until none starts. Returns who had one. */
async function readOn(world: CoordinatedWorld): Promise<readonly string[]> {
  const had: string[] = [];
  for (;;) {
    world.clock.now += 60_000;
    const names = Object.keys(await world.dispatch());
    if (names.length === 0) return had;
    had.push(...names);
    for (const name of names) await readAndEnd(world, name);
  }
}

async function readAndEnd({ store, clock, settle }: CoordinatedWorld, name: string): Promise<void> {
  const id = await store.transaction(async (tx) => {
    const turn = await tx.turns.runningFor(`agent-${name}`);
    for (const { delivery } of await tx.deliveries.ofTurn(turn?.id ?? "")) {
      const delivered = nextDelivery(delivery, { kind: "deliver", by: turn?.id ?? "" }, clock.now);
      if (delivered.ok) await tx.deliveries.update(delivered.value);
    }
    return turn?.id ?? "";
  });
  await settle({ id });
}

/** Two builders below this parent, each of which asks the other and ends its turn. */
async function circleBelow(world: CoordinatedWorld, parentName: string): Promise<void> {
  for (const [name, other] of [
    ["b1", "b2"],
    ["b2", "b1"],
  ] as const) {
    if (name === "b1")
      for (const one of ["b1", "b2"]) await world.seatBelow(one, { capability: "builder", parentName });
    const turn = await world.beginTurn(name);
    const caller = agentCaller(name, "builder", { runId: world.runId });
    await world.must(
      sendMail,
      { to: other, type: "question", subject: `of ${name}`, body: "?", expectsReply: true },
      caller,
    );
    await world.settle(turn);
  }
}

const lettersTo = async ({ store }: CoordinatedWorld, to: string): Promise<readonly string[]> =>
  (await store.read((tx) => tx.messages.list({ to }))).map(({ subject, body }) => `${subject}\n${body}`);

test.each([null, "Do it all"])(
  "agents of the operator that wait for each other are told once, with objective %p",
  async (objective) => {
    await using world = await coordinatedWorld();
    if (objective !== null) await world.store.transaction((tx) => tx.runs.setObjective(world.runId, objective));
    await circleBelow(world, "operator");
    await readOn(world);
    const [letter, ...more] = await lettersTo(world, "operator");
    expect(more).toEqual([]);
    expect(letter).toStartWith("b1 and b2 wait for each other\n");
    expect(letter).toMatch(/ov mail reply \S+ --body/);
    expect(letter).toContain("ov nudge b1");
    // Another look finds the same circle, which was told.
    await world.must(look, {});
    expect(await lettersTo(world, "operator")).toHaveLength(1);
    const { items } = await world.must(readAttention, {});
    expect(items.filter(({ subject }) => subject.id !== "chief").map(({ kind, command }) => [kind, command])).toEqual([
      ["risk", expect.stringMatching(/^ov mail reply /)],
      ["risk", expect.stringMatching(/^ov mail reply /)],
    ]);
  },
);

test("agents that wait for each other are told to their parent, and to the operator only when it lets them wait", async () => {
  await using world = await coordinatedWorld();
  await world.seatBelow("lead-1", { capability: "lead", parentName: "chief" });
  await circleBelow(world, "lead-1");
  let started = await world.dispatch();
  while (!("lead-1" in started)) {
    for (const name of Object.keys(started)) await readAndEnd(world, name);
    world.clock.now += 60_000;
    started = await world.dispatch();
  }
  expect(started["lead-1"]).toEqual(["[ENGINE] b1 and b2 wait for each other"]);
  const [letter] = await lettersTo(world, "lead-1");
  expect(letter).toContain(`b1 asked b2: "of b1"`);
  expect(letter).toContain("ov nudge b1");
  // While the lead is at it, nobody has to help.
  expect((await world.must(readAttention, {})).items).toEqual([]);
  expect(await lettersTo(world, "operator")).toEqual([]);
  await readAndEnd(world, "lead-1");
  await readOn(world);
  expect((await lettersTo(world, "lead-1")).filter((text) => text.includes("wait for each other"))).toHaveLength(1);
  expect((await lettersTo(world, "operator")).map((text) => text.split("\n")[0])).toEqual([
    "b1 and b2 wait for each other",
  ]);
});

test("nobody is told of agents that wait for each other while one of them also waits for the operator", async () => {
  await using world = await coordinatedWorld();
  await circleBelow(world, "operator");
  const b1 = agentCaller("b1", "builder", { runId: world.runId });
  await world.must(sendMail, { to: "operator", type: "question", subject: "?", body: "may I?" }, b1);
  await readOn(world);
  expect((await lettersTo(world, "operator")).filter((text) => text.includes("each other"))).toEqual([]);
});

test("agents that wait for each other are told to the operator where each has the name of the other's parent", async () => {
  await using world = await coordinatedWorld();
  // b1 was released while b2, its child, went on, and b2 gave the name to an agent of its own.
  await world.seatBelow("b1", { capability: "builder", parentName: "b2" });
  await world.seatBelow("b2", { capability: "lead", parentName: "b1" });
  for (const [name, other, capability] of [
    ["b1", "b2", "builder"],
    ["b2", "b1", "lead"],
  ] as const) {
    const turn = await world.beginTurn(name);
    const question = { to: other, type: "question", subject: `of ${name}`, body: "?", expectsReply: true } as const;
    await world.must(sendMail, question, agentCaller(name, capability, { runId: world.runId }));
    await world.settle(turn);
  }
  await readOn(world);
  expect((await lettersTo(world, "operator")).map((text) => text.split("\n")[0])).toEqual([
    "b1 and b2 wait for each other",
  ]);
});
