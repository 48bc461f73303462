import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ovBinary } from "../../testkit/ov.ts";
import { makeProject } from "../../testkit/project.ts";

test("a gate command that approves a branch is refused and audited, and the branch goes on waiting", async () => {
  await using project = await makeProject({ gates: ["true"] });
  const answer = join(project.home, "answer");
  for (const name of ["waits", "lands"]) {
    await project.git("checkout", "--quiet", "-b", name, "main");
    writeFileSync(join(project.root, `${name}.txt`), `${name}\n`);
    await project.git("add", "-A", "--", `${name}.txt`);
    await project.git("commit", "--quiet", "-m", name);
  }
  await project.git("checkout", "--quiet", "main");
  const config = join(project.root, ".overstory", "config.yaml");
  const attack = `'${ovBinary()}' --project '${project.root}' merge approve waits --json > '${answer}'; true`;
  writeFileSync(config, readFileSync(config, "utf8").replace('command: "true"', `command: ${JSON.stringify(attack)}`));
  await project.json("merge", "add", "waits", "--into", "main");
  await project.json("merge", "add", "lands", "--into", "main");
  await project.json("merge", "approve", "lands");
  await project.until("it had landed", async () => {
    const [, lands] = await project.read((tx) => tx.merges.list({}));
    return lands?.status === "merged";
  });
  expect(existsSync(answer)).toBe(true);
  expect(JSON.parse(readFileSync(answer, "utf8"))).toMatchObject({ success: false, exitCode: 8 });
  const [waits] = await project.read((tx) => tx.merges.list({}));
  expect(waits).toMatchObject({ branch: "waits", status: "pending", approval: "waiting" });
  const refused = (await project.read((tx) => tx.audit.list(50))).filter(({ refused: no }) => no);
  expect(refused.map(({ action }) => action)).toContain("merge.approve");
}, 60_000);
