import { existsSync } from "node:fs";
import { isOrchestratorMark } from "../domain/process/mark.ts";
import { randomIds } from "../host/ids.ts";
import { databaseIn, stateDir } from "../host/project-place.ts";
import { openSqlite } from "../store/sqlite.ts";
import { identify } from "../usecases/identity/identify.ts";
import { thisProcess } from "./project.ts";

/**
 * Does the project that gave this token know its holder, which we are, as an orchestrator that lives? Anybody can write a
 * database in which they are one, so the mark of this process, which nobody can write, must say it too.
 */
export async function isOrchestrator(home: string, token: string): Promise<boolean> {
  if (!isOrchestratorMark(thisProcess.mark())) return false;
  const path = databaseIn(stateDir(home));
  if (!existsSync(path)) return false;
  const store = openSqlite({ path, life: "command", readOnly: true });
  try {
    const shown = { token, sight: thisProcess, thoroughly: true, action: "act in another project" };
    const caller = await store.read((tx) => identify(tx, randomIds, shown));
    return caller.ok && caller.value.kind === "agent" && caller.value.capability === "orchestrator";
  } finally {
    await store.close();
  }
}
