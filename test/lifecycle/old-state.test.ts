import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { linuxProcesses } from "../../src/host/processes.ts";
import { killPoints } from "../../src/ports/kill-points.ts";
import { slingNew, untilAgent } from "../../testkit/lifecycle.ts";
import { asEarlierVersion } from "../../testkit/old-state.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

const works = `
- when: { turn: 1 }
  do:
    - edit: { file: work.txt, write: "done\\n" }
    - commit: the work
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, "Done: B1", --body, it is there]
    - edit: { file: notes.txt, write: "not committed\\n" }
- when: { input: "go on" }
  do: [{ ov: [mail, send, --to, operator, --type, status, --subject, again, --body, went on] }]
`;

const long = "a line of a long message\n".repeat(4_000);

/** A project with an agent that has worked and mail that is kept in files, all of it where an earlier version had it. */
async function earlier(): Promise<TestProject> {
  const project = await makeProject({ scenario: works });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done");
  await project.settled();
  await project.json("spec", "write", "B1", "--body", "the first specification");
  await project.json("mail", "send", "--to", "operator", "--subject", "long", "--body", long);
  await asEarlierVersion(project);
  expect(existsSync(join(project.root, ".overstory", "overstory.db"))).toBe(true);
  expect(existsSync(statePath(project.root))).toBe(false);
  return project;
}

/** Everything a person would miss, as commands tell it. */
async function expectWhole(project: TestProject): Promise<void> {
  const subjects = (await project.json("mail", "list", "--limit", "50")).messages as {
    subject: string;
    blobPath?: string;
  }[];
  expect(subjects.map(({ subject }) => subject)).toEqual(expect.arrayContaining(["long", "Done: B1"]));
  const db = new Database(statePath(project.root, "overstory.db"), { readonly: true });
  const paths = db
    .query<{ path: string }, []>(
      "SELECT blob_path AS path FROM messages WHERE blob_path IS NOT NULL UNION SELECT log_dir FROM turns WHERE log_dir IS NOT NULL UNION SELECT worktree_path FROM agents UNION SELECT env_file FROM agents WHERE env_file IS NOT NULL",
    )
    .all();
  expect(db.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  db.close();
  expect(paths.length).toBeGreaterThan(2);
  for (const { path } of paths) expect({ path, isThere: existsSync(path) }).toEqual({ path, isThere: true });
  expect((await project.ov("spec", "read", "B1")).out).toContain("the first specification");
  expect((await project.ov("logs", "b1")).out).not.toBe("");
}

describe("the state of an earlier version", () => {
  test("is moved once, by the first command, with all that is only in the log of the database", async () => {
    await using project = await earlier();
    // A reader that stays keeps what is written now in the log.
    const old = join(project.root, ".overstory", "overstory.db");
    const reader = new Database(old, { readonly: true });
    reader.run("BEGIN");
    reader.query("SELECT count(*) FROM messages").get();
    const writer = new Database(old, { readwrite: true });
    writer.run("UPDATE tasks SET title = 'only in the log'");
    expect(statSync(`${old}-wal`).size).toBeGreaterThan(0);
    expect((await project.ov("task", "list")).out).toContain("only in the log");
    writer.close();
    reader.close();
    expect(readdirSync(join(project.root, ".overstory")).toSorted()).toEqual(["config.yaml", "specs", "worktrees"]);
    await expectWhole(project);
    await project.json("mail", "send", "--to", "b1", "--type", "question", "--subject", "q", "--body", "go on");
    await project.until("it went on", async () => (await project.ov("mail", "list")).out.includes("again"));
  });

  test("is moved by one of many commands that come at the same time", async () => {
    await using project = await earlier();
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) => project.ov("task", "create", `New ${n}`, "--id", `N${n}`, "--json")),
    );
    expect(answers.map(({ code, out }) => (code === 0 ? 0 : out))).toEqual([0, 0, 0, 0, 0, 0]);
    const { tasks } = (await project.json("task", "list", "--all")) as { tasks: { id: string }[] };
    expect(tasks.map(({ id }) => id)).toEqual(expect.arrayContaining(["B1", "N0", "N1", "N2", "N3", "N4", "N5"]));
    await expectWhole(project);
  });

  for (const point of killPoints.filter((name) => name.startsWith("state."))) {
    test(`survives a kill at ${point}`, async () => {
      await using project = await earlier();
      const env = { OVERSTORY_TEST_KILL_AT: point };
      expect((await project.ovWith({ env }, "task", "create", "Lost", "--id", "L")).code).not.toBe(0);
      await project.json("task", "create", "After", "--id", "A");
      await expectWhole(project);
      expect(existsSync(join(project.root, ".overstory", "overstory.db"))).toBe(false);
    });
  }

  test("is used where it is while a turn of the earlier version runs, and moved by the first command after that", async () => {
    await using project = await earlier();
    const old = join(project.root, ".overstory", "overstory.db");
    const turn = Bun.spawn({ cmd: ["sleep", "1000"], stdio: ["ignore", "ignore", "ignore"] });
    const identity = linuxProcesses.identify(turn.pid);
    if (identity === undefined) throw new Error("no process");
    const db = new Database(old, { readwrite: true });
    db.query(
      "INSERT INTO processes (id, role, pid, start_token, boot_id, started_at) VALUES ('p', 'supervisor', ?, ?, ?, 1)",
    ).run(identity.pid, identity.startToken, identity.bootId);
    db.close();
    await project.json("task", "create", "Meanwhile", "--id", "M");
    expect({ old: existsSync(old), new: existsSync(statePath(project.root, "overstory.db")) }).toEqual({
      old: true,
      new: false,
    });
    turn.kill("SIGKILL");
    await turn.exited;
    expect((await project.ov("task", "list")).out).toContain("Meanwhile");
    expect(existsSync(old)).toBe(false);
    await expectWhole(project);
  });
});
