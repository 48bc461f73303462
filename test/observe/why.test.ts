import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { slingNew, untilAgent } from "../../testkit/lifecycle.ts";
import { jsonOf } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

const odd = "src/a b:7";

const scenario = `
- do:
    - shell: "mkdir -p src; printf 'one\\nthe agent wrote this\\nthree\\n' > src/lib.txt; printf 'odd\\n' > 'src/a b:7'; printf 'x\\n' > -n"
    - commit: "agent: write the library"
    - ov: [done, --summary, The library is there]
`;

type Shown = Record<string, unknown>;
const partsOf = ({ parts }: Shown): readonly Shown[] => parts as readonly Shown[];
const patienceMs = 150_000;

async function landedProject(): Promise<TestProject> {
  const project = await makeProject({
    scenario,
    gates: ["test -e README.md"],
    files: { "README.md": "# Sample\n", "src/lib.txt": "one\ntwo\nthree\n" },
  });
  await slingNew(project, "B1");
  const outcome = async () => (await project.read((tx) => tx.agents.byName("b1")))?.outcome;
  await project.until("the agent had finished", async () => (await outcome()) === "done", patienceMs);
  await project.json("merge", "--branch", "overstory/b1/B1");
  const status = async () => (await project.read((tx) => tx.merges.list({})))[0]?.status;
  await project.until("its branch had landed", async () => (await status()) === "merged", patienceMs);
  return project;
}

test("why names commit, agent, task, mail, turn and evidence of a landed line, and persons for theirs", async () => {
  await using project = await landedProject();
  const why = async (...words: string[]) => project.json("why", ...words);
  const isAgents = {
    by: "agent",
    commit: { subject: "agent: write the library" },
    landing: {
      agent: { name: "b1", capability: "builder" },
      task: { id: "B1", title: "Task B1" },
      turn: { trigger: "mail" },
      entry: { taskId: "B1", status: "merged" },
    },
  };

  // Before the promotion the checkout has the older file, and the landing branch the new ones.
  expect(partsOf(await why("src/lib.txt:2"))).toMatchObject([{ by: "person", landing: null, text: "two" }]);
  const landing = (await project.read((tx) => tx.runs.list(1)))[0]?.landingBranch ?? "";
  const onLanding = await why("src/lib.txt", "--branch", landing);
  expect(onLanding).toMatchObject({ branch: landing, count: 3, isChanged: false });
  expect(partsOf(onLanding)).toMatchObject([
    { from: 1, to: 1, by: "person" },
    { from: 2, to: 2, text: "the agent wrote this", ...isAgents },
    { from: 3, to: 3, by: "person" },
  ]);
  const [line] = partsOf(await why("src/lib.txt:2", "--branch", landing));
  const story = line?.landing as Shown;
  const { id } = await project.agent("b1");
  const turns = await project.read((tx) => tx.turns.listFor(id));
  expect(story.turn).toMatchObject({ id: turns[0]?.id });
  const mail = (story.messages as Shown[]).map(({ type, from, to }) => [type, from, to]);
  expect(mail).toContainEqual(["dispatch", "operator", "b1"]);
  expect(mail).toContainEqual(["worker_done", "b1", "operator"]);
  const evidence = (story.evidence as Shown[]).map(({ verdict, results }) => [
    verdict,
    (results as Shown[]).map(({ gate, status }) => [gate, status]),
  ]);
  expect(evidence).toContainEqual(["verified", [["gate-1", "passed"]]]);
  // A file that only the landing branch has is found there. Its name ends like a line number.
  expect(await why(odd)).toMatchObject({ path: odd, branch: landing, parts: [isAgents] });
  await project.json("run", "complete", "--force");
  expect(await why(odd)).toMatchObject({ path: odd, branch: landing, parts: [isAgents] });
  expect(await why(`${odd}:1`)).toMatchObject({ path: odd, parts: [{ from: 1, to: 1 }] });

  await project.json("merge", "promote");
  const promoted = async () => (await project.git("ls-tree", "--name-only", "HEAD", "src/")).includes("a b:7");
  await project.until("the checkout had it", promoted, patienceMs);
  expect(partsOf(await why("src/lib.txt:2"))).toMatchObject([{ from: 2, ...isAgents }]);
  const text = (await project.ov("why", "src/lib.txt:2")).out;
  for (const words of [
    "the agent wrote this",
    "agent b1",
    "task B1: Task B1",
    "mail dispatch operator to b1",
    "verified (gate-1 passed)",
    `ov logs b1 --turn ${turns[0]?.id}`,
  ]) {
    expect(text).toContain(words);
  }

  // From a subdirectory, after a commit and a merge of the user, and with changes that are in no commit.
  mkdirSync(join(project.root, "src/deep"));
  writeFileSync(join(project.root, "src/lib.txt"), "zero\none\nthe agent wrote this\nthree\n");
  const changed = jsonOf(await project.ovWith({ cwd: join(project.root, "src/deep") }, "why", "../lib.txt", "--json"));
  expect(changed).toMatchObject({ path: "src/lib.txt", isChanged: true });
  expect(partsOf(changed).map(({ from, to, by }) => [from, to, by])).toEqual([
    [1, 1, "uncommitted"],
    [2, 2, "person"],
    [3, 3, "agent"],
    [4, 4, "person"],
  ]);
  await project.git("commit", "--quiet", "-am", "mine\n\nOverstory-Agent: b1\nOverstory-Queue-Id: 1");
  // A trailer in a message is no proof.
  expect(partsOf(await why("src/lib.txt:1"))).toMatchObject([{ by: "person", landing: null }]);
  await project.git("checkout", "--quiet", "-b", "side", "HEAD~1");
  await project.git("commit", "--quiet", "--allow-empty", "-m", "side");
  await project.git("merge", "--quiet", "--no-edit", "main");
  expect(partsOf(await why("src/lib.txt:3"))).toMatchObject([{ by: "agent" }]);

  expect(partsOf(await why("src/lib.txt", "--limit", "1"))).toHaveLength(1);
  for (const [wrong, said] of [
    ["src/lib.txt:99", "has only 4 lines"],
    ["src/lib.txt:0", "must be a line"],
    ["nothing.txt", "is in no commit"],
    ["src", "is a directory"],
    ["/etc/passwd", "is not in this repository"],
  ] as const) {
    const { code, err } = await project.ov("why", wrong);
    expect([wrong, code, err.includes(said)]).toEqual([wrong, 2, true]);
  }
  expect(await project.json("why", "./-n")).toMatchObject({ path: "-n", parts: [{ by: "agent" }] });
}, 400_000);

test("a commit that landed nowhere is of the agent that made it, and of a person where no turn ran", async () => {
  await using project = await makeProject({
    scenario: `
- do:
    - edit: { file: draft.txt, write: "a draft\\n" }
    - commit: "agent: a draft"
    - ov: [mail, send, --to, operator, --type, question, --subject, "Which?", --body, "?", --expects-reply]
`,
  });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "between_turns");
  const branch = "overstory/b1/B1";
  const why = async (...words: string[]): Promise<unknown> => partsOf(await project.json("why", ...words))[0];
  expect(await why("draft.txt", "--branch", branch)).toMatchObject({
    by: "agent",
    landing: null,
    unlanded: { branch, agent: { name: "b1" }, task: { id: "B1" }, turn: { trigger: "mail" } },
  });
  expect(await why("README.md", "--branch", branch)).toMatchObject({ by: "person", landing: null, unlanded: null });
  const said = (await project.ov("why", "draft.txt", "--branch", branch)).out;
  for (const words of ["agent b1", `not landed: on ${branch}`, "ov logs b1 --turn"]) expect(said).toContain(words);

  // A person took the branch over by hand: who wrote the line stays known.
  await project.git("merge", "--quiet", "--no-ff", "--no-edit", branch);
  expect(await why("draft.txt")).toMatchObject({ by: "agent", unlanded: { branch } });
  // What a person commits in the worktree of an agent at rest is the person's.
  const { worktreePath } = await project.agent("b1");
  writeFileSync(join(worktreePath ?? "", "mine.txt"), "mine\n");
  await project.git("-C", worktreePath ?? "", "add", "mine.txt");
  const later = { GIT_COMMITTER_DATE: new Date(Date.now() + 60_000).toISOString() };
  const commit = Bun.spawnSync(["git", "-C", worktreePath ?? "", "commit", "-qm", "mine"], {
    env: { ...project.env, ...later },
  });
  expect(commit.exitCode).toBe(0);
  expect(await why("mine.txt", "--branch", branch)).toMatchObject({ by: "person", unlanded: null });
}, 200_000);

test("a file that a filter writes in other words is no change of the user's: its lines have their commits", async () => {
  await using project = await makeProject({
    files: { ".gitattributes": "*.rot filter=rot\n*.big filter=big\n", "README.md": "# Sample\n" },
  });
  const rot = "tr a-zA-Z n-za-mN-ZA-M";
  const filters = { rot: { clean: rot, smudge: rot }, big: { clean: "wc -l", smudge: "seq" } };
  for (const [name, programs] of Object.entries(filters)) {
    for (const [key, program] of Object.entries(programs)) {
      await project.git("config", "--global", `filter.${name}.${key}`, program);
    }
  }
  writeFileSync(join(project.root, "a.rot"), "hello\nworld\n");
  writeFileSync(join(project.root, "b.big"), "1\n2\n3\n");
  await project.git("add", "-A");
  await project.git("commit", "--quiet", "-m", "filtered");
  const why = async (file: string) => project.json("why", file);
  const committed = { by: "person", commit: { subject: "filtered" } };
  expect(await why("a.rot")).toMatchObject({
    isChanged: false,
    parts: [{ from: 1, to: 2, text: "hello", ...committed }],
  });
  // The stored file has one line; those of the checkout have no commits of their own.
  expect(await why("b.big")).toMatchObject({ isChanged: false, parts: [{ from: 1, to: 1, ...committed }] });
  writeFileSync(join(project.root, "a.rot"), "hello\nmoon\n");
  expect(await why("a.rot")).toMatchObject({ isChanged: true });
}, 100_000);

test("lines of the commit where a shallow clone ends are of nobody known; a submodule is named as one", async () => {
  await using project = await makeProject({ files: { "old.txt": "old\n" } });
  const { root, git } = project;
  await git("commit", "--quiet", "--allow-empty", "-m", "newest");
  const head = (await git("rev-parse", "HEAD")).trim();
  writeFileSync(join(root, ".git", "shallow"), `${head}\n`);
  const told = (await project.ov("why", "old.txt")).out;
  expect(told).toContain("this clone is shallow and ends here: who wrote it is not known");
  expect(told).not.toContain("a commit of a person");
  expect(await project.json("why", "old.txt")).toMatchObject({ parts: [{ by: "unknown" }] });
  await git("update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},library`);
  await git("commit", "--quiet", "-m", "a submodule");
  expect((await project.ov("why", "library")).err).toContain("is a submodule, with a history of its own");
});
