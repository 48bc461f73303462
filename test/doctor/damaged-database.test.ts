import { expect, test } from "bun:test";
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { jsonOf } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";
import { freePort } from "../../testkit/web.ts";

/** Writes over pages of the database in its middle, as a bad disk does. */
function damage(project: TestProject): void {
  const noise = new Uint8Array(5_000).map((_, at) => (at * 151 + 37) % 256);
  const file = openSync(statePath(project.root, "overstory.db"), "r+");
  writeSync(file, noise, 0, noise.length, 8_192);
  closeSync(file);
}

async function damaged({ backUp = true } = {}): Promise<TestProject> {
  const project = await makeProject();
  await project.json("task", "create", "before", "--id", "T-before");
  await project.json("mail", "send", "--to", "operator", "--subject", "s", "--body", "b");
  await project.json("engine", "stop");
  if (backUp) await project.json("clean", "--mail", "--yes");
  await project.until("all had ended", async () => project.processes().length === 0);
  damage(project);
  return project;
}

const answerOf = (out: string): Record<string, unknown> => JSON.parse(out);

test("doctor names the newest backup, and the command puts the damaged file aside and brings the backup back", async () => {
  await using project = await damaged();
  const bytes = readFileSync(statePath(project.root, "overstory.db"));
  const looked = await project.ov("doctor");
  const line = /ov clean --restore [0-9TZ-]+/.exec(looked.out)?.[0] ?? looked.out;
  const restored = await project.ov(...line.split(" ").slice(1));
  expect([restored.code, restored.err]).toEqual([0, ""]);
  const aside = /the damaged database is kept: (\S+)/.exec(restored.out)?.[1] ?? "";
  expect(readFileSync(join(project.root, aside)).equals(bytes)).toBe(true);
  expect(restored.out).toContain("what was stored after that is not in it");
  expect(await project.json("task", "list")).toMatchObject({ tasks: [{ id: "T-before" }] });
  expect((await project.ov("doctor", "--category", "databases")).code).toBe(0);
}, 60_000);

test("status names a command that works without a time, and one that begins anew", async () => {
  await using project = await damaged();
  const status = await project.ov("status", "--json");
  expect([status.code, answerOf(status.out).hint]).toEqual([
    3,
    expect.stringMatching(/ov clean --restore newest.*ov init --new-database/),
  ]);
  expect(await project.json("clean", "--restore", "newest")).toMatchObject({ putAside: expect.any(String) });
  expect((await project.ov("status")).code).toBe(0);
}, 60_000);

test("ov init says that the database is damaged; with --new-database it keeps the damaged file and makes a new one", async () => {
  await using project = await damaged({ backUp: false });
  const plain = await project.ov("init");
  expect([plain.code, plain.err]).toEqual([3, expect.stringContaining("is damaged")]);
  // Without a backup no command promises one.
  for (const said of [plain.err, (await project.ov("status")).err]) {
    expect(said).toMatch(/there is no backup: ov init --new-database/);
    expect(said).not.toContain("--restore");
  }
  const none = await project.ov("clean", "--restore", "newest");
  expect([none.code, none.err]).toEqual([2, expect.stringContaining("there is none")]);
  const looked = await project.ov("doctor", "--category", "databases");
  expect(looked.out).toContain("ov init --new-database");
  expect(looked.out).not.toContain("--restore");
  const fresh = await project.ov("init", "--new-database");
  expect(fresh.code).toBe(0);
  const aside = /the damaged database is kept: (\S+)/.exec(fresh.out + fresh.err)?.[1] ?? "";
  expect(existsSync(join(project.root, aside))).toBe(true);
  expect(fresh.out).not.toContain("nothing was changed");
  expect(await project.json("task", "list")).toMatchObject({ tasks: [] });
}, 60_000);

test("a backup without a copy of the database is refused, and the damaged file stays", async () => {
  await using project = await damaged();
  const [name = ""] = (
    await Array.fromAsync(new Bun.Glob("*/overstory.db.gz").scan(statePath(project.root, "backups")))
  ).map((path) => path.split("/")[0] ?? "");
  await Bun.file(statePath(project.root, "backups", name, "overstory.db.gz")).delete();
  const refused = await project.ov("clean", "--restore", name);
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("holds no copy of the database")]);
  expect(existsSync(statePath(project.root, "overstory.db"))).toBe(true);
}, 60_000);

test("--fix that can mend nothing says so, shows what is wrong and is no success", async () => {
  await using project = await damaged();
  const fixed = await project.ov("doctor", "--fix", "--yes", "--category", "databases");
  expect(fixed.code).toBe(5);
  expect(fixed.out).not.toContain("✓ Nothing is to be mended.");
  expect(fixed.out).toContain("Nothing was changed");
  expect(fixed.out).toContain("ov clean --restore");
  expect(jsonOf(await project.ov("doctor", "--fix", "--yes", "--category", "databases", "--json"))).toMatchObject({
    fixes: [],
  });
}, 60_000);

test("an engine that runs is ended first, so that it does not go on with the file that was put aside", async () => {
  await using project = await makeProject();
  await project.json("mail", "send", "--to", "operator", "--subject", "s", "--body", "b");
  await project.json("clean", "--mail", "--yes");
  const { pid } = await project.json("serve", "--detach", "--port", String(await freePort()));
  damage(project);
  expect((await project.ov("clean", "--restore", "newest")).code).toBe(0);
  expect((await project.ov("status")).code).toBe(0);
  expect(project.processes()).not.toContain(Number(pid));
}, 60_000);

test("a file that is no database at all is mended by the same commands", async () => {
  await using project = await damaged();
  const spoil = () => Bun.write(statePath(project.root, "overstory.db"), "no database ".repeat(1_000));
  await spoil();
  expect((await project.ov("status")).code).toBe(3);
  expect((await project.ov("clean", "--restore", "newest")).code).toBe(0);
  expect(await project.json("task", "list")).toMatchObject({ tasks: [{ id: "T-before" }] });
  await project.until("all had ended", async () => project.processes().length === 0);
  await spoil();
  expect((await project.ov("init", "--new-database")).code).toBe(0);
  expect(await project.json("task", "list")).toMatchObject({ tasks: [] });
}, 60_000);

test("a database that is gone is named with the ways out, in the words of ov status", async () => {
  await using project = await makeProject();
  await project.json("task", "create", "one");
  await project.json("engine", "stop");
  await project.until("all had ended", async () => project.processes().length === 0);
  for (const end of ["", "-wal", "-shm"]) rmSync(statePath(project.root, `overstory.db${end}`), { force: true });
  const status = jsonOf(await project.ov("status", "--json")) as unknown as { readonly hint: string };
  for (const flags of [[], ["--category", "databases"]]) {
    const looked = await project.ov("doctor", ...flags);
    expect(looked.code).toBe(5);
    expect(looked.out).toContain("is gone or empty, although this project had one");
    expect(looked.out).toContain("ov init --new-database");
    expect(looked.out).not.toContain("store-lost");
    expect(looked.out).toContain(status.hint);
  }
}, 60_000);
