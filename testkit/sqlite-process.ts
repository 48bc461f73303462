import { Database } from "bun:sqlite";
import { writeFileSync } from "node:fs";
import { failureOf } from "../src/domain/failure.ts";
import type { Store } from "../src/ports/store.ts";
import { openSqlite } from "../src/store/sqlite.ts";
import { seemToRecover } from "./wal-recovery.ts";

/**
 * A second process for tests of the embedded database.
 *
 *   open <path> <at>   opens it as a command does at that moment (ms UTC) and writes once
 *   hold <path> [ms]   takes the writer's lock, says `held`, and keeps it that long, or until its input ends; it makes
 *                      the file <path>.let-go right before it lets go
 *   late <path>        opens it, says `open`, and writes once when its input ends; says why it could not
 *   leave <path>       writes once, says `open`, and closes it when its input ends
 *   stay <path>        writes once, says `open`, looks after its files by itself, and writes once more when its input ends
 *   recover <path>     says `recovering`, and seems to recover the log until its input ends
 */
async function main([verb, path = "", number]: readonly string[]): Promise<void> {
  if (verb === "hold") return hold(path, () => (number === undefined ? inputEnd() : Bun.sleep(Number(number))));
  if (verb === "late") return late(path);
  if (verb === "leave") return leave(path);
  if (verb === "stay") return stay(path);
  if (verb === "recover") return seemToRecover(path, inputEnd);
  await Bun.sleep(Number(number) - Date.now());
  const store = openSqlite({ path, life: "command" });
  await writeOnce(store);
  await store.close();
}

const writeOnce = (store: Store): Promise<void> =>
  store.transaction((tx) =>
    tx.audit.record({ caller: String(process.pid), action: "open", refused: false, detail: "", now: Date.now() }),
  );

async function late(path: string): Promise<void> {
  const store = openSqlite({ path, life: "process", isWatched: true });
  console.log("open");
  await inputEnd();
  await writeOnce(store).catch((error) => console.log(failureOf(error).kind));
  await store.close();
  process.exit(0);
}

async function leave(path: string): Promise<void> {
  const store = openSqlite({ path, life: "process", isWatched: true });
  await writeOnce(store);
  console.log("open");
  await inputEnd();
  await store.close();
}

async function stay(path: string): Promise<void> {
  const store = openSqlite({ path, life: "process" });
  await writeOnce(store);
  console.log("open");
  await inputEnd();
  await writeOnce(store);
  await store.close();
}

async function hold(path: string, end: () => Promise<void>): Promise<void> {
  const db = new Database(path);
  db.run("PRAGMA busy_timeout = 10000");
  db.run("BEGIN IMMEDIATE");
  console.log("held");
  await end();
  writeFileSync(`${path}.let-go`, "");
  db.run("COMMIT");
  db.close();
}

async function inputEnd(): Promise<void> {
  await Bun.stdin.text();
}

void main(process.argv.slice(2));
