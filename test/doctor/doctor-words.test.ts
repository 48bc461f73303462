import { expect, test } from "bun:test";
import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { jsonOf } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";
import { freePort } from "../../testkit/web.ts";

/** What `ov doctor` says, and whether what it tells people to type does what it says. */

interface Shown {
  readonly id: string;
  readonly status: string;
  readonly message: string;
  readonly next: string | null;
}

const checksOf = (answer: { out: string; err: string; code: number }): readonly Shown[] =>
  jsonOf(answer).checks as readonly Shown[];

/** A file for its owner alone that was written so many hours ago. */
async function writeOld(path: string, hours: number): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, "{}", { mode: 0o600 });
  const then = new Date(Date.now() - hours * 3_600_000);
  utimesSync(path, then, then);
}

const asks = `
- do:
    - ov: [mail, send, --to, operator, --type, question, --subject, q, --body, "which?"]
`;

const waiting = async (): Promise<TestProject> => {
  const project = await makeProject({ scenario: asks });
  await project.json("sling", "Work", "--name", "waits", "--skip-task-check");
  await project.settled();
  return project;
};

test("several files of variables are findings of their own, and each is mended by its own id", async () => {
  await using project = await makeProject();
  await project.json("task", "create", "one");
  const files = ["env-a.json", "env-b.json"].map((name) => statePath(project.root, "run", "env", name));
  for (const path of files) await writeOld(path, 26);
  const found = checksOf(await project.ov("doctor", "--category", "security", "--json")).filter(({ id }) =>
    id.startsWith("variables-without-agent"),
  );
  expect(found.map(({ id }) => id)).toEqual([
    "variables-without-agent:env-a.json",
    "variables-without-agent:env-b.json",
  ]);
  const one = await project.ov("doctor", "--fix", "variables-without-agent:env-a.json", "--yes");
  expect([one.code, ...files.map((path) => existsSync(path))]).toEqual([0, false, true]);
  expect(one.out.match(/deleted /g)).toHaveLength(1);
}, 60_000);

test("variables that the engine still keeps are no finding, and a running engine is not said to start", async () => {
  await using project = await makeProject();
  await project.json("serve", "--detach", "--port", String(await freePort()));
  const young = statePath(project.root, "run", "env", "env-young.json");
  const old = statePath(project.root, "run", "env", "env-old.json");
  await writeOld(young, 2);
  let looked = await project.ov("doctor", "--category", "security");
  await project.until("the engine had had its look of the start", async () => {
    await writeOld(old, 26);
    looked = await project.ov("doctor", "--category", "security");
    return looked.out.includes("env-old.json");
  });
  expect(looked.out).not.toContain("env-young.json");
  expect(looked.out).toContain("the engine does this by itself, within an hour");
  expect(looked.out).not.toContain("when it starts");
}, 60_000);

test("what a live engine owns is printed with the command that mends it, and typing that line works", async () => {
  await using project = await waiting();
  await project.json("serve", "--detach", "--port", String(await freePort()));
  rmSync(join(project.root, ".overstory", "worktrees"), { recursive: true });
  const looked = await project.ov("doctor");
  const line = /the fix .*: (ov engine stop && ov doctor --fix agent-without-worktree:waits)$/m.exec(looked.out)?.[1];
  expect([line, looked.out]).toEqual([expect.any(String), expect.any(String)]);
  for (const command of (line ?? "").split(" && ")) {
    const answer = await project.ov(...command.split(" ").slice(1));
    expect([command, answer.code, answer.err]).toEqual([command, expect.any(Number), expect.any(String)]);
  }
  expect(existsSync(join(project.root, ".overstory", "worktrees", "waits"))).toBe(true);
}, 60_000);
