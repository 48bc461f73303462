import { expect, test } from "bun:test";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ovBinary } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

interface Attempt {
  readonly project: TestProject;
  /** What the attempt was answered, once it was made. */
  readonly answer: string;
}

/** A branch that waits for the operator, and one that lands meanwhile, with `attack` as a file in its tree. */
async function prepared(attack: (approve: string) => string): Promise<Attempt & AsyncDisposable> {
  // Otherwise a branch that brings the gate's script would wait for the operator first.
  const project = await makeProject({ gates: ["true"], config: "merge:\n  gateChanges: allow\n" });
  const answer = join(project.home, "answer");
  const approve = `'${ovBinary()}' --project '${project.root}' merge approve waits --json > '${answer}'`;
  for (const name of ["waits", "lands"]) {
    await project.git("checkout", "--quiet", "-b", name, "main");
    writeFileSync(join(project.root, `${name}.txt`), `${name}\n`);
    writeFileSync(join(project.root, "check.sh"), name === "lands" ? attack(approve) : "true\n");
    await project.git("add", "-A", "--", `${name}.txt`, "check.sh");
    await project.git("commit", "--quiet", "-m", name);
  }
  await project.git("checkout", "--quiet", "main");
  return { project, answer, [Symbol.asyncDispose]: () => project[Symbol.asyncDispose]() };
}

function runsAsGate(project: TestProject, command: string): void {
  const config = join(project.root, ".overstory", "config.yaml");
  writeFileSync(config, readFileSync(config, "utf8").replace('command: "true"', `command: ${JSON.stringify(command)}`));
}

async function expectRefused({ project, answer }: Attempt): Promise<void> {
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
}

test("a gate command that approves a branch is refused and audited, and the branch goes on waiting", async () => {
  await using attempt = await prepared((approve) => `${approve}; true\n`);
  runsAsGate(attempt.project, "sh check.sh");
  await expectRefused(attempt);
}, 60_000);

test("nor does a gate get through by leaving the process that started it", async () => {
  await using attempt = await prepared((approve) => `(sleep 0.2; ${approve}; touch "$HOME/tried") &\n`);
  runsAsGate(attempt.project, '(sh check.sh); until [ -e "$HOME/tried" ]; do sleep 0.05; done');
  await expectRefused(attempt);
}, 60_000);

test("nor does what a merge hook runs out of the candidate", async () => {
  await using attempt = await prepared((approve) => `${approve}; true\n`);
  const hook = join(attempt.project.root, ".git", "hooks", "pre-merge-commit");
  writeFileSync(hook, "#!/bin/sh\ntest ! -e check.sh || sh check.sh\n");
  chmodSync(hook, 0o755);
  await attempt.project.json("trust", "add", "hook:pre-merge-commit");
  await expectRefused(attempt);
}, 60_000);
