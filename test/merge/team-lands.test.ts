import { expect, test } from "bun:test";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** A coordinator, a lead and two builders; the second task waits for the first to land. */
const team = `
- when: { capability: coordinator, turn: 1 }
  do:
    - ov: [task, create, The whole job, --id, L]
    - ov: [sling, L, --capability, lead, --name, lead1]
    - say: The lead works; I wait.
- when: { capability: coordinator }
  do:
    - shell: ov run complete || true
- when: { capability: lead, turn: 1 }
  do:
    - ov: [task, create, First file, --id, B1]
    - ov: [task, create, Second file, --id, B2]
    - ov: [task, dep, add, B2, B1]
    - ov: [sling, B1, --name, b1, --files, one.txt]
    - say: One builder builds; I wait.
- when: { capability: lead }
  do:
    - shell: |
        ready() { ov mail send --to coordinator --type merge_ready --subject "ready" --body "verified" --payload "{\\"branch\\":\\"$1\\"}"; }
        if [ -e "$HOME/b2.done" ] && mkdir "$HOME/told2" 2>/dev/null; then ready overstory/b2/B2
        elif [ -e "$HOME/told2" ]; then
          [ "$(ov task show B2 --json | grep -c '"status":"closed"')" = 1 ] &&
            ov done --summary "all landed"
        elif [ -e "$HOME/told1" ]; then
          [ "$(ov task show B1 --json | grep -c '"status":"closed"')" = 1 ] && mkdir "$HOME/second" 2>/dev/null &&
            ov sling B2 --name b2 --files two.txt
        elif [ -e "$HOME/b1.done" ] && mkdir "$HOME/told1" 2>/dev/null; then
          ov sling B2 --name early --files two.txt && touch "$HOME/early"
          ready overstory/b1/B1
        fi
        true
- when: { agent: b1 }
  do:
    - edit: { file: one.txt, write: "one\\n" }
    - commit: write one
    - touch: "\${env.HOME}/b1.done"
    - ov: [mail, send, --to, lead1, --type, worker_done, --subject, "Done: B1", --body, one.txt is there]
- when: { agent: b2 }
  do:
    - shell: cp one.txt two.txt
    - commit: write two from one
    - touch: "\${env.HOME}/b2.done"
    - ov: [mail, send, --to, lead1, --type, worker_done, --subject, "Done: B2", --body, two.txt is there]
`;

const runOf = (project: TestProject) => project.read(async (tx) => (await tx.runs.list(1))[0]);

test("a run lands its branches through the gates and completes unattended; the second task starts from the first's landing", async () => {
  await using project = await makeProject({
    scenario: team,
    gates: ["test ! -e broken.txt"],
  });
  const start = ["sling", "Do the whole job", "--capability", "coordinator", "--name", "coordinator"];
  await project.json(...start, "--force-hierarchy");
  await project.until("the run was complete", async () => (await runOf(project))?.status === "completed", 200_000);
  const landing = (await runOf(project))?.landingBranch ?? "";
  expect(landing).toStartWith("overstory/integration/");
  expect(await project.git("show", `${landing}:two.txt`)).toBe("one\n");
  const entries = await project.read((tx) => tx.merges.list({}));
  expect(entries.map(({ status, verdict, approval }) => [status, verdict, approval])).toEqual([
    ["merged", "verified", "parent"],
    ["merged", "verified", "parent"],
  ]);
  await project.settled();
  for (const name of ["b1", "b2", "lead1"]) expect((await project.agent(name)).releasedAt).not.toBeNull();
  expect(await project.git("status", "--porcelain", "--untracked-files=no")).toBe("");
  expect(await project.read((tx) => tx.agents.byName("early"))).toBeUndefined();
  const tasks = await project.read((tx) => tx.tasks.list({}));
  expect(tasks.filter(({ id }) => id.startsWith("B")).map(({ status }) => status)).toEqual(["closed", "closed"]);
}, 240_000);

test("without a gate a branch waits for one approval, which lands it", async () => {
  const alone = `
- when: { agent: b1 }
  do:
    - edit: { file: one.txt, write: "one\\n" }
    - commit: write one
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, "Done", --body, one.txt is there]
`;
  await using project = await makeProject({ scenario: alone });
  await project.json("task", "create", "First", "--id", "B1");
  await project.json("sling", "B1", "--name", "b1");
  await project.until("b1 was done", async () => (await project.agent("b1")).state === "completed");
  await project.json("merge", "add", "overstory/b1/B1");
  expect(await project.json("run")).toMatchObject({ run: { status: "needs operator" } });
  expect(await project.json("status")).toMatchObject({ needsOperator: true });
  await project.json("merge", "approve", "overstory/b1/B1");
  await project.until(
    "it had landed",
    async () => (await project.read((tx) => tx.merges.list({})))[0]?.status === "merged",
  );
  const [entry] = await project.read((tx) => tx.merges.list({}));
  expect(entry).toMatchObject({ verdict: "unverified", approval: "operator" });
  await project.until("b1 was released", async () => (await project.agent("b1")).releasedAt !== null);
}, 120_000);
