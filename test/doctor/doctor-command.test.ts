import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { chmodSync, closeSync, mkdirSync, openSync, rmSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { doctorCategories } from "../../src/domain/consistency/check.ts";
import { linuxProcesses } from "../../src/host/processes.ts";
import { brokenInvariants, findInconsistencies } from "../../testkit/consistency.ts";
import { jsonOf } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

interface Shown {
  readonly id: string;
  readonly category: string;
  readonly status: string;
  readonly fixId: string | null;
  readonly fixable: boolean;
  readonly healedByEngine: boolean;
}

const checksOf = (answer: { out: string; err: string; code: number }): readonly Shown[] =>
  jsonOf(answer).checks as readonly Shown[];

const hangs = `
- when: { agent: "hangs", attempt: 1 }
  do:
    - shell: sleep 600
- do:
    - ov: [done, --no-code, --summary, looked]
`;

async function hanging(): Promise<TestProject> {
  const project = await makeProject({ scenario: hangs });
  await project.json("sling", "Work", "--name", "hangs", "--skip-task-check");
  await project.until("the turn ran", async () => (await project.agent("hangs")).state === "in_turn");
  return project;
}

function rowsOf(project: TestProject): string {
  const db = new Database(statePath(project.root, "overstory.db"), { readonly: true });
  try {
    const tables = db
      .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
      .all();
    return JSON.stringify(tables.map(({ name }) => [name, db.query(`SELECT * FROM "${name}"`).all()]));
  } finally {
    db.close();
  }
}

/** Makes the one page of an index an empty one, as if a write to it had been lost. */
function emptyIndex(path: string, name: string): void {
  const db = new Database(path);
  const page = db.query<{ rootpage: number }, [string]>("SELECT rootpage FROM sqlite_master WHERE name = ?").get(name);
  const { page_size: size } = db.query<{ page_size: number }, []>("PRAGMA page_size").get() ?? { page_size: 4096 };
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
  const file = openSync(path, "r+");
  // The header of the page: no free block, no cell, and content that begins where the page ends.
  writeSync(file, Uint8Array.of(0, 0, 0, 0, size >> 8, size & 255, 0), 0, 7, ((page?.rootpage ?? 1) - 1) * size + 1);
  closeSync(file);
}

test("a fresh project passes every category, and doctor leaves nothing behind", async () => {
  await using project = await makeProject();
  const answer = await project.ov("doctor", "--json");
  expect(answer.code).toBe(0);
  const checks = checksOf(answer);
  expect(checks.filter(({ status }) => status === "fail")).toEqual([]);
  expect([...new Set(checks.map(({ category }) => category))]).toEqual([...doctorCategories]);
  expect(jsonOf(answer).summary).toMatchObject({ fail: 0 });
  expect(await Bun.file(statePath(project.root, "overstory.db")).exists()).toBe(false);
}, 60_000);

test("--category looks at one category, and an unknown one is refused with the list", async () => {
  await using project = await makeProject();
  const one = checksOf(await project.ov("doctor", "--category", "git", "--json"));
  expect(new Set(one.map(({ category }) => category))).toEqual(new Set(["git"]));
  const unknown = await project.ov("doctor", "--category", "gti");
  expect(unknown.code).toBe(2);
  expect(unknown.err).toContain("dependencies");
}, 60_000);

test("a project whose engine and agent were killed in a turn is a matter of the engine, and --fix lets it go on", async () => {
  await using project = await hanging();
  for (const pid of project.processes()) process.kill(pid, "SIGKILL");
  await project.until("all were gone", async () => project.processes().length === 0);
  const looked = await project.ov("doctor", "--json");
  const found = checksOf(looked).filter(({ id }) =>
    /^(turn-without-process|lease-of-the-dead|file-of-gone-process)/.test(id),
  );
  expect(found.map(({ id }) => id.split(":")[0])).toEqual(
    expect.arrayContaining(["turn-without-process", "lease-of-the-dead", "file-of-gone-process"]),
  );
  expect(found.every(({ healedByEngine, status }) => healedByEngine && status === "warn")).toBe(true);
  expect(looked.code).toBe(0);
  const shown = await project.ov("doctor");
  expect(shown.out).toContain("the engine will do this when it starts");
  const fixed = await project.ov("doctor", "--fix", "--yes", "--json");
  expect(fixed.code).toBe(0);
  await project.until("it finished", async () => (await project.agent("hangs")).outcome === "done");
  await project.until("all had ended", async () => project.processes().length === 0);
  expect(await brokenInvariants(project.root)).toEqual([]);
}, 120_000);

test("--dry-run shows the plan and changes nothing; --fix <id> mends one finding and leaves the others", async () => {
  await using project = await makeProject();
  await project.json("task", "create", "one");
  const [first, second] = ["one", "two"].map((name) => join(project.root, ".overstory", "worktrees", name));
  for (const dir of [first ?? "", second ?? ""]) {
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, "note.txt"), "PLANT\n");
  }
  const before = (await findInconsistencies(project.root)).map(({ key }) => key);
  expect(before).toEqual(["directory-without-agent:one", "directory-without-agent:two"]);
  const plan = jsonOf(await project.ov("doctor", "--fix", "--dry-run", "--category", "consistency", "--json"))
    .fixes as {
    id: string;
    outcome: string;
  }[];
  expect(plan.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual(before.map((id) => `${id} planned`));
  expect((await findInconsistencies(project.root)).map(({ key }) => key)).toEqual(before);
  const one = await project.ov("doctor", "--fix", "directory-without-agent:one", "--yes", "--json");
  expect(jsonOf(one)).toMatchObject({ before: { warn: expect.any(Number) }, fixes: [{ outcome: "fixed" }] });
  expect((await findInconsistencies(project.root)).map(({ key }) => key)).toEqual(["directory-without-agent:two"]);
  const unknown = await project.ov("doctor", "--fix", "directory-without-agent:tow", "--yes");
  expect(unknown.code).toBe(7);
  expect(unknown.err).toContain("directory-without-agent:two");
}, 60_000);

test("what a live engine owns is not touched: the fix is refused with the command to type", async () => {
  await using project = await hanging();
  const { id } = await project.agent("hangs");
  const db = new Database(statePath(project.root, "overstory.db"));
  db.query("INSERT INTO tokens (digest, agent_id, turn_id, created_at) VALUES (?, ?, 'turn-none', 1)").run(
    "a".repeat(64),
    id,
  );
  db.close();
  const refused = await project.ov("doctor", "--fix", "token-of-ended-turn:aaaaaaaaaaaa", "--yes", "--json");
  expect(refused.code).toBe(6);
  expect(jsonOf(refused).fixes).toMatchObject([
    { outcome: "refused", why: expect.stringContaining("ov engine stop && ov doctor --fix token-of-ended-turn:") },
  ]);
  await project.json("engine", "stop");
  const fixed = await project.ov("doctor", "--fix", "token-of-ended-turn:aaaaaaaaaaaa", "--yes", "--json");
  expect(jsonOf(fixed).fixes).toMatchObject([{ outcome: "fixed" }]);
}, 120_000);

test("a working project has no findings while its engine works", async () => {
  await using project = await hanging();
  const findings = checksOf(await project.ov("doctor", "--category", "consistency", "--json"));
  expect(findings.filter(({ status }) => status !== "pass")).toEqual([]);
}, 60_000);

test("looking changes no row of the database", async () => {
  await using project = await makeProject();
  await project.json("task", "create", "one");
  await project.until("all had ended", async () => project.processes().length === 0);
  const before = rowsOf(project);
  await project.ov("doctor", "--json");
  await project.ov("upgrade", "--json");
  await project.ov("ecosystem", "--json");
  expect(rowsOf(project)).toEqual(before);
}, 60_000);

test("an index of the database that lacks rows is found, and built again after a copy was made", async () => {
  await using project = await makeProject();
  await project.json("task", "create", "one");
  const path = statePath(project.root, "overstory.db");
  await project.until("all had ended", async () => project.processes().length === 0);
  emptyIndex(path, "tasks_status");
  const looked = await project.ov("doctor", "--category", "databases", "--json");
  expect(looked.code).toBe(5);
  expect(checksOf(looked).find(({ id }) => id === "database-pages")).toMatchObject({ status: "fail", fixable: true });
  const fixed = await project.ov("doctor", "--fix", "--category", "databases", "--yes", "--json");
  expect(fixed.code).toBe(0);
  expect(jsonOf(fixed).fixed).toEqual([expect.stringContaining("backups/doctor-")]);
}, 60_000);

test("a database of a newer version is named, and nothing is tried", async () => {
  await using project = await makeProject();
  await project.json("task", "create", "one");
  const db = new Database(statePath(project.root, "overstory.db"));
  db.run("PRAGMA user_version = 9999");
  db.close();
  const looked = await project.ov("doctor", "--json");
  expect(looked.code).toBe(5);
  expect(checksOf(looked).find(({ id }) => id === "database-version")).toMatchObject({ status: "fail", fixId: null });
  const upgrade = await project.ov("upgrade", "--check", "--json");
  expect(upgrade.code).toBe(5);
  expect(jsonOf(upgrade)).toMatchObject({ databaseVersion: 9999, upToDate: false });
}, 60_000);

test("objects that git replaces are named, with the command that takes the replacement away", async () => {
  await using project = await makeProject();
  await project.ov("init", "--no-commit");
  const git = (...args: string[]): string =>
    Bun.spawnSync(["git", ...args], { cwd: project.root, env: { ...project.env } })
      .stdout.toString()
      .trim();
  const shown = async (): Promise<string> => (await project.ov("doctor", "--category", "git")).out;
  expect(await shown()).not.toContain("git replace");
  const [head, other] = [git("rev-parse", "HEAD"), git("commit-tree", "-m", "another", "HEAD^{tree}")];
  git("replace", head, other);
  expect(await shown()).toContain(`git shows other objects instead of ${head.slice(0, 12)}`);
  expect(await shown()).toContain(`git replace --delete ${head}`);
  const checks = checksOf(await project.ov("doctor", "--category", "git", "--json"));
  expect(checks.find(({ id }) => id.includes("replacements"))).toMatchObject({ category: "git", status: "warn" });
  git("replace", "--delete", head);
  expect(await shown()).not.toContain("git replace");
});

test("a checkout that git calls bare is named, with the command that mends it", async () => {
  await using project = await makeProject();
  await project.ov("init", "--no-commit");
  const bare = async () =>
    checksOf(await project.ov("doctor", "--category", "git", "--json")).find(({ id }) => id === "bare");
  expect(await bare()).toMatchObject({ status: "pass" });
  Bun.spawnSync(["git", "config", "core.bare", "true"], { cwd: project.root });
  expect(await bare()).toMatchObject({ status: "fail", next: "git config core.bare false" });
}, 60_000);

test("only the operator mends", async () => {
  await using project = await hanging();
  chmodSync(statePath(project.root, "overstory.db"), 0o644);
  const refused = await project.ovWith(
    { env: { OVERSTORY_TOKEN: "no-such-token" } },
    "doctor",
    "--fix",
    "--yes",
    "--json",
  );
  expect(refused.code).not.toBe(0);
  expect(statSync(statePath(project.root, "overstory.db")).mode & 0o777).toBe(0o644);
}, 60_000);

test("a database that is gone is a failure, and --fix takes nothing for a stray", async () => {
  await using project = await hanging();
  await project.json("engine", "stop");
  for (const pid of project.processes()) process.kill(pid, "SIGKILL");
  await project.until("all were gone", async () => project.processes().length === 0);
  const branches = await project.git("for-each-ref", "refs/heads/overstory/");
  for (const end of ["", "-wal", "-shm"]) rmSync(statePath(project.root, `overstory.db${end}`), { force: true });
  const looked = await project.ov("doctor", "--json");
  const ofDatabase = checksOf(looked).filter(({ category }) => category === "databases");
  expect(ofDatabase).toMatchObject([{ id: "unreadable", status: "fail" }]);
  await project.ov("doctor", "--fix", "--yes", "--json");
  expect(await project.git("for-each-ref", "refs/heads/overstory/")).toBe(branches);
}, 60_000);

test("a clone without a database has no strays, whatever branches it has fetched", async () => {
  await using project = await makeProject();
  await project.git("branch", "overstory/integration/run-of-others");
  await project.git("config", "branch.overstory/integration/run-of-others.remote", "origin");
  const looked = await project.ov("doctor", "--category", "consistency", "--json");
  expect(checksOf(looked).filter(({ status }) => status !== "pass")).toEqual([]);
}, 60_000);

test("a branch of nobody stays while a checkout has it, and --fix says where", async () => {
  await using project = await makeProject();
  await project.json("task", "create", "one");
  await project.git("checkout", "--quiet", "-b", "overstory/stray/task");
  const fixed = await project.ov("doctor", "--fix", "branch-without-agent:overstory/stray/task", "--yes", "--json");
  expect(jsonOf(fixed).fixes).toMatchObject([{ outcome: "failed", why: expect.stringContaining(project.root) }]);
  expect(await project.git("rev-parse", "overstory/stray/task")).toBe(await project.git("rev-parse", "main"));
}, 60_000);

test("a worktree of nobody goes before its branch of nobody, and both keep their work", async () => {
  await using project = await makeProject();
  await project.json("task", "create", "one");
  const path = join(project.root, ".overstory", "worktrees", "stray");
  await project.git("worktree", "add", "--quiet", "-b", "overstory/stray/task", path);
  writeFileSync(join(path, "committed.txt"), "committed\n");
  await project.git("-C", path, "add", "-A");
  await project.git("-C", path, "commit", "--quiet", "-m", "stray");
  writeFileSync(join(path, "loose.txt"), "loose\n");
  const fixed = await project.ov("doctor", "--fix", "--category", "consistency", "--yes", "--json");
  expect((jsonOf(fixed).fixes as { outcome: string }[]).map(({ outcome }) => outcome)).toEqual(["fixed", "fixed"]);
  const refs = await project.git("for-each-ref", "--format=%(refname)", "refs/overstory/rescue/");
  const files = await Promise.all(
    refs.split("\n").flatMap((ref) => (ref === "" ? [] : [project.git("ls-tree", "--name-only", ref)])),
  );
  expect(files.join("\n")).toContain("committed.txt");
  expect(files.join("\n")).toContain("loose.txt");
}, 60_000);

test("an engine that has its seat and no notice yet is a live engine", async () => {
  await using project = await makeProject({ scenario: hangs });
  await project.json("sling", "Work", "--name", "looks", "--skip-task-check");
  await project.until("it was done", async () => (await project.agent("looks")).outcome === "done");
  await project.until("all had ended", async () => project.processes().length === 0);
  const digest = "b".repeat(64);
  const { id } = await project.agent("looks");
  const { pid, startToken, bootId } = linuxProcesses.self();
  const db = new Database(statePath(project.root, "overstory.db"));
  db.query("INSERT INTO tokens (digest, agent_id, turn_id, created_at) VALUES (?, ?, 'turn-none', 1)").run(digest, id);
  db.query(
    "INSERT INTO processes (id, role, pid, start_token, boot_id, started_at) VALUES ('process-new', 'engine', ?, ?, ?, 1)",
  ).run(pid, startToken, bootId);
  db.query("UPDATE leases SET fence = fence + 1, beat = 0, process_id = 'process-new' WHERE name = 'engine'").run();
  const answer = await project.ov("doctor", "--fix", "token-of-ended-turn:bbbbbbbbbbbb", "--yes", "--json");
  const revoked = db.query("SELECT revoked_at FROM tokens WHERE digest = ?").get(digest);
  db.close();
  expect([jsonOf(answer).fixes, revoked]).toMatchObject([[{ outcome: "refused" }], { revoked_at: null }]);
}, 60_000);

test("refs or a row that nobody can read are findings, and what else is wrong is shown all the same", async () => {
  await using project = await makeProject();
  await project.json("task", "create", "Work", "--id", "T1");
  await project.json("engine", "stop");
  const expectFinding = async (): Promise<void> => {
    const answer = await project.ov("doctor", "--json");
    expect([answer.code, answer.err]).toEqual([5, ""]);
    const checks = checksOf(answer);
    expect(checks).toContainEqual(
      expect.objectContaining({ category: "consistency", id: "unreadable", status: "fail" }),
    );
    expect(new Set(checks.map(({ category }) => category))).toEqual(new Set(doctorCategories));
  };
  const packed = join(project.root, ".git", "packed-refs");
  await project.git("pack-refs", "--all");
  const sound = await Bun.file(packed).text();
  writeFileSync(packed, `${sound}nothing\n`);
  await expectFinding();
  writeFileSync(packed, sound);
  const db = new Database(statePath(project.root, "overstory.db"));
  db.run("UPDATE tasks SET files = '[nothing'");
  db.close();
  await expectFinding();
}, 60_000);

test("a worktree that is made again says where the work is that its branch has gone past", async () => {
  const scenario = `
- do:
    - edit: { file: loose.txt, write: "not committed\\n" }
    - ov: [mail, send, --to, operator, --type, question, --subject, "Which?", --body, "?"]
`;
  await using project = await makeProject({ scenario });
  await project.json("sling", "Work", "--name", "b1", "--skip-task-check");
  await project.until("b1 waited", async () => (await project.agent("b1")).state === "between_turns");
  await project.json("engine", "stop");
  const path = join(project.root, ".overstory", "worktrees", "b1");
  writeFileSync(join(path, "later.txt"), "later\n");
  await project.git("-C", path, "add", "later.txt");
  await project.git("-C", path, "commit", "--quiet", "-m", "later");
  rmSync(path, { recursive: true });
  const fixed = await project.ov("doctor", "--fix", "agent-without-worktree", "--yes");
  expect(fixed.out).toContain("with 0 uncommitted files from a snapshot");
  expect(fixed.out).toContain("what snap/b1/1/1 holds beside the branch stays there: ov snapshots show snap/b1/1/1");
  expect((await project.ov("snapshots", "show", "snap/b1/1/1")).out).toContain("loose.txt");
}, 60_000);
