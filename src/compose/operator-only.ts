import type { Refusal } from "../domain/refusal.ts";
import { randomIds } from "../host/ids.ts";
import { databaseIn, hasDatabase } from "../host/project-place.ts";
import { openSqlite } from "../store/sqlite.ts";
import { operatorOnly as check } from "../usecases/identity/operator-only.ts";
import { clockFor, type Environment, thisProcess } from "./project.ts";

/** Refuses what is the operator's alone to others, by the store in this state directory and by this process. */
export const operatorOnly = (state: string, env: Environment, action: string): Promise<Refusal | undefined> =>
  check(
    {
      env,
      sight: thisProcess,
      ids: randomIds,
      clock: clockFor(env),
      open: (options) =>
        hasDatabase(state) ? openSqlite({ path: databaseIn(state), life: "command", ...options }) : undefined,
    },
    action,
  );
