import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { slingNew, untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

const scenario = `
- when: { capability: lead }
  do:
    - ov: [task, create, Build, --id, B1]
    - shell: OVERSTORY__AGENTS__MAXSESSIONSPERRUN=50 ov sling B1 --name b1; echo $? > "$HOME/code"
    - ov: [task, drop, B1, --reason, no builder may start]
    - ov: [done, --no-code, --reason, no builder may start, --summary, tried]
`;

test("an agent cannot lift a limit by settings in its environment", async () => {
  await using project = await makeProject({ scenario, config: "agents:\n  maxSessionsPerRun: 1\n" });
  await slingNew(project, "L1", "--capability", "lead");
  await untilAgent(project, "l1", "completed/done");
  expect(readFileSync(join(project.home, "code"), "utf8").trim()).not.toBe("0");
  expect(await project.read((tx) => tx.agents.byName("b1"))).toBeUndefined();
}, 60_000);
