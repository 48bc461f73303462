import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { makeProject, type TestProject } from "../../testkit/project.ts";

const question = "- ov: [mail, send, --to, operator, --type, question, --subject, q, --body, q]";
const done = "- ov: [done, --no-code, --summary, d]";

async function played(steps: string): Promise<TestProject> {
  const project = await makeProject({ scenario: `- do:\n    ${steps.trim().replaceAll("\n", "\n    ")}\n` });
  await project.json("task", "create", "Work", "--id", "T1");
  await project.json("sling", "T1", "--name", "b1");
  return project;
}

/** Its turn is over, and it was stopped after that. */
async function stopped(steps: string): Promise<TestProject> {
  const project = await played(`${steps}\n${question}`);
  await project.until("it waited", async () => (await project.agent("b1")).state === "between_turns");
  await project.json("stop", "b1");
  await project.settled();
  return project;
}

test("commits on a detached HEAD are still reachable after the release took the worktree away", async () => {
  await using project = await stopped(`
- shell: git checkout --quiet --detach
- edit: { file: lost.txt, write: "not lost\\n" }
- commit: beside the branch
- shell: git rev-parse HEAD > "$HOME/commit"`);
  const commit = (await Bun.file(join(project.home, "commit")).text()).trim();
  await project.json("release", "b1");
  await project.until("it was cleaned", async () => (await project.agent("b1")).cleanedAt !== null);
  expect(existsSync(join(project.root, ".overstory/worktrees/b1"))).toBe(false);
  await project.git("gc", "--quiet", "--prune=now");
  expect(await project.git("show", `${commit}:lost.txt`)).toBe("not lost\n");
}, 120_000);

test("a worktree that git cannot read does not keep the turn from being settled, and is not removed", async () => {
  await using project = await stopped(`
- edit: { file: work.txt, write: "work\\n" }
- shell: printf garbage > "$(git rev-parse --git-dir)/index"`);
  expect(await project.agent("b1")).toMatchObject({ state: "completed", outcome: "stopped" });
  const { id } = await project.agent("b1");
  const turns = await project.read((tx) => tx.turns.listFor(id));
  expect(turns.map(({ status, fence }) => [status, fence])).toEqual([["settled", 1]]);
  await project.json("release", "b1");
  await project.until("it was looked at", async () => (await project.agent("b1")).cleanedAt !== null);
  expect(existsSync(join(project.root, ".overstory/worktrees/b1/work.txt"))).toBe(true);
}, 120_000);

test("releasing an agent never touches a neighbour whose name looks like its scratch directory", async () => {
  const scenario = `
- when: { agent: b1.removing }
  do:
    - edit: { file: mine.txt, write: "mine" }
    - touch: "\${env.HOME}/at-work"
    - hang: true
- do:
    ${done}
`;
  await using project = await makeProject({ scenario });
  await project.json("sling", "Work on", "--name", "b1.removing");
  await project.until("the neighbour was at work", async () => existsSync(join(project.home, "at-work")));
  await project.json("sling", "Be quick", "--name", "b1");
  await project.until("the other was cleaned", async () => (await project.agent("b1")).cleanedAt !== null);
  expect(existsSync(join(project.root, ".overstory/worktrees/b1"))).toBe(false);
  expect(existsSync(join(project.root, ".overstory/worktrees/b1.removing/mine.txt"))).toBe(true);
}, 120_000);

test("variables captured from a shell go with the last agent that was given them, reopened or not", async () => {
  await using project = await played(done);
  await project.until("it ended", async () => (await project.agent("b1")).state === "completed");
  await project.settled();
  const first = await project.agent("b1");
  expect(first.releasedAt).not.toBeNull();
  await project.until("it was cleaned", async () => (await project.agent("b1")).cleanedAt !== null);
  expect(existsSync(first.envFile ?? "")).toBe(false);
}, 120_000);
