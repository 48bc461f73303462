import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import type { KillPoint } from "../../src/ports/kill-points.ts";
import {
  eventsOf,
  killOnceAt,
  letGo,
  promptsOf,
  ranTurns,
  slingNew,
  startsOf,
  untilAgent,
  untilFile,
} from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** An agent whose program takes messages during a turn. */
const control = ["--runtime", "scripted:control"];

const listening = `
- when: { turn: 1 }
  do:
    - touch: "\${env.HOME}/working"
    - hear: { expect: Use UTC }
    - touch: "\${env.HOME}/heard"
    - waitFor: { file: "\${env.HOME}/go" }
    - ov: [done, --no-code, --summary, In UTC]
- do: [{ say: hm }]
`;

const tell = async (project: TestProject): Promise<string> =>
  String((await project.json("mail", "send", "--to", "b1", "--subject", "Dates", "--body", "Use UTC")).id);

const deliveryOf = (project: TestProject, id: string) =>
  project.read(async (tx) => tx.deliveries.get((await tx.messages.get(id))?.seq ?? 0, "b1"));

/** How many messages were written into the running turn of an agent. */
const writtenTo = async (project: TestProject, name: string): Promise<number> => {
  const taken = await project.read((tx) => tx.deliveries.inState(name, ["claimed", "delivered"]));
  return taken.filter(({ delivery }) => delivery.channel === "steer").length;
};

const timesTold = (project: TestProject): number =>
  promptsOf(project, "b1").filter((prompt) => prompt.includes("| Use UTC")).length;

test("mail to a working agent whose program takes messages is written into its turn, and not shown again", async () => {
  await using project = await makeProject({ scenario: listening });
  await slingNew(project, "B1", ...control);
  await untilFile(project, "working");
  const id = await tell(project);
  await untilFile(project, "heard");
  await project.until("that was stored", async () => (await deliveryOf(project, id))?.state === "delivered");
  expect((await project.ov("mail", "why", id)).out).toContain("b1 was shown it during its turn");
  await letGo(project);
  await untilAgent(project, "b1", "completed/done", "completed/no_signal");
  await project.settled();
  expect(await project.agent("b1")).toMatchObject({ outcome: "done", generation: 1 });
  const [turn, ...more] = await ranTurns(project, "b1");
  expect(more).toEqual([]);
  expect(await deliveryOf(project, id)).toMatchObject({ state: "acked", channel: "steer", turnId: turn?.id ?? "" });
  expect(await eventsOf(project, "completion_refused")).toEqual([]);
  expect(timesTold(project)).toBe(1);
}, 120_000);

const points: readonly KillPoint[] = ["reply.before", "reply.kept", "reply.given"];

test.each(points)(
  "a supervisor that dies at %s while it gives mail to a turn is replaced, and the agent gets it once",
  async (point) => {
    await using project = await makeProject({ scenario: listening });
    await project.json("task", "create", "Task B1", "--id", "B1");
    const { marker, env } = killOnceAt(project, point, "self");
    expect((await project.ovWith({ env }, "sling", "B1", "--name", "b1", ...control)).code).toBe(0);
    await untilFile(project, "working");
    const id = await tell(project);
    await project.until(`${point} was reached`, async () => existsSync(marker));
    await untilFile(project, "heard");
    // The next supervisor reads that by itself; a finish before that is refused once.
    await project.until("that was stored", async () => (await deliveryOf(project, id))?.state === "delivered");
    await letGo(project);
    await untilAgent(project, "b1", "completed/done", "completed/no_signal");
    await project.settled();
    expect(await project.agent("b1")).toMatchObject({ outcome: "done", generation: 1 });
    expect(startsOf(project, "b1")).toHaveLength(1);
    expect(timesTold(project)).toBe(1);
    expect(await deliveryOf(project, id)).toMatchObject({ state: "acked", channel: "steer" });
  },
  120_000,
);

test("mail that was written and that the turn did not show is named before finish, and shown by its second try", async () => {
  await using project = await makeProject({
    scenario: `
- when: { turn: 1 }
  do:
    - touch: "\${env.HOME}/working"
    - waitFor: { file: "\${env.HOME}/go" }
    - { shell: 'ov done --no-code --summary d >"$HOME/first" 2>&1', expect: 5 }
    - { shell: 'ov done --no-code --summary d >"$HOME/second" 2>&1', expect: 5 }
    - ov: [done, --no-code, --summary, In UTC]
- do: [{ say: hm }]
`,
  });
  await slingNew(project, "B1", ...control);
  await untilFile(project, "working");
  const id = await tell(project);
  await project.until("it was written", async () => (await deliveryOf(project, id))?.channel === "steer");
  expect((await project.ov("mail", "why", id)).out).toContain("has not shown it to its model yet");
  await letGo(project);
  await untilAgent(project, "b1", "completed/done", "completed/no_signal");
  const said = async (name: string): Promise<string> => Bun.file(`${project.home}/${name}`).text();
  expect(await said("first")).toContain("1 message, on the way to you");
  expect(await said("first")).not.toContain("Use UTC");
  expect(await said("second")).toContain("| Use UTC");
  expect(await project.agent("b1")).toMatchObject({ outcome: "done" });
}, 120_000);

test("mail that comes after the work was accepted is not written into the turn", async () => {
  await using project = await makeProject({
    scenario: `
- when: { agent: b2 }
  do:
    - touch: "\${env.HOME}/listening"
    - hear: { expect: first }
    - hear: { expect: second }
    - touch: "\${env.HOME}/heard"
    - ov: [done, --no-code, --summary, d]
- when: { input: Use UTC }
  do: [{ ov: [done, --no-code, --summary, In UTC] }]
- do:
    - ov: [done, --no-code, --summary, d]
    - touch: "\${env.HOME}/working"
    - waitFor: { file: "\${env.HOME}/go" }
`,
  });
  await slingNew(project, "B1", ...control);
  await slingNew(project, "B2", ...control);
  await untilFile(project, "working");
  await untilFile(project, "listening");
  const flags = ["--type", "question", "--subject", "Dates", "--body", "Use UTC"];
  const { id } = await project.json("mail", "send", "--to", "b1", ...flags);
  // Between two messages that reach another agent in this way, every supervisor has looked for mail.
  await project.json("mail", "send", "--to", "b2", "--subject", "s", "--body", "first");
  await project.until("the first was written", async () => (await writtenTo(project, "b2")) === 1);
  await project.json("mail", "send", "--to", "b2", "--subject", "s", "--body", "second");
  await untilFile(project, "heard");
  expect(await deliveryOf(project, String(id))).toMatchObject({ state: "queued" });
  await letGo(project);
  await project.until("it was reopened and done", async () => {
    const { generation, outcome } = await project.agent("b1");
    return generation === 2 && outcome === "done";
  });
  expect(timesTold(project)).toBe(1);
}, 120_000);

test("mail that is written while the agent says its last words begins it anew, and it is left to act on it", async () => {
  await using project = await makeProject({
    scenario: `
- when: { turn: 1 }
  do:
    - touch: "\${env.HOME}/working"
    - waitFor: { file: "\${env.HOME}/go" }
    - say: my last words
- when: { input: Use UTC }
  do:
    - touch: "\${env.HOME}/began"
    # Longer than a program may linger that has nothing to do any more.
    - shell: "sleep 12"
    - ov: [done, --no-code, --summary, In UTC]
- do: [{ say: hm }]
`,
  });
  await slingNew(project, "B1", ...control);
  await untilFile(project, "working");
  const id = await tell(project);
  await project.until("it was written", async () => (await deliveryOf(project, id))?.channel === "steer");
  await letGo(project);
  await untilFile(project, "began");
  await untilAgent(project, "b1", "completed/done", "completed/no_signal");
  await project.settled();
  expect(await project.agent("b1")).toMatchObject({ outcome: "done", generation: 1 });
  expect(await ranTurns(project, "b1")).toHaveLength(1);
  expect(await deliveryOf(project, id)).toMatchObject({ state: "acked", channel: "steer" });
  expect(timesTold(project)).toBe(1);
}, 120_000);
