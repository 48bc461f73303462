import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { slingNew, untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

test("L1: a lead finishes only when no part of its task is left unstarted, and starts nobody after that", async () => {
  const finish = 'ov done --no-code --reason "it is there" --summary Nothing';
  await using project = await makeProject({
    scenario: `
- when: { agent: l1 }
  do:
    - ov: [task, create, The rest, --id, C]
    - ov: [task, create, Another, --id, D, --parent, ""]
    - { shell: '${finish} >"$HOME/first" 2>&1', expect: 5 }
    - ov: [task, drop, C, --reason, not needed]
    - { shell: '${finish} >"$HOME/second" 2>&1' }
    - { shell: 'ov sling D >"$HOME/after" 2>&1', allowFail: true }
`,
  });
  await slingNew(project, "L1", "--capability", "lead");
  await untilAgent(project, "l1", "completed/done");
  const said = (name: string) => readFileSync(join(project.home, name), "utf8");
  expect(said("first")).toContain("task C, a part of yours, is open, and no agent works on it: The rest");
  expect(said("first")).toContain('ov sling C, or give it up: ov task drop C --reason "<why>"');
  expect(said("second")).toContain("accepted and reported");
  expect(said("after")).toContain("it has finished");
  expect((await project.read((tx) => tx.agents.list({}))).map(({ name }) => name)).toEqual(["l1"]);
}, 120_000);
