import { Failure } from "../domain/failure.ts";
import { forbiddenToAgents } from "../domain/project/rights.ts";
import type { Refusal } from "../domain/refusal.ts";
import { randomIds } from "../host/ids.ts";
import { databaseIn, hasDatabase } from "../host/project-place.ts";
import type { Store, Tx } from "../ports/store.ts";
import { openSqlite } from "../store/sqlite.ts";
import { agentAround, identify } from "../usecases/identity/identify.ts";
import { clockFor, type Environment, isMarked, thisProcess } from "./project.ts";

/**
 * Refuses what is the operator's alone to whoever speaks for an agent, and to whoever runs inside an agent's process
 * and hides it; both are put on record. For what is changed outside of the store: in it the command channel decides
 * the same.
 */
export async function operatorOnly(state: string, env: Environment, action: string): Promise<Refusal | undefined> {
  const path = databaseIn(state);
  // Where nothing was ever stored nobody can tell whose token this is; a mark says enough.
  const unknown = (): Refusal | undefined => forbiddenToAgents({ env, isMarked: isMarked() }, action);
  if (!hasDatabase(state)) return unknown();
  try {
    const found = await withStore(path, { readOnly: true }, (store) => store.read((tx) => whoAsks(tx, env, action)));
    if (found === "operator") return undefined;
    const refusal: Refusal | undefined =
      found === undefined ? unknown() : { kind: "not-allowed", action, caller: found, why: "that is for the operator" };
    const record = { caller: found ?? "unknown token", action, refused: true, detail: JSON.stringify(refusal) };
    await withStore(path, { readOnly: false }, (store) =>
      store.transaction((tx) => tx.audit.record({ ...record, now: clockFor(env).now() })),
    );
    return refusal;
  } catch (error) {
    // A broken store names nobody; the commands that need it tell what is wrong with it. A busy one is to be asked again.
    if (error instanceof Failure && error.data.kind !== "store-busy") return unknown();
    throw error;
  }
}

/** By token and by process, never by a name in the environment. Undefined: somebody whose token nobody knows. */
async function whoAsks(tx: Tx, env: Environment, action: string): Promise<string | undefined> {
  const shown = { token: env.OVERSTORY_TOKEN, sight: thisProcess, thoroughly: true, action };
  const caller = await identify(tx, randomIds, shown);
  return caller.ok ? caller.value.name : agentAround(tx, randomIds, thisProcess);
}

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
