import { existsSync } from "node:fs";
import { isOrchestratorMark } from "../domain/process/process.ts";
import { randomIds } from "../host/ids.ts";
import { databaseIn, stateDir } from "../host/project-place.ts";
import { openSqlite } from "../store/sqlite.ts";
import { identify } from "../usecases/identity/identify.ts";
import { thisProcess } from "./project.ts";

/**
 * Does the project at `home` know the holder of this token as a living orchestrator? An agent could write a database
 * that says so. It cannot write the mark of this process, so the mark must say so too.
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
