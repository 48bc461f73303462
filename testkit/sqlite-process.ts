import { Database } from "bun:sqlite";
import { openSqlite } from "../src/store/sqlite.ts";
import { seemToRecover } from "./wal-recovery.ts";

/**
 * A second process for tests of the embedded database.
 *
 *   open <path> <at>   opens it as a command does at that moment (ms UTC) and writes once
 *   hold <path> <ms>   takes the writer's lock, says `held`, and keeps it that long
 *   recover <path> <ms>   says `recovering`, and seems to recover the log for that long
 */
async function main([verb, path = "", number = "0"]: readonly string[]): Promise<void> {
  if (verb === "hold") return hold(path, Number(number));
  if (verb === "recover") return seemToRecover(path, Number(number));
  await Bun.sleep(Number(number) - Date.now());
  const store = openSqlite({ path, life: "command" });
  await store.transaction((tx) =>
    tx.audit.record({ caller: String(process.pid), action: "open", refused: false, detail: "", now: Date.now() }),
  );
  await store.close();
}

async function hold(path: string, ms: number): Promise<void> {
  const db = new Database(path);
  db.run("BEGIN IMMEDIATE");
  console.log("held");
  await Bun.sleep(ms);
  db.run("COMMIT");
  db.close();
}

void main(process.argv.slice(2));
