import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { eventsOf, promptsOf, slingNew, untilAgent, untilTurns } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** Leaves a file uncommitted and asks; asked to go on, it changes nothing and asks again. */
const leaving = `
- when: { turn: 1 }
  do:
    - edit: { file: notes.txt, write: "thoughts\\n" }
    - ov: [mail, send, --to, operator, --type, question, --subject, q1, --body, go on?]
- do: [{ ov: [mail, send, --to, operator, --type, question, --subject, "q\${turn}", --body, and now?] }]
`;

const refsOf = async (project: TestProject): Promise<string[]> => {
  const refs = await project.git("for-each-ref", "--format=%(refname)", "refs/overstory/snap/");
  return refs.split("\n").filter((ref) => ref !== "");
};

const recordedRefs = (project: TestProject): Promise<string[]> =>
  project.read(async (tx) => (await tx.snapshots.of("b1")).map(({ ref }) => ref));

test("a snapshot whose taker was killed before it could record it is recorded by the next", async () => {
  const marker = (project: TestProject): string => join(project.state, "killed");
  await using project = await makeProject({ scenario: leaving });
  await project.json("task", "create", "B1", "--id", "B1");
  const kill = { OVERSTORY_TEST_KILL_AT: "turn.after-snapshot", OVERSTORY_TEST_KILL_ONCE: marker(project) };
  expect((await project.ovWith({ env: kill }, "sling", "B1", "--name", "b1")).code).toBe(0);
  await project.until("its supervisor had been killed", async () => existsSync(marker(project)));
  await untilAgent(project, "b1", "between_turns", "zombie");
  expect(await refsOf(project)).toEqual(["refs/overstory/snap/b1/1/1"]);
  expect(await recordedRefs(project)).toEqual(["refs/overstory/snap/b1/1/1"]);
  expect(await project.git("show", "refs/overstory/snap/b1/1/1:notes.txt")).toBe("thoughts\n");
}, 60_000);

test("a turn that changed nothing takes no snapshot, and tells of none", async () => {
  await using project = await makeProject({ scenario: leaving });
  await slingNew(project, "B1");
  await untilTurns(project, "b1", 1);
  const [question] = await project.read((tx) => tx.messages.list({ from: "b1", type: "question" }));
  await project.json("mail", "reply", question?.id ?? "", "--body", "yes");
  await untilTurns(project, "b1", 2);
  expect(promptsOf(project, "b1")).toHaveLength(2);
  expect(await refsOf(project)).toEqual(["refs/overstory/snap/b1/1/1"]);
  expect(await recordedRefs(project)).toEqual(["refs/overstory/snap/b1/1/1"]);
  expect(await eventsOf(project, "snapshot")).toHaveLength(1);
}, 60_000);
