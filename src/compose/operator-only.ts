import { existsSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../domain/failure.ts";
import { forbiddenToAgents } from "../domain/project/rights.ts";
import type { Refusal } from "../domain/refusal.ts";
import { ancestorsOfThisProcess } from "../host/ancestors.ts";
import type { Store } from "../ports/store.ts";
import { openSqlite } from "../store/sqlite.ts";
import { agentAbove } from "../usecases/identity/agent-above.ts";
import { clockFor, type Environment } from "./project.ts";

/**
 * Refuses what is the operator's alone to whoever speaks for an agent, and to whoever runs inside an agent's process
 * and hides it, which is put on record. For what is changed outside of the store: in it the command channel decides
 * the same.
 */
export async function operatorOnly(dir: string, env: Environment, action: string): Promise<Refusal | undefined> {
  const open = forbiddenToAgents(env, action);
  if (open !== undefined) return open;
  const path = join(dir, "overstory.db");
  // Where nothing was ever stored no agent ever ran.
  if (!existsSync(path)) return undefined;
  try {
    const caller = await hiddenAgent(path);
    if (caller === undefined) return undefined;
    const refusal = { kind: "not-allowed", action, caller, why: "that is for the operator" } as const;
    await withStore(path, { readOnly: false }, (store) =>
      store.transaction((tx) =>
        tx.audit.record({ caller, action, refused: true, detail: JSON.stringify(refusal), now: clockFor(env).now() }),
      ),
    );
    return refusal;
  } catch (error) {
    // A broken store names nobody; the commands that need it tell what is wrong with it. A busy one is to be asked again.
    if (error instanceof Failure && error.data.kind !== "store-busy") return undefined;
    throw error;
  }
}

const hiddenAgent = (path: string): Promise<string | undefined> =>
  withStore(path, { readOnly: true }, (store) => store.read((tx) => agentAbove(tx, ancestorsOfThisProcess())));

async function withStore<T>(
  path: string,
  options: { readonly readOnly: boolean },
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const store = openSqlite({ path, life: "command", ...options });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
