import { expect, test } from "bun:test";
import { promptsOf, untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** The builder writes the wrong word until somebody tells it; reviewers look at the word on its branch. */
const scenario = `
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
- when: { capability: reviewer }
  do:
    - shell: |
        if [ "$(git show overstory/b1/B:word.txt)" = right ]; then
          ov done --verdict pass --summary "the word is right" --branch b1
        else
          ov done --verdict fail --summary "not that word" --branch b1 --findings "word.txt:1: say right"
        fi
`;

const review = async (project: TestProject, name: string): Promise<void> => {
  await project.json("task", "create", `Review by ${name}`, "--id", name.toUpperCase());
  await project.json("sling", name.toUpperCase(), "--name", name, "--capability", "reviewer", "--force-hierarchy");
  await untilAgent(project, name, "completed/done");
};

test("a branch that fails its review comes back mended on the same branch and in the same conversation, passes and lands", async () => {
  await using project = await makeProject({ scenario, gates: ["test -e word.txt || test ! -e broken"] });
  await project.json("task", "create", "Write the word", "--id", "B");
  await project.json("sling", "B", "--name", "b1", "--files", "word.txt");
  await untilAgent(project, "b1", "completed/done");
  const first = await project.agent("b1");
  await review(project, "r1");
  await project.until("it was mended", async () => {
    const { generation, state } = await project.agent("b1");
    return generation === 2 && state === "completed";
  });
  await review(project, "r2");
  const second = await project.agent("b1");
  expect(second).toMatchObject({
    branch: first.branch,
    worktreePath: first.worktreePath,
    providerSessionId: first.providerSessionId,
    releasedAt: null,
  });
  expect(promptsOf(project, "b1")[1]).toContain("| not that word");
  const reviews = await project.read((tx) => tx.messages.list({ type: "review" }));
  const verdicts = reviews.map(({ payload }) => JSON.parse(payload ?? "{}").verdict);
  expect(verdicts.toSorted()).toEqual(["fail", "pass"]);
  expect(await project.json("merge", "--branch", "overstory/b1/B")).toMatchObject({ success: true });
  await project.settled();
  expect(await project.agent("b1")).toMatchObject({ state: "completed", outcome: "done", generation: 2 });
  expect((await project.agent("b1")).releasedAt).not.toBeNull();
  const [entry] = await project.read((tx) => tx.merges.list({}));
  expect(entry).toMatchObject({ status: "merged", verdict: "verified", headCommit: second.headCommit });
  expect(await project.git("show", `${entry?.targetBranch}:word.txt`)).toBe("right\n");
  expect(await project.read((tx) => tx.tasks.get("B"))).toMatchObject({ status: "closed", mergeState: "merged" });
}, 60_000);
