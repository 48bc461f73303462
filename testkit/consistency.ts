import type { Inconsistency } from "../src/domain/consistency/finding.ts";
import { inconsistencies } from "../src/domain/consistency/invariants.ts";
import { surveyProject } from "../src/host/doctor/survey.ts";
import { engineContact } from "../src/host/engine-contact/caller.ts";
import { linuxProcesses } from "../src/host/processes.ts";
import { databaseIn, hasDatabase, stateDir } from "../src/host/project-place.ts";
import { openSqlite } from "../src/store/sqlite.ts";

/** The invariant checker of `ov doctor`, on the project at `root`, from outside of the program. Changes nothing. */
export async function findInconsistencies(root: string): Promise<readonly Inconsistency[]> {
  const state = stateDir(root);
  const store = hasDatabase(state)
    ? openSqlite({ path: databaseIn(state), life: "command", readOnly: true })
    : undefined;
  const engine = engineContact({ state, engine: [], env: {}, processes: linuxProcesses });
  const terms = { place: { root, state }, processes: linuxProcesses, engine, now: Date.now() };
  try {
    const rows = store === undefined ? null : await store.read((tx) => tx.consistency.read());
    return inconsistencies(await surveyProject(terms, rows));
  } finally {
    await store?.close();
  }
}

/** The same as lines, for a test that expects none. */
export const brokenInvariants = async (root: string): Promise<readonly string[]> =>
  (await findInconsistencies(root)).map(({ key, says }) => `${key}: ${says}`);
