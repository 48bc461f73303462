import { expect, test } from "bun:test";
import { promptsOf } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

const scenario = `
- when: { capability: lead, turn: 1 }
  do:
    - ov: [task, create, The file, --id, B1]
    - ov: [sling, B1, --name, b1, --files, one.txt]
    - say: One builder builds; I wait.
- when: { capability: lead }
  do:
    - ov: [mail, send, --to, operator, --type, merge_ready, --subject, ready, --body, "read it, turn \${turn}", --payload, '{"branch":"overstory/b1/B1"}']
- when: { agent: b1 }
  do:
    - shell: echo "turn \${turn}" >>one.txt; git add -A; git commit -qm work
    - ov: [done, --summary, "turn \${turn}"]
`;

const entriesOf = (project: TestProject) => project.read((tx) => tx.merges.list({}));

test("L13: what did not land comes back to one agent, and both are told who hands it over again", async () => {
  await using project = await makeProject({ scenario });
  await project.json("task", "create", "The whole job", "--id", "L");
  await project.json("sling", "L", "--capability", "lead", "--name", "lead1");
  await project.until("the branch waited for approval", async () => (await entriesOf(project)).length === 1);
  await project.json("merge", "reject", "overstory/b1/B1", "--reason", "say more in it");
  await project.until("it was handed over again", async () => (await entriesOf(project)).length === 2);
  const acts =
    "Who acts: b1 is at work on it and finishes again; then lead1 hands the branch over again with merge_ready";
  expect(promptsOf(project, "b1")[1]).toContain(acts);
  // The builder acts: what went wrong starts no turn of the lead, and is there when the builder has finished again.
  const [, first, second, ...more] = promptsOf(project, "lead1");
  expect(more).toEqual([]);
  expect(first).toContain("turn 1");
  expect(first).not.toContain("Who acts");
  for (const words of [acts, "say more in it", "turn 2"]) expect(second).toContain(words);
}, 120_000);
