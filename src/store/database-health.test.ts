import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canMount, mountSmallDisk } from "../../testkit/small-disk.ts";
import { databaseHealth } from "./database-health.ts";

const mountable = canMount();
if (!mountable) console.error("NOT TESTED: a database on a full disk, since none can be mounted here");

test.skipIf(!mountable)("a database on a full disk is not called damaged, and is well when there is room", () => {
  using disk = mountSmallDisk(4);
  const path = join(disk.dir, "overstory.db");
  const database = new Database(path);
  database.run("PRAGMA journal_mode = WAL");
  database.run("CREATE TABLE t (a)");
  database.close();
  // SQLite removed the two files beside the database; the next reader needs room for new ones.
  disk.fill();
  expect(databaseHealth(path)).toMatchObject({ problem: { kind: "disk-full", path } });
  disk.makeRoom();
  expect(databaseHealth(path)).toMatchObject({ problem: null, damage: [] });
});

test("a file that is no database is called damaged", () => {
  const dir = mkdtempSync(join(tmpdir(), "ov-health-"));
  try {
    const path = join(dir, "overstory.db");
    writeFileSync(path, "this is no database, and long enough to look into".repeat(100));
    expect(databaseHealth(path)).toMatchObject({ problem: { kind: "store-corrupt" } });
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test("a large database is looked at table by table, the events last, until the time is over", () => {
  const dir = mkdtempSync(join(tmpdir(), "ov-health-"));
  try {
    const path = join(dir, "overstory.db");
    const database = new Database(path);
    for (const name of ["events", "agents", "turns"]) database.run(`CREATE TABLE ${name} (a TEXT)`);
    database.run("CREATE INDEX turns_a ON turns(a)");
    database.run("INSERT INTO turns VALUES ('planted')");
    database.close();
    // The index stands behind its table: it gets another value than the row has.
    const bytes = readFileSync(path);
    bytes.write("q", bytes.lastIndexOf("planted"));
    writeFileSync(path, bytes);
    const wrong = expect.arrayContaining([expect.stringContaining("turns_a")]);
    expect(databaseHealth(path)).toMatchObject({ damage: wrong, unseen: [] });
    expect(databaseHealth(path, { wholeBytes: 0, limitMs: 60_000 })).toMatchObject({ damage: wrong, unseen: [] });
    expect(databaseHealth(path, { wholeBytes: 0, limitMs: -1 })).toMatchObject({
      damage: [],
      unseen: ["agents", "turns", "events"],
    });
  } finally {
    rmSync(dir, { recursive: true });
  }
});
