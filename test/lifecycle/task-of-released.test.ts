import { expect, test } from "bun:test";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** An agent that asks and never finishes. */
const asking = `
- do:
    - ov: [mail, send, --to, operator, --type, question, --subject, q, --body, go on?]
`;

async function stopped(): Promise<TestProject> {
  const project = await makeProject({ scenario: asking });
  await project.json("task", "create", "Work", "--id", "T1");
  await project.json("sling", "T1", "--name", "b1");
  await project.until("it asks", async () => (await project.agent("b1")).state === "between_turns");
  expect((await project.json("task", "show", "T1")).task).toMatchObject({ status: "in_progress", claimedBy: "b1" });
  await project.json("stop", "b1");
  return project;
}

const taskOf = (project: TestProject) => project.read((tx) => tx.tasks.get("T1"));

test("the task of an unfinished agent is ready again when the agent is released, and taken back by ov recover", async () => {
  await using project = await stopped();
  // Until then the agent may be brought back, and the refusal says who holds the task.
  const refused = await project.ov("task", "reopen", "T1");
  expect(refused.code).not.toBe(0);
  expect(refused.err).toContain("b1");
  await project.json("release", "b1");
  expect(await taskOf(project)).toMatchObject({ status: "open", claimedBy: null });
  const ready = await project.ov("task", "ready");
  expect(ready.out).toContain("T1");
  await project.json("recover", "b1");
  expect(await taskOf(project)).toMatchObject({ status: "in_progress", claimedBy: "b1" });
  await project.ov("stop", "b1", "--force");
}, 120_000);

test("a run that is ended leaves no task in progress with nobody on it", async () => {
  await using project = await stopped();
  await project.json("release", "b1");
  const refused = await project.ov("run", "complete");
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("task T1 is open")]);
  expect(refused.err).toContain("ov task drop T1");
  expect(await project.json("run", "complete", "--force")).toMatchObject({
    leftOpen: [expect.stringContaining("task T1 is open")],
  });
  expect(await taskOf(project)).toMatchObject({ status: "open", claimedBy: null });
}, 120_000);

test("a task that was left in progress by an earlier version can be reopened", async () => {
  await using project = await stopped();
  await project.json("release", "b1");
  await project.json("task", "update", "T1", "--status", "in_progress");
  expect((await project.ov("task", "reopen", "T1")).code).toBe(0);
  expect(await taskOf(project)).toMatchObject({ status: "open", claimedBy: null });
}, 120_000);

test("a closed task starts no agent, neither anew nor by ov recover, and both name the way back", async () => {
  await using project = await stopped();
  await project.json("release", "b1");
  await project.json("task", "close", "T1", "--reason", "done");
  for (const words of [
    ["recover", "b1"],
    ["recover", "b1", "--fresh"],
    ["sling", "T1"],
  ]) {
    const refused = await project.ov(...words);
    expect({ words, code: refused.code }).toEqual({ words, code: 2 });
    expect(refused.err).toContain("task T1 is closed");
    expect(refused.err).toContain("ov task reopen T1");
  }
  expect(await project.agent("b1")).toMatchObject({ generation: 1 });
  await project.json("task", "reopen", "T1");
  expect(await project.json("recover", "b1")).toMatchObject({ generation: 2 });
  await project.ov("stop", "b1", "--force");
}, 120_000);

test("a word that is no task is told apart from the words of a new one", async () => {
  await using project = await stopped();
  const refused = await project.ov("sling", "Refactor");
  expect(refused.code).toBe(7);
  expect(refused.err).toContain("more than one word");
  expect(refused.err).toContain("ov task create");
  const nearly = await project.ov("sling", "T2");
  expect(nearly.err).toContain('did you mean "T1"?');
}, 120_000);
