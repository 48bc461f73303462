import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { letGo, untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

/** Each builder writes a file of its own, and a line at the same place of the changelog. */
const scenario = `
- when: { capability: builder }
  do:
    - waitFor: { file: "\${env.HOME}/go" }
    - shell: echo "$OVERSTORY_AGENT_NAME" >"$OVERSTORY_AGENT_NAME.txt"; echo "- added by $OVERSTORY_AGENT_NAME" >>CHANGELOG.md
    - shell: git add -A; git commit -qm "add $OVERSTORY_AGENT_NAME"
    - ov: [done, --summary, added]
`;

test("L10: tasks that share a changelog run side by side, and what each wrote there lands", async () => {
  await using project = await makeProject({ scenario, gates: ["true"] });
  writeFileSync(join(project.root, "CHANGELOG.md"), "# Changelog\n\n## Unreleased\n\n- begun\n");
  await project.git("add", "CHANGELOG.md");
  await project.git("commit", "--quiet", "-m", "a changelog");
  await project.json("task", "create", "One", "--id", "T1", "--files", "b1.txt", "--shares", "CHANGELOG.md");
  await project.json("task", "create", "Two", "--id", "T2", "--files", "b2.txt");
  const changed = await project.json("task", "update", "T2", "--shares", "CHANGELOG.md");
  expect(changed).toMatchObject({ task: { files: ["b2.txt"], shares: ["CHANGELOG.md"] } });
  await project.json("task", "create", "Three", "--id", "T3");
  await project.json("sling", "T1", "--name", "b1");
  await project.json("sling", "T2", "--name", "b2");
  const third = ["sling", "T3", "--name", "b3", "--files"] as const;
  const owns = await project.ov(...third, "b3.txt,CHANGELOG.md");
  expect(owns.code).not.toBe(0);
  expect(owns.err).toContain('"b1" shares CHANGELOG.md');
  expect(owns.err).toContain('share them too: ov sling <task> --shares "CHANGELOG.md"');
  await project.json(...third, "b3.txt", "--shares", "CHANGELOG.md");
  await letGo(project);
  for (const name of ["b1", "b2", "b3"]) await untilAgent(project, name, "completed/done");
  for (const branch of ["overstory/b1/T1", "overstory/b2/T2", "overstory/b3/T3"]) {
    expect(await project.json("merge", "--branch", branch)).toMatchObject({ success: true });
  }
  const [entry] = await project.read((tx) => tx.merges.list({}));
  const landed = await project.git("show", `${entry?.targetBranch}:CHANGELOG.md`);
  expect(landed.trim().split("\n").slice(4).toSorted()).toEqual([
    "- added by b1",
    "- added by b2",
    "- added by b3",
    "- begun",
  ]);
}, 120_000);
