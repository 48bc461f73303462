import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promptsOf } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

/** The coordinator has CSV built, and obeys when the operator changes his mind. */
const scenario = `
- when: { capability: coordinator, turn: 1 }
  do:
    - shell: ov run criteria add "rows.csv is read" "the README names it"
    - shell: ov task create "Read CSV" --id T1 --criteria 1
    - shell: ov task create "Test CSV" --id T2 --blocked-by T1
    - ov: [sling, T1, --name, b1, --files, csv.txt]
    - shell: ov run criteria amend 1 "anything" >"$HOME/early" 2>&1; true
- when: { capability: coordinator, input: "objective changed" }
  do:
    - shell: ov run criteria amend 2 "the README names rows.json" >"$HOME/amended" 2>&1
    - shell: ov task drop T1 --reason "CSV is not wanted" --with-dependents >"$HOME/dropped" 2>&1
- when: { capability: coordinator }
  do: [{ say: I wait. }]
- when: { agent: b1 }
  do:
    - edit: { file: csv.txt, write: "half\\n" }
    - commit: begin
    - touch: "\${env.HOME}/works"
    - hang: true
`;

test("L11: a change of mind is one command; the coordinator is told once, and drops what is not wanted in one step", async () => {
  await using project = await makeProject({ scenario });
  const said = (file: string) => readFileSync(join(project.home, file), "utf8");
  await project.json("coordinator", "start", "--objective", "Read CSV");
  await project.until("the builder works", async () => existsSync(join(project.home, "works")));
  await project.until("the coordinator planned", async () => existsSync(join(project.home, "early")));
  expect(said("early")).toContain("only after the operator changed the objective");

  const changed = await project.json("run", "change", "JSON instead of CSV", "--waive", "1");
  expect(changed).toMatchObject({ changed: true, criterion: 3, told: "coordinator" });
  await project.until("b1 was let go", async () => (await project.agent("b1")).releasedAt !== null);
  await project.settled();
  expect(said("amended")).toContain("the README names rows.json");
  expect(said("dropped")).toContain("T2");
  expect(await project.json("run", "change", "JSON instead of CSV")).toMatchObject({ changed: false, told: null });
  await project.settled();

  const { tasks, deaths } = await project.read(async (tx) => ({
    tasks: (await tx.tasks.list({})).map((task) => [task.id, task.status, task.mergeState, task.claimedBy]),
    deaths: await tx.messages.list({ type: "worker_died" }),
  }));
  expect(tasks.toSorted()).toEqual([
    ["T1", "closed", "abandoned", null],
    ["T2", "closed", "abandoned", null],
  ]);
  expect(deaths).toEqual([]);
  expect(await project.git("show", "overstory/b1/T1:csv.txt")).toBe("half\n");
  const told = promptsOf(project, "coordinator").filter((prompt) => prompt.includes("objective changed"));
  expect(told).toHaveLength(1);

  const prompt = (await project.ov("prompt", "show", "--agent", "coordinator")).out;
  expect(prompt).toContain("Read CSV [change 1: JSON instead of CSV]");
  expect(prompt).toContain("criterion 2: the README names rows.json");
  expect(prompt).not.toContain("criterion 1:");
  const shown = await project.json("run", "show");
  expect(shown.run).toMatchObject({
    objective: "Read CSV [change 1: JSON instead of CSV]",
    changes: [
      { number: 1, criterion: null, words: "JSON instead of CSV", wordsBefore: "Read CSV", changedBy: "operator" },
      { number: 2, criterion: 2, words: "the README names rows.json", wordsBefore: "the README names it" },
    ],
  });

  const refused = await project.ov("run", "complete");
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("criterion 3 has no proof")]);
  await project.json("run", "complete", "--waive", "2,3", "--reason", "enough of it");
}, 180_000);
