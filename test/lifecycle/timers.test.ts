import { expect, test } from "bun:test";
import {
  anotherEngineLeft,
  clockAt,
  killServices,
  moveClock,
  nobodyLeft,
  ranTurns,
  slingNew,
  startsOf,
  untilAgent,
  untilTurns,
} from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

test("a look at a project whose engine and keeper died before a timer was due brings an engine back for it", async () => {
  await using project = await makeProject({
    scenario: `
- when: { attempt: 1 }
  do: [{ exit: 1 }]
- when: { attempt: 2 }
  do: [{ exit: 1 }]
- do: [{ ov: [done, --no-code, --summary, done] }]
`,
  });
  await slingNew(project, "B1");
  await untilTurns(project, "b1", 1);
  await moveClock(project, 5_000);
  await untilTurns(project, "b1", 2);
  await project.until("only engine and keeper were left", async () => project.processes().length === 2);
  killServices(project);
  await nobodyLeft(project);
  // A good second before the back-off of half a minute is over.
  expect((await project.ovWith({ env: clockAt(5_000 + 28_500) }, "status")).code).toBe(0);
  await untilAgent(project, "b1", "completed/done");
  expect(startsOf(project, "b1")).toHaveLength(3);
}, 120_000);

test("mail that is held back for a moment starts an engine for the moment after", async () => {
  await using project = await makeProject({
    scenario: `
- when: { capability: lead, turn: 1 }
  do: [{ ov: [sling, Build it, --name, b1] }]
- when: { capability: lead }
  do: [{ say: noted }]
- do: [{ ov: [mail, send, --to, operator, --type, question, --subject, q, --body, which?] }]
`,
  });
  await slingNew(project, "L", "--capability", "lead");
  await untilAgent(project, "b1", "between_turns");
  await nobodyLeft(project);
  const before = (await ranTurns(project, "l")).length;
  await project.json(
    "mail",
    "send",
    "--to",
    "l",
    "--type",
    "status",
    "--subject",
    "s",
    "--body",
    "still on it",
    "--wake",
  );
  await project.until("the lead had read it", async () => (await ranTurns(project, "l")).length > before);
});

test("an engine whose last timer was called off leaves at once", async () => {
  await using project = await makeProject({ scenario: "- do: [{ rateLimit: { resetInMs: 3600000 } }]\n" });
  await slingNew(project, "B1");
  await untilTurns(project, "b1", 1);
  await anotherEngineLeft();
  expect(await project.json("engine", "status")).toMatchObject({ running: true, queuedTurns: 1 });
  await project.json("stop", "b1");
  await nobodyLeft(project);
});
