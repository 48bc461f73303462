import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { testDatabase } from "../../testkit/contracts/store/database.ts";
import { aMessage, aRun } from "../../testkit/contracts/store/rows.ts";
import { rejection } from "../../testkit/contracts/store/transactions.ts";
import { storeContract } from "../../testkit/contracts/store.ts";
import { Failure } from "../domain/failure.ts";
import { databaseFiles } from "./database-files.ts";
import { schemaVersion } from "./migrations/migrations.ts";
import { openDatabase } from "./open-files.ts";
import { openSqlite } from "./sqlite.ts";

// Several stores of one test share an event loop, so none of them may block it: each lives as a process does.
storeContract("SQLite", async () => {
  const place = tempPlace();
  return testDatabase(
    () => openSqlite({ path: place.path, life: "process" }),
    () => place[Symbol.dispose](),
  );
});

describe("the embedded database among processes", () => {
  test("twenty processes that open a new database at one moment all succeed and make one schema", async () => {
    using place = tempPlace();
    const at = String(Date.now() + 800);
    const children = Array.from({ length: 20 }, () => start("open", place.path, at));
    const ends = await Promise.all(
      children.map(async (child) => [await child.exited, await new Response(child.stderr).text()]),
    );
    expect(ends).toEqual(Array.from({ length: 20 }, () => [0, ""]));
    const store = openSqlite({ path: place.path, life: "command" });
    expect(await store.read((tx) => tx.audit.list(100))).toHaveLength(20);
    await store.close();
    expect(userVersion(place.path)).toBe(schemaVersion);
  }, 120_000);

  test("the id of a project is read beside a writer; where it has to be written, a writer that stays is named", async () => {
    using place = tempPlace();
    await openSqlite({ path: place.path, life: "command" }).close();
    using writer = new Database(place.path, { readwrite: true });
    writer.run("BEGIN IMMEDIATE");
    const error = await rejection(databaseFiles.projectIdIn(place.path, "project-1", 1));
    expect(error).toBeInstanceOf(Failure);
    expect((error as Failure).data.kind).toBe("store-busy");
    writer.run("ROLLBACK");
    expect(await databaseFiles.projectIdIn(place.path, "project-2", 2)).toBe("project-2");
    writer.run("BEGIN IMMEDIATE");
    expect(await databaseFiles.projectIdIn(place.path, "project-3", 3)).toBe("project-2");
  }, 120_000);

  test("a process neither writes nor closes when another program has made new files beside the database", async () => {
    using place = tempPlace();
    const old = await said("open", start("late", place.path));
    rmSync(`${place.path}-shm`);
    // A program that knows nothing of ours. It may be gone before the old process looks again.
    const script = `const { Database } = require("bun:sqlite"); const db = new Database(process.argv[1]);
      db.run("CREATE TABLE theirs (word TEXT)"); db.run("INSERT INTO theirs VALUES ('kept')"); db.close();`;
    expect(Bun.spawnSync([process.execPath, "-e", script, place.path]).exitCode).toBe(0);
    await old.stdin.end();
    // Closing on its way out, as every process does, would undo what the other program wrote.
    expect([await old.exited, old.signalCode]).toEqual([137, "SIGKILL"]);
    await said("store-index-lost", old);
    const found = `const { Database } = require("bun:sqlite"); const db = new Database(process.argv[1]);
      console.log(db.query("SELECT word FROM theirs").get().word, db.query("PRAGMA integrity_check").get().integrity_check);`;
    expect(Bun.spawnSync([process.execPath, "-e", found, place.path]).stdout.toString()).toBe("kept ok\n");
  }, 120_000);

  test("a late use of a closed store fails by itself, and does not take the next store's files for those of others", async () => {
    using place = tempPlace();
    const first = openSqlite({ path: place.path, life: "process" });
    await first.read((tx) => tx.runs.current());
    await first.close();
    const next = openSqlite({ path: place.path, life: "process" });
    await next.read((tx) => tx.runs.current());
    for (const late of [first.changeCounter(), first.read((tx) => tx.runs.current())]) {
      const error = await rejection(late);
      expect(error).not.toBeInstanceOf(Failure);
      expect((error as Error).message).toContain("was closed");
    }
    await next.close();
  });

  test("a process that only closes its store does not delete the log that another process made beside the database", async () => {
    using place = tempPlace();
    const old = await said("open", start("leave", place.path));
    for (const end of ["-wal", "-shm"]) rmSync(place.path + end);
    const other = openSqlite({ path: place.path, life: "command" });
    await other.transaction((tx) =>
      tx.audit.record({ caller: "other", action: "write", refused: false, detail: "", now: 0 }),
    );
    await other.close();
    await old.stdin.end();
    expect([await old.exited, old.signalCode]).toEqual([137, "SIGKILL"]);
    const third = openSqlite({ path: place.path, life: "command" });
    expect((await third.read((tx) => tx.audit.list(10))).map(({ caller }) => caller)).toContain("other");
    await third.close();
  }, 120_000);

  test("a command waits for a turn without an engine to let go of deleted files, and neither loses a commit", async () => {
    using place = tempPlace();
    const turn = await said("open", start("stay", place.path));
    const agent = join(dirname(place.path), "agents", "b1");
    mkdirSync(agent, { recursive: true });
    writeFileSync(join(agent, "turn.pid"), JSON.stringify({ pid: turn.pid }));
    for (const end of ["-wal", "-shm"]) rmSync(place.path + end);
    const other = openSqlite({ path: place.path, life: "command" });
    await other.transaction((tx) =>
      tx.audit.record({ caller: "other", action: "write", refused: false, detail: "", now: 0 }),
    );
    await other.close();
    await turn.stdin.end();
    expect([await turn.exited, turn.signalCode]).toEqual([0, null]);
    const third = openSqlite({ path: place.path, life: "command" });
    const callers = (await third.read((tx) => tx.audit.list(10))).map(({ caller }) => caller);
    await third.close();
    expect(callers.toSorted()).toEqual([String(turn.pid), String(turn.pid), "other"].toSorted());
  }, 120_000);

  test("files that are deleted right before their first use are not made anew while a process uses the old ones", async () => {
    using place = tempPlace();
    const other = await said("open", start("stay", place.path));
    let uses = 0;
    const db = openDatabase(place.path, "write", {
      use: (made) => {
        // As a person may, after it was looked whether the files are there.
        if (uses++ === 0) for (const end of ["-wal", "-shm"]) rmSync(place.path + end);
        // As every connection of ours: the other process has the database for itself while it lets go of its files.
        made.run("PRAGMA busy_timeout = 10000");
        made.query("PRAGMA user_version").get();
      },
    });
    expect(uses).toBe(2);
    db.run("INSERT INTO audit (caller, action, refused, detail, created_at) VALUES ('ours', 'write', 0, '', 0)");
    db.close();
    await other.stdin.end();
    expect([await other.exited, other.signalCode]).toEqual([0, null]);
    const third = openSqlite({ path: place.path, life: "command" });
    const callers = (await third.read((tx) => tx.audit.list(10))).map(({ caller }) => caller);
    await third.close();
    expect(callers.toSorted()).toEqual([String(other.pid), String(other.pid), "ours"].toSorted());
  }, 120_000);

  test("a process that opened the new files before they are taken back loses no commit", async () => {
    using place = tempPlace();
    // The last one to close copies the log into the database: the tables are there without it.
    await openSqlite({ path: place.path, life: "command" }).close();
    const old = await said("open", start("stay", place.path));
    const ready = `${place.path}.ready`;
    const script = `const { Database } = require("bun:sqlite"); const { readFileSync, writeFileSync } = require("node:fs");
      const [path, ready] = process.argv.slice(1);
      const db = new Database(path);
      db.run("PRAGMA busy_timeout = 10000");
      db.query("SELECT count(*) FROM audit").get();
      writeFileSync(ready, "");
      // Until the other process has let go of the database, and may take the files back.
      const isThere = () => readFileSync("/proc/locks", "utf8").includes(" " + process.ppid + " ");
      for (let tries = 0; tries < 2000 && isThere(); tries++) Bun.sleepSync(5);
      db.run("INSERT INTO audit (caller, action, refused, detail, created_at) VALUES ('meanwhile', 'write', 0, '', 0)");
      db.close();`;
    let uses = 0;
    let meanwhile: Bun.Subprocess | undefined;
    const open = () =>
      openDatabase(place.path, "write", {
        use: (made) => {
          const isFirst = uses++ === 0;
          if (isFirst) for (const end of ["-wal", "-shm"]) rmSync(place.path + end);
          made.run("PRAGMA busy_timeout = 10000");
          made.query("PRAGMA user_version").get();
          if (!isFirst) return;
          meanwhile = Bun.spawn([process.execPath, "-e", script, place.path, ready], { stderr: "inherit" });
          for (let tries = 0; tries < 2000 && !existsSync(ready); tries++) Bun.sleepSync(5);
        },
      });
    try {
      open().close();
    } catch (error) {
      expect(error).toHaveProperty("data.kind", "store-index-lost");
    }
    expect(await meanwhile?.exited).toBe(0);
    await old.stdin.end();
    await old.exited;
    const third = openSqlite({ path: place.path, life: "command" });
    expect((await third.read((tx) => tx.audit.list(10))).map(({ caller }) => caller)).toContain("meanwhile");
    await third.close();
  }, 120_000);

  test("a command waits for another process that is writing, then succeeds", async () => {
    using place = tempPlace();
    const store = openSqlite({ path: place.path, life: "command" });
    const holder = await said("held", start("hold", place.path, "2000"));
    await store.transaction((tx) => tx.runs.insert(aRun("r1")));
    expect(existsSync(`${place.path}.let-go`)).toBe(true);
    expect(await holder.exited).toBe(0);
    await store.close();
  });

  test("a long-lived process waits for a writer without stopping its event loop", async () => {
    using place = tempPlace();
    const store = openSqlite({ path: place.path, life: "process" });
    const holder = await said("held", start("hold", place.path));
    let isWritten = false;
    const writing = store
      .transaction((tx) => tx.runs.insert(aRun("r1")))
      .then(() => {
        isWritten = true;
      });
    // Only a loop that goes on lets the holder go; a longer wait than it can take at once is part of it.
    await Bun.sleep(500);
    expect(isWritten).toBe(false);
    await letGo(holder);
    await writing;
    await store.close();
  });

  test("a long-lived reader waits for the process that recovers the log after a kill, without stopping its event loop", async () => {
    using place = tempPlace();
    const store = openSqlite({ path: place.path, life: "process" });
    await store.transaction((tx) => tx.runs.insert(aRun("r1")));
    const recovery = await said("recovering", start("recover", place.path));
    let isRead = false;
    const reading = Promise.all([store.read((tx) => tx.runs.list(5)), store.changeCounter()]).finally(() => {
      isRead = true;
    });
    await Bun.sleep(500);
    expect(isRead).toBe(false);
    await letGo(recovery);
    const [runs, counter] = await reading;
    expect(runs.map(({ id }) => id)).toEqual(["r1"]);
    expect(counter).toBePositive();
    await store.close();
  });

  test("readers are not held up by a writer", async () => {
    using place = tempPlace();
    const store = openSqlite({ path: place.path, life: "command" });
    const holder = await said("held", start("hold", place.path));
    expect(await store.read((tx) => tx.runs.list(1))).toEqual([]);
    await letGo(holder);
    await store.close();
  });
});

describe("a database file that cannot be used", () => {
  test("a file that is no database is corrupt, and stays as it is", async () => {
    using place = tempPlace();
    writeFileSync(place.path, "x".repeat(8192));
    expect(openFailure(place.path)).toMatchObject({ kind: "store-corrupt", path: place.path, backup: null });
    const backup = join(dirname(place.path), "backups", "2026-01-01");
    mkdirSync(backup, { recursive: true });
    expect(openFailure(place.path)).toMatchObject({ backup: null });
    writeFileSync(join(backup, `${basename(place.path)}.gz`), "packed");
    expect(openFailure(place.path)).toMatchObject({ backup: "newest" });
    expect(readFileSync(place.path, "utf8")).toBe("x".repeat(8192));
  });

  test("a damaged page is corrupt when it is read", async () => {
    using place = tempPlace();
    const store = openSqlite({ path: place.path, life: "command" });
    await store.transaction(async (tx) => {
      for (let n = 0; n < 200; n++) await tx.messages.insert(aMessage(`m${n}`, { body: "b".repeat(1000) }));
    });
    await store.close();
    const bytes = readFileSync(place.path);
    bytes.fill(0xff, bytes.length - 20 * 4096);
    writeFileSync(place.path, bytes);
    const damaged = openSqlite({ path: place.path, life: "command" });
    const failure = await rejection(damaged.read((tx) => tx.messages.list({})));
    expect(failure).toHaveProperty("data.kind", "store-corrupt");
    await damaged.close();
  });

  test("a newer schema is refused and not touched", async () => {
    using place = tempPlace();
    await openSqlite({ path: place.path, life: "command" }).close();
    const newer = schemaVersion + 1;
    const db = new Database(place.path);
    db.run(`PRAGMA user_version = ${newer}`);
    db.close();
    const expected = { kind: "store-too-new", found: newer, known: schemaVersion } as const;
    expect(openFailure(place.path)).toMatchObject(expected);
    expect(openFailure(place.path, { readOnly: true })).toMatchObject(expected);
    expect(userVersion(place.path)).toBe(newer);
  });

  test("a directory that is not there, or takes no files, is a failure and stays as it is", () => {
    using place = tempPlace();
    const missing = join(place.path, "..", "missing");
    expect(openFailure(join(missing, "overstory.db"))).toMatchObject({ kind: "store-read-only" });
    expect(existsSync(missing)).toBe(false);
    // Permissions do not bind root; no user can create a file here.
    if (existsSync("/proc/self")) expect(openFailure("/proc/overstory.db")).toMatchObject({ kind: "store-read-only" });
  });
});

describe("reading only", () => {
  test("an open for reading writes nothing, and refuses to", async () => {
    using place = tempPlace();
    const writer = openSqlite({ path: place.path, life: "command" });
    await writer.transaction((tx) => tx.runs.insert(aRun("r1")));
    await writer.close();
    const before = readFileSync(place.path);
    const reader = openSqlite({ path: place.path, life: "command", readOnly: true });
    expect((await reader.read((tx) => tx.runs.list(5))).map((run) => run.id)).toEqual(["r1"]);
    const refused = await rejection(reader.transaction((tx) => tx.runs.insert(aRun("r2"))));
    expect(refused).toHaveProperty("data.kind", "store-read-only");
    await reader.close();
    expect(readFileSync(place.path).equals(before)).toBe(true);
  });

  test("a reader sees what a writer commits while both are open", async () => {
    using place = tempPlace();
    const writer = openSqlite({ path: place.path, life: "command" });
    const reader = openSqlite({ path: place.path, life: "command", readOnly: true });
    await writer.transaction((tx) => tx.runs.insert(aRun("r1")));
    expect(await reader.read((tx) => tx.runs.list(5))).toHaveLength(1);
    await reader.close();
    await writer.close();
  });
});

function tempPlace(): Disposable & { readonly path: string } {
  const dir = mkdtempSync(join(tmpdir(), "ov-store-"));
  return { path: join(dir, "overstory.db"), [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) };
}

function start(...given: readonly string[]) {
  const program = resolve(import.meta.dir, "../../testkit/sqlite-process.ts");
  return Bun.spawn([process.execPath, program, ...given], { stdin: "pipe", stdout: "pipe", stderr: "pipe" });
}

/** Ends what another process does until its input ends. */
async function letGo(child: ReturnType<typeof start>): Promise<void> {
  await child.stdin.end();
  expect(await child.exited).toBe(0);
}

/** Another process that has come as far as this word. */
async function said(word: string, child: ReturnType<typeof start>): Promise<ReturnType<typeof start>> {
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  expect(new TextDecoder().decode(value)).toContain(word);
  reader.releaseLock();
  return child;
}

function openFailure(path: string, options: { readOnly?: boolean } = {}) {
  try {
    void openSqlite({ path, life: "command", ...options }).close();
  } catch (error) {
    if (error instanceof Failure) return error.data;
    throw error;
  }
  throw new Error("the database was opened");
}

function userVersion(path: string): unknown {
  const db = new Database(path, { readonly: true });
  const row = db.query("PRAGMA user_version").get();
  db.close();
  return typeof row === "object" && row !== null && "user_version" in row ? row.user_version : undefined;
}
