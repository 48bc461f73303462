import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { chmodSync, closeSync, mkdirSync, openSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { doctorCategories } from "../../src/domain/consistency/check.ts";
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
  expect(before).toEqual(["directory-of-nobody:one", "directory-of-nobody:two"]);
  const plan = jsonOf(await project.ov("doctor", "--fix", "--dry-run", "--category", "consistency", "--json"))
    .fixes as {
    id: string;
    outcome: string;
  }[];
  expect(plan.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual(before.map((id) => `${id} planned`));
  expect((await findInconsistencies(project.root)).map(({ key }) => key)).toEqual(before);
  const one = await project.ov("doctor", "--fix", "directory-of-nobody:one", "--yes", "--json");
  expect(jsonOf(one)).toMatchObject({ before: { warn: expect.any(Number) }, fixes: [{ outcome: "fixed" }] });
  expect((await findInconsistencies(project.root)).map(({ key }) => key)).toEqual(["directory-of-nobody:two"]);
  const unknown = await project.ov("doctor", "--fix", "directory-of-nobody:tow", "--yes");
  expect(unknown.code).toBe(7);
  expect(unknown.err).toContain("directory-of-nobody:two");
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
