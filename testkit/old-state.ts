import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { rebindPaths } from "../src/store/database-files.ts";
import type { TestProject } from "./project.ts";
import { statePath } from "./state.ts";

/** Puts the state of a project back to where earlier versions kept it: in `.overstory/` of the checkout. */
export async function asEarlierVersion(project: TestProject): Promise<void> {
  await project.json("engine", "stop");
  await project.until("nothing ran", async () => project.processes().length === 0);
  const state = statePath(project.root);
  const old = join(project.root, ".overstory");
  const database = join(state, "overstory.db");
  rebindPaths(database, { moved: [{ from: state, to: old }], identityOf: () => undefined });
  const db = new Database(database, { readwrite: true });
  db.run("DELETE FROM project");
  db.close();
  for (const name of ["project.json", "bind.lock", "config"])
    rmSync(join(state, name), { recursive: true, force: true });
  for (const name of readdirSync(state)) {
    const into = join(old, name);
    if (!existsSync(into)) renameSync(join(state, name), into);
    else for (const entry of readdirSync(join(state, name))) renameSync(join(state, name, entry), join(into, entry));
  }
  rmSync(state, { recursive: true });
  mkdirSync(join(old, "run"), { recursive: true });
}
