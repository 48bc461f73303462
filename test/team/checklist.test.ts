import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/**
 * The objective has three parts, and no task suggests the third, the changelog. The coordinator tries to prove and to end
 * in each turn; `$HOME/tries` has what it was told.
 */
const scenario = `
- when: { capability: coordinator, turn: 1 }
  do:
    - shell: ov run criteria add "one.txt says one" "a test names two" "the changelog says so"
    - shell: ov task create "First" --id T1 --criteria 1 >>"$HOME/planned" 2>&1
    - shell: ov task create "Second" --id T2 --criteria 2 >>"$HOME/planned" 2>&1
    - ov: [sling, T1, --name, b1, --files, one.txt]
    - ov: [sling, T2, --name, b2, --files, two.test.txt]
- when: { capability: coordinator, input: worker_done }
  do:
    - shell: |
        tell() { ov mail send --to operator --type merge_ready --subject "$1" --body read --payload "{\\"branch\\":\\"$1\\"}"; }
        [ -e "$HOME/T1.done" ] && mkdir "$HOME/T1.told" 2>/dev/null && tell overstory/b1/T1
        [ -e "$HOME/T2.done" ] && mkdir "$HOME/T2.told" 2>/dev/null && tell overstory/b2/T2
        true
- when: { capability: coordinator }
  do:
    - shell: |
        ov run criteria prove 1 --file one.txt >>"$HOME/tries" 2>&1
        ov run criteria prove 2 --test "two.test.txt:no such name" >>"$HOME/tries" 2>&1
        ov run criteria prove 2 --test "two.test.txt:says two" >>"$HOME/tries" 2>&1
        ov run criteria prove 3 --file CHANGELOG.md >>"$HOME/tries" 2>&1
        ov run complete >>"$HOME/tries" 2>&1
        ov coordinator check-complete >"$HOME/checked" 2>&1
        true
- when: { agent: b1 }
  do:
    - edit: { file: one.txt, write: "one\\n" }
    - commit: write one
    - ov: [done, --summary, one.txt is there]
    - touch: "\${env.HOME}/T1.done"
- when: { agent: b2 }
  do:
    - edit: { file: two.test.txt, write: "it says two\\n" }
    - commit: write two
    - ov: [done, --summary, two.test.txt is there]
    - touch: "\${env.HOME}/T2.done"
`;

const runOf = (project: TestProject) => project.read(async (tx) => (await tx.runs.list(1))[0]);

test("L2: a criterion that no task suggests is said at planning time and keeps the run from ending", async () => {
  await using project = await makeProject({ scenario, gates: ["test ! -e broken.txt"] });
  const objective = "Say one and two, and say so in the changelog";
  await project.json("coordinator", "start", "--objective", objective);
  const tried = () => readFileSync(join(project.home, "tries"), "utf8");
  await project.until("it tried to end the run with all landed", async () => {
    const tasks = await project.read((tx) => tx.tasks.list({ unclosed: true }));
    const criteria = await project.read(async (tx) => tx.criteria.of((await tx.runs.list(1))[0]?.id ?? ""));
    return tasks.length === 0 && criteria.length === 3 && criteria[1]?.proofKind === "test";
  });
  await project.settled();

  const planned = readFileSync(join(project.home, "planned"), "utf8");
  expect(planned).toContain("No task serves yet: criterion 2 (a test names two), 3 (the changelog says so)");
  expect(planned.trimEnd()).toContain("No task serves yet: criterion 3 (the changelog says so)");
  expect(tried()).toContain('does not name "no such name"');
  expect(tried()).toContain("CHANGELOG.md");
  expect(tried()).toContain("criterion 3 has no proof: the changelog says so");
  expect(tried()).toContain("ov run criteria prove 3 --file <path>");
  expect((await runOf(project))?.status).toBe("active");

  const instructions = await project.ov("prompt", "show", "--agent", "b1");
  expect(instructions.out).toContain(`objective: ${objective}`);
  expect(instructions.out).toContain("criterion 1: one.txt says one");
  expect(instructions.out).not.toContain("criterion 2:");

  // L3: facts for the coordinator, nothing about settings that it may not change.
  const checked = readFileSync(join(project.home, "checked"), "utf8");
  expect(checked).toContain("is not ready to end:");
  expect(checked).toContain("criterion 3 has no proof: the changelog says so");
  expect(checked).not.toContain("trigger");
  expect(checked).not.toContain("ov config");

  const status = await project.ov("status");
  expect(status.out).toContain("1. one.txt says one (file one.txt; T1)");
  expect(status.out).toContain("3. the changelog says so");
  const shown = await project.json("run", "show");
  expect(shown.run).toMatchObject({
    criteria: [
      { number: 1, status: "proved", tasks: ["T1"], proof: { kind: "file", path: "one.txt", by: "coordinator" } },
      { number: 2, status: "proved", tasks: ["T2"], proof: { kind: "test", test: "says two" } },
      { number: 3, status: "open", tasks: [], proof: null, waived: null },
    ],
  });

  const refused = await project.ov("run", "complete");
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("criterion 3 has no proof")]);
  expect((await project.ov("run", "complete", "--waive", "3")).code).toBe(2);
  expect((await project.ov("run", "criteria", "waive", "9", "--reason", "r")).code).toBe(7);
  await project.json("run", "criteria", "waive", "3", "--reason", "by mistake");
  const back = await project.json("run", "criteria", "unwaive", "3");
  expect(back.criteria).toMatchObject([{}, {}, { status: "open", waived: null }]);
  await project.json("run", "complete", "--waive", "3", "--reason", "comes with the release");
  expect((await project.json("run", "criteria")).criteria).toMatchObject([
    { status: "proved" },
    { status: "proved" },
    { status: "waived", waived: { by: "operator", reason: "comes with the release" } },
  ]);
  expect((await runOf(project))?.status).toBe("completed");
}, 240_000);

test("evidence counts on the landed tree alone, and is looked for again when the run ends", async () => {
  await using project = await makeProject({ scenario: "- do: [{ say: I wait. }]\n" });
  await project.json("coordinator", "start", "--objective", "Have a file");
  const prove = (...words: string[]) => project.ov("run", "criteria", "prove", "1", ...words);
  const head = (await project.git("rev-parse", "HEAD")).trim();
  for (const [words, says] of [
    [["--file", "new.txt"], "does not exist on"],
    [["--file", "../outside"], "inside the project"],
    [["--commit", "0123456789abcdef"], "is no commit of this repository"],
    [["--file", "README.md", "--commit", head], "one of --file, --test and --commit"],
    [["--commit", head], "was there before this run began"],
    [["--test", "README.md"], "must be <path>:<name>"],
  ] as const) {
    const refused = await prove(...words);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining(says)]);
  }
  const old = await prove("--file", "README.md");
  expect([old.code, old.out]).toEqual([0, expect.stringContaining("was there before this run and is unchanged")]);
  expect((await project.ov("status")).out).toContain(
    "✓ 1. Have a file (file README.md, unchanged since before this run)",
  );
  const { landing } = await project.json("run", "criteria");
  await project.git("rm", "--quiet", "README.md");
  await project.git("commit", "--quiet", "-m", "Without it");
  expect((await project.git("rev-parse", `refs/heads/${landing}`)).trim()).not.toBe(head);
  const refused = await project.ov("run", "complete");
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("file README.md does not exist on")]);
  const named = (await runOf(project))?.id ?? "";
  expect(await project.json("run", "complete", "--force", "--run", named)).toMatchObject({ runId: named });
}, 120_000);

test("a proof that is taken out of the landing branch counts no more, wherever the checklist is shown", async () => {
  const builder = `
- when: { agent: b1 }
  do:
    - edit: { file: one.txt, write: "one\\n" }
    - commit: write one
    - ov: [done, --summary, one.txt is there]
- do: [{ say: I wait. }]
`;
  await using project = await makeProject({ scenario: builder, gates: ["true"] });
  await project.json("coordinator", "start", "--objective", "Have a file");
  await project.json("sling", "T1", "--title", "First", "--name", "b1", "--files", "one.txt", "--wait=done");
  await project.json("merge", "--branch", "overstory/b1/T1");
  const landed = (await project.git("rev-parse", "overstory/b1/T1")).trim();
  await project.json("run", "criteria", "prove", "1", "--commit", landed);
  await project.json("run", "criteria", "prove", "1", "--file", "one.txt");
  const first = (await project.json("run", "criteria")).criteria;
  expect(first).toMatchObject([{ status: "proved", proof: { path: "one.txt", unchanged: false, lost: null } }]);
  await project.ov("merge", "undo", "1", "--yes");
  await project.until("the engine has looked again", async () => {
    const { criteria } = (await project.json("run", "criteria")) as { criteria: { status: string }[] };
    return criteria[0]?.status === "open";
  });
  const gone = "file one.txt does not exist on";
  expect((await project.ov("status")).out).toContain(`! 1. Have a file (${gone}`);
  expect((await project.ov("coordinator", "check-complete")).out).toContain(gone);
  expect((await project.ov("run", "complete")).err).toContain(gone);
}, 180_000);
