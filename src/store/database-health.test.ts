import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
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
