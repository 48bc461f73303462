import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Message } from "../../src/domain/mail/types.ts";
import { promptsOf, untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

/** The builder writes the wrong word until somebody tells it. */
const builder = `
- when: { agent: b1, turn: 1 }
  do:
    - edit: { file: word.txt, write: "wrong\\n" }
    - commit: a word
    - ov: [done, --summary, There is a word]
- when: { agent: b1 }
  do:
    - input: { expect: "word.txt" }
    - edit: { file: word.txt, write: "right\\n" }
    - commit: the right word
    - ov: [done, --summary, It is the right word]
`;

/** A lead that goes by its prompt: the reviewer is slung on the builder's own task, and nobody says which branch. */
const team = `
- when: { agent: lead1, turn: 1 }
  do:
    - ov: [task, create, Write the word, --id, B]
    - ov: [sling, B, --name, b1, --files, word.txt]
- when: { agent: lead1, input: "Review pass" }
  do:
    - ov: [mail, send, --to, operator, --type, merge_ready, --subject, Ready, --body, B, --payload, '{"branch":"overstory/b1/B"}']
    - ov: [done, --summary, The word is right]
- when: { agent: lead1, input: "Done: B" }
  do:
    - ov: [sling, B, --capability, reviewer]
- when: { capability: reviewer }
  do:
    - shell: |
        if [ "$(cat word.txt)" = right ]; then
          ov done --verdict pass --summary "the word is right"
        else
          ov done --verdict fail --summary "not that word" --findings "word.txt:1: say right"
        fi
${builder.trimStart()}`;

const payloadOf = ({ payload }: Message): Record<string, unknown> => JSON.parse(payload ?? "{}");

const instructionsOf = ({ root }: TestProject, name: string): string =>
  readFileSync(statePath(root, "agents", name, "instructions.md"), "utf8");

test("a reviewer on the builder's own task has its branch before it; what fails comes back mended, passes and lands", async () => {
  await using project = await makeProject({ scenario: team, gates: ["true"] });
  await project.json("task", "create", "Lead it", "--id", "L");
  await project.json("sling", "L", "--name", "lead1", "--capability", "lead");
  await project.until(
    "the word has landed",
    async () => {
      return (await project.read((tx) => tx.tasks.get("B")))?.status === "closed";
    },
    150_000,
  );
  await untilAgent(project, "lead1", "completed/done");
  await project.settled();

  const [first, second, ...more] = (await project.read((tx) => tx.agents.list({ taskId: "B" }))).filter(
    ({ capability }) => capability === "reviewer",
  );
  expect(more).toEqual([]);
  const built = await project.agent("b1");
  expect(built).toMatchObject({ state: "completed", outcome: "done", generation: 2, revivals: 1 });
  for (const reviewer of [first, second]) {
    expect(reviewer).toMatchObject({ baseRef: "overstory/b1/B", ahead: 0, state: "completed", outcome: "done" });
    expect(instructionsOf(project, reviewer?.name ?? "")).toContain("Your worktree holds it:");
  }
  expect(first?.baseCommit).not.toBe(second?.baseCommit);
  expect(second?.baseCommit).toBe(built.headCommit);
  expect(promptsOf(project, "b1")[1]).toContain("| not that word");

  const reviews = await project.read((tx) => tx.messages.list({ type: "review" }));
  expect(
    reviews
      .map(payloadOf)
      .map(({ verdict, branch }) => `${verdict} ${branch}`)
      .toSorted(),
  ).toEqual(["fail overstory/b1/B", "pass overstory/b1/B"]);
  const [entry, ...others] = await project.read((tx) => tx.merges.list({}));
  expect(others).toEqual([]);
  expect(entry).toMatchObject({ status: "merged", verdict: "verified", headCommit: built.headCommit });
  expect(await project.git("show", `${entry?.targetBranch}:word.txt`)).toBe("right\n");
  expect(await project.read((tx) => tx.tasks.get("L"))).toMatchObject({ status: "closed" });
  for (const name of ["b1", "lead1", first?.name, second?.name]) {
    expect((await project.agent(name ?? "")).releasedAt).not.toBeNull();
  }
}, 240_000);

test("a reviewer with a task of its own names the branch; what it started from is not its own work", async () => {
  await using project = await makeProject({
    gates: ["true"],
    scenario: `${builder}
- when: { capability: reviewer }
  do:
    - shell: test "$(cat word.txt)" = wrong
    - ov: [done, --verdict, pass, --summary, "good enough", --branch, b1]
`,
  });
  await project.json("task", "create", "Write the word", "--id", "B");
  await project.json("sling", "B", "--name", "b1", "--files", "word.txt");
  await untilAgent(project, "b1", "completed/done");
  await project.json("task", "create", "Look at it", "--id", "R");
  const base = ["--base-branch", "overstory/b1/B"];
  await project.json("sling", "R", "--name", "r1", "--capability", "reviewer", "--force-hierarchy", ...base);
  await untilAgent(project, "r1", "completed/done");
  await project.settled();
  expect((await project.agent("r1")).releasedAt).not.toBeNull();
  expect((await project.agent("b1")).releasedAt).toBeNull();
  expect(await project.read((tx) => tx.tasks.get("R"))).toMatchObject({ status: "closed" });
  expect(await project.read((tx) => tx.tasks.get("B"))).toMatchObject({ status: "in_review" });
  // Nothing of the builder has landed, but nothing of the reviewer would be lost.
  expect(await project.json("clean", "--branches", "--dry-run")).toMatchObject({
    plan: { branches: ["overstory/r1/R"] },
    keptBranches: ["overstory/b1/B"],
  });
}, 120_000);
