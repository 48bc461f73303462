import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { earlierCounts, plantEarlierProject } from "../testkit/earlier-project.ts";
import { untilAgent } from "../testkit/lifecycle.ts";
import { jsonOf } from "../testkit/ov.ts";
import { makeProject, type TestProject } from "../testkit/project.ts";
import { rawDatabase } from "../testkit/raw-database.ts";

interface Part {
  readonly source: string;
  readonly rows: number;
  readonly taken: number;
  readonly before: number;
  readonly present: number;
}

interface Report {
  readonly parts: readonly Part[];
  readonly problems: readonly { readonly where: string; readonly problem: string }[];
  readonly settings: readonly string[];
  readonly remarks: readonly string[];
}

const importIn = async (project: TestProject, ...flags: string[]): Promise<Report> =>
  (await project.json("import", ...flags)) as unknown as Report;

/** Every byte of the earlier project, with the names of its files. */
function earlierFiles({ root }: TestProject): readonly string[] {
  const dir = join(root, ".overstory");
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files
    .map((file) => join(file.parentPath, file.name))
    .toSorted()
    .map((path) => `${path} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`);
}

/** Every row of our database that an import fills. */
function storedRows(project: TestProject): string {
  const database = rawDatabase(project, "read");
  const tables = ["runs", "agents", "messages", "deliveries", "merge_queue", "events", "spending", "spending_sums"];
  const all = [...tables, "tasks", "task_deps", "groups", "group_members", "identities", "checkpoints", "imports"];
  const rows = all.map((table) => database.query(`SELECT * FROM ${table}`).all());
  database.close();
  return JSON.stringify(rows);
}

describe("a project of version 0.11", () => {
  let project: TestProject;
  let planted: { close(): void };
  beforeAll(async () => {
    project = await makeProject({ bare: true, scenario: "- do:\n    - ov: [done, --no-code, --summary, finished]\n" });
    planted = await plantEarlierProject(project);
  }, 60_000);
  afterAll(async () => {
    planted.close();
    await project[Symbol.asyncDispose]();
  }, 60_000);

  test("ov init names it and the command that takes it over, and takes nothing over itself", async () => {
    const { code, err } = await project.ov("init", "--no-commit", "--no-instructions");
    expect(code).toBe(0);
    expect(err).toContain(
      "databases of an earlier Overstory (mail.db, sessions.db, events.db, metrics.db, merge-queue.db)",
    );
    expect(err).toContain("with: ov import");
    expect((await project.json("agents", "discover", "--all")).agents).toEqual([]);
  }, 60_000);

  test("a dry run counts what is there, also in the logs of the databases, and changes nothing", async () => {
    expect(existsSync(join(project.root, ".overstory", "mail.db-wal"))).toBe(true);
    const before = earlierFiles(project);
    const { parts, settings, remarks } = await importIn(project, "--dry-run");
    expect(Object.fromEntries(parts.map(({ source, taken }) => [source, taken]))).toEqual(earlierCounts);
    expect(settings.join("\n")).toContain("logging.verbose has no effect");
    expect(remarks.join("\n")).toContain(".overstory/agent-defs/builder.md was edited");
    expect(remarks.join("\n")).toContain("branches of no agent stay as they are: overstory/nobody/x");
    expect(earlierFiles(project)).toEqual(before);
    expect((await project.json("agents", "discover", "--all")).agents).toEqual([]);
  }, 60_000);

  test("ov doctor says that it was not taken over, and after that it does not", async () => {
    const { code, out } = await project.ov("doctor", "--category", "structure");
    expect(code).toBe(0);
    expect(out).toContain(
      "! .overstory/ holds a project of version 0.11 that was not taken over: mail.db, sessions.db",
    );
    expect(out).toContain("next: ov import --dry-run, then ov import");
    await using taken = await makeProject({ bare: true });
    (await plantEarlierProject(taken)).close();
    await importIn(taken);
    expect((await taken.ov("doctor", "--category", "structure")).out).not.toContain("0.11");
  }, 60_000);

  test("it comes in once: every row is taken, a second import changes nothing and says so", async () => {
    const before = earlierFiles(project);
    const { parts, problems } = await importIn(project);
    expect(Object.fromEntries(parts.map(({ source, taken, present }) => [source, taken + present]))).toEqual(
      earlierCounts,
    );
    expect(parts.filter(({ present }) => present > 0).map(({ source }) => source)).toEqual([".seeds/issues.jsonl"]);
    expect(problems).toEqual([]);
    const stored = storedRows(project);
    const again = await project.ov("import");
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining("nothing was changed") });
    expect(storedRows(project)).toBe(stored);
    expect(earlierFiles(project)).toEqual(before);
  }, 60_000);

  test("agents are ended incarnations with their branches; one whose worktree is there keeps it", async () => {
    const agents = await project.read((tx) => tx.agents.list({}));
    const shown = agents.map(({ name, state, outcome, branch, runId }) => ({ name, state, outcome, branch, runId }));
    expect(shown.toSorted((a, b) => a.name.localeCompare(b.name))).toEqual([
      { name: "b1", state: "completed", outcome: "stopped", branch: "overstory/b1/demo-1", runId: "run-a" },
      { name: "b2", state: "zombie", outcome: "crashed", branch: "overstory/b2/demo-2", runId: "run-b" },
      { name: "coordinator", state: "completed", outcome: "assumed_done", branch: null, runId: "run-a" },
      { name: "lead1", state: "completed", outcome: "assumed_done", branch: "overstory/lead1/demo-1", runId: "run-a" },
      { name: "s1", state: "completed", outcome: "assumed_done", branch: "overstory/s1/demo-2", runId: "run-imported" },
    ]);
    expect(await project.agent("b1")).toMatchObject({
      providerSessionId: "conversation-1",
      ahead: 1,
      worktreePath: join(project.root, ".overstory/worktrees/b1"),
      releasedAt: null,
    });
    expect((await project.agent("b2")).releasedAt).not.toBeNull();
    expect(await project.git("branch", "--list", "overstory/*", "--format=%(refname:short)")).toBe(
      "overstory/b1/demo-1\noverstory/b2/demo-2\noverstory/nobody/x\n",
    );
  }, 60_000);

  test("mail keeps what was read; what was not read waits, and wakes nobody", async () => {
    const deliveries = await project.read(async (tx) => {
      const messages = (await tx.messages.list({})).filter(({ fromAgent }) => fromAgent !== "system");
      const all = await Promise.all(messages.map(({ seq }) => tx.deliveries.ofMessage(seq)));
      return messages.map(({ id, threadId }, at) => [id, threadId, all[at]?.[0]?.toAgent, all[at]?.[0]?.state]);
    });
    expect(deliveries.toSorted()).toEqual([
      ["msg-1", "msg-1", "b1", "acked"],
      ["msg-2", "msg-1", "lead1", "acked"],
      ["msg-3", "msg-3", "lead1", "acked"],
      ["msg-4", "msg-4", "operator", "queued"],
      ["msg-5", "msg-5", "lead1", "queued"],
    ]);
    expect((await project.ov("mail", "list")).out).toContain("msg-3 b1 → lead1");
    expect((await project.ov("inbox")).out).toContain("Subject: News (status)");
  }, 60_000);

  test("an open entry of the merge queue waits for the operator; one without its branch has failed", async () => {
    const entries = await project.read((tx) => tx.merges.list({}));
    expect(
      entries.map(({ branch, status, approval, tier, cause }) => ({ branch, status, approval, tier, cause })),
    ).toEqual([
      { branch: "overstory/b1/demo-1", status: "pending", approval: "waiting", tier: null, cause: null },
      { branch: "overstory/b0/demo-0", status: "merged", approval: "operator", tier: "auto-resolve", cause: null },
      { branch: "overstory/gone/x", status: "failed", approval: "operator", tier: null, cause: "missing_ref" },
    ]);
    expect((await project.ov("status")).out).toContain("a branch waits for your approval — ov merge approve 1");
  }, 60_000);

  test("costs, runs, tasks, groups and events are shown like our own", async () => {
    const { sessions, totals } = (await project.json("costs")) as {
      sessions: Record<string, unknown>[];
      totals: object;
    };
    expect(sessions.map(({ agentName, costUsd, inputTokens }) => [agentName, costUsd, inputTokens]).toSorted()).toEqual(
      [
        ["b1", 0.5, 1000],
        ["b2", 0.25, 50],
        ["lead1", null, 10],
      ],
    );
    expect(totals).toMatchObject({ costUsd: 0.75, turns: 3 });
    const runs = (await project.json("run", "list")).runs as Record<string, unknown>[];
    expect(runs.map(({ id, status }) => [id, status])).toEqual([
      ["run-b", "completed"],
      ["run-imported", "completed"],
      ["run-a", "completed"],
    ]);
    const tasks = await project.ov("task", "list");
    expect(tasks.out).toMatch(/bd-1 +1 +open +bug/);
    expect(tasks.out).toMatch(/demo-2 +2 +blocked by demo-1/);
    expect((await project.ov("group", "status")).out).toContain("0/2 closed, 1 in progress");
    expect((await project.ov("logs", "b1")).out).toContain("> Write: b1.txt\n< mail to lead1 (worker_done): Done\n");
    const trace = (await project.ov("trace", "b1")).out;
    expect(trace).toMatch(/TOOL- .*Write.*40ms/);
    expect(trace).toContain('error: {"message":"it broke"}');
    expect((await project.ov("errors")).out).toContain("it broke");
    expect((await project.ov("inspect", "b1")).out).toContain("half of it");
  }, 60_000);

  test("ov doctor finds nothing but what the earlier version left", async () => {
    const { code, out } = await project.ov("doctor", "--category", "consistency");
    expect([code, out.match(/^ {2}[!✗] .*$/gm)]).toEqual([0, ["  ! overstory/nobody/x belongs to no agent"]]);
  }, 60_000);

  test("the project goes on: an agent is slung, a free name of the earlier project too", async () => {
    expect((await project.ov("init")).code).toBe(0);
    for (const name of ["fresh", "s1"]) {
      expect(await project.ov("sling", "More of it", "--name", name)).toMatchObject({ code: 0 });
      await untilAgent(project, name, "completed/done");
    }
    expect((await project.agent("s1")).generation).toBe(2);
    expect(readFileSync(join(project.root, ".overstory/worktrees/b1/b1.txt"), "utf8")).toBe("work of b1\n");
  }, 120_000);
});

test("an import that is killed at any of its transactions is finished by the next one, and nothing comes twice", async () => {
  await using whole = await makeProject({ bare: true });
  const first = await plantEarlierProject(whole);
  await importIn(whole);
  const counts = (project: TestProject): Promise<readonly number[]> =>
    project.read(async (tx) => [
      (await tx.agents.list({})).length,
      (await tx.messages.list({})).length,
      (await tx.events.newest({}, 1000)).length,
      (await tx.merges.list({})).length,
      (await tx.tasks.list({})).length,
      (await tx.spending.sums("session", {}, 100)).length,
    ]);
  const expected = await counts(whole);
  await using project = await makeProject({ bare: true });
  const second = await plantEarlierProject(project);
  let deaths = 0;
  for (const [at, point] of ["tx:1", "tx:1+", "tx:2", "tx:3+", "tx:1", "tx:2+", "tx:1+", "tx:2"].entries()) {
    const env = { OVERSTORY_TEST_KILL_AT: point, OVERSTORY_TEST_KILL_IN: "command" };
    const { code } = await project.ovWith({ env }, "import");
    if (code !== 0) deaths++;
    expect([at, code]).toEqual([at, 137]);
  }
  expect(deaths).toBe(8);
  await importIn(project);
  expect(await counts(project)).toEqual(expected);
  first.close();
  second.close();
}, 120_000);

test("rows that cannot be understood are named with their file and number, and the others come in", async () => {
  await using project = await makeProject({ bare: true });
  const planted = await plantEarlierProject(project);
  planted.close();
  const dir = join(project.root, ".overstory");
  const change = (file: string, sql: string): void => {
    const database = new Database(join(dir, file));
    database.run(sql);
    database.close();
  };
  change("sessions.db", "UPDATE sessions SET agent_name = 'Not A Name' WHERE agent_name = 's1'");
  change("mail.db", "UPDATE messages SET created_at = 'yesterday' WHERE id = 'msg-2'");
  change("mail.db", "UPDATE messages SET type = 'gossip' WHERE id = 'msg-3'");
  change("events.db", "UPDATE events SET created_at = 'never' WHERE id = 2");
  change("metrics.db", "UPDATE sessions SET estimated_cost_usd = 1e300 WHERE agent_name = 'lead1'");
  change("metrics.db", "UPDATE sessions SET completed_at = NULL, duration_ms = 9e15 WHERE agent_name = 'b1'");
  change("metrics.db", "UPDATE token_snapshots SET estimated_cost_usd = 9e999");
  writeFileSync(join(project.root, ".beads/issues.jsonl"), '{"id":"bd-1","title":"t"}\nnot json\n');
  writeFileSync(join(dir, "groups.json"), "{ broken");
  const dry = await importIn(project, "--dry-run");
  const { problems, parts } = await importIn(project);
  const leftOut = problems.filter(({ problem }) => !problem.startsWith("was of the type"));
  expect(dry.problems).toEqual(leftOut);
  expect(dry.parts.map(({ source, taken }) => ({ source, taken }))).toEqual(
    parts.map(({ source, taken, present }) => ({ source, taken: taken + present })),
  );
  expect(problems.map(({ where, problem }) => `${where} ${problem}`)).toEqual([
    'sessions.db sessions row 5 has a name that no agent can have as agent_name: "Not A Name"',
    ".beads/issues.jsonl line 1 has no created_at",
    ".beads/issues.jsonl line 2 cannot be parsed",
    "groups.json is not valid JSON",
    'mail.db messages row 2 has no time as created_at: "yesterday"',
    'mail.db messages row 3 was of the type "gossip", and is a status now',
    "metrics.db sessions row 1 has no duration as duration_ms",
    "metrics.db sessions row 2 has no amount as estimated_cost_usd",
    "metrics.db token_snapshots row 1 has no amount as estimated_cost_usd",
    "metrics.db token_snapshots row 2 has no amount as estimated_cost_usd",
    'events.db events row 2 has no time as created_at: "never"',
  ]);
  expect(parts.find(({ source }) => source === "mail.db messages")).toMatchObject({ rows: 5, taken: 4 });
}, 60_000);

test("a line that could not be read is named each time, and taken once it is mended", async () => {
  await using project = await makeProject();
  const file = join(project.root, ".seeds/issues.jsonl");
  mkdirSync(join(project.root, ".seeds"));
  const line = (id: string): string =>
    JSON.stringify({
      id,
      title: id,
      status: "open",
      createdAt: "2026-10-01T10:00:00Z",
      updatedAt: "2026-10-01T10:00:00Z",
    });
  const seeds = async () => (await importIn(project)).parts.find(({ source }) => source === ".seeds/issues.jsonl");
  writeFileSync(file, `${line("s-1")}\n${line("s-2").slice(0, -1)}\n`);
  expect(await seeds()).toMatchObject({ rows: 2, taken: 1, present: 0 });
  const again = await project.ov("import");
  expect(again.out).toContain("Nothing new could be imported");
  expect(again.out).toContain(".seeds/issues.jsonl line 2");
  writeFileSync(file, `${line("s-1")}\n${line("s-2")}\n`);
  expect(await seeds()).toMatchObject({ rows: 2, taken: 1, present: 1 });
  expect(await project.json("task", "show", "s-2")).toMatchObject({ success: true });
  expect((await project.ov("import")).out).toContain("There is nothing new to import");
}, 60_000);

test("a database of another shape refuses the import, and nothing is changed", async () => {
  await using project = await makeProject({ bare: true });
  const planted = await plantEarlierProject(project);
  planted.close();
  const file = join(project.root, ".overstory/events.db");
  const refused = async (): Promise<Record<string, unknown>> => {
    const answer = await project.ov("import", "--json");
    expect(answer.code).toBe(2);
    return jsonOf(answer) as Record<string, unknown>;
  };
  const database = new Database(file);
  database.run("PRAGMA user_version = 7");
  expect((await refused()).error).toContain("events.db has the schema version 7");
  database.run("PRAGMA user_version = 0");
  database.run("ALTER TABLE events RENAME COLUMN event_type TO kind");
  expect((await refused()).error).toContain("events.db has no column event_type");
  database.close();
  rmSync(`${file}-wal`, { force: true });
  writeFileSync(file, "this is no database, whatever its name says ".repeat(40));
  expect(await refused()).toMatchObject({ hint: "put .overstory/events.db aside, and type: ov import" });
  expect((await project.json("agents", "discover", "--all")).agents).toEqual([]);
}, 60_000);

test("a project that still runs is refused with the command that ends it", async () => {
  await using project = await makeProject({ bare: true });
  const planted = await plantEarlierProject(project);
  planted.close();
  const alive = Bun.spawn({ cmd: ["sleep", "600"], stdio: ["ignore", "ignore", "ignore"] });
  try {
    const database = new Database(join(project.root, ".overstory/sessions.db"));
    const now = new Date().toISOString();
    database.run("UPDATE sessions SET pid = ?, last_activity = ? WHERE agent_name = 'b1'", [alive.pid, now]);
    const { code, err } = await project.ov("import");
    expect(code).toBe(2);
    expect(err).toContain(`it still runs: the agent b1 (pid ${alive.pid})`);
    expect(err).toContain(`end it (kill ${alive.pid}), then type: ov import`);
    // A process that began after the last sign of the agent only has its number.
    database.run("UPDATE sessions SET last_activity = '2026-10-01T10:06:00.000Z'");
    database.close();
    expect((await project.ov("import")).code).toBe(0);
  } finally {
    alive.kill();
    await alive.exited;
  }
}, 60_000);

test("a project without an earlier one says so", async () => {
  await using project = await makeProject();
  const { code, err } = await project.ov("import");
  expect(code).toBe(2);
  expect(err).toContain("there is none here");
}, 60_000);
