import { existsSync } from "node:fs";
import { Failure } from "../domain/failure.ts";
import { forbiddenToAgents } from "../domain/project/rights.ts";
import type { Refusal } from "../domain/refusal.ts";
import { ancestorsOfThisProcess } from "../host/ancestors.ts";
import { randomIds } from "../host/ids.ts";
import { databaseIn } from "../host/project-place.ts";
import type { Store, Tx } from "../ports/store.ts";
import { openSqlite } from "../store/sqlite.ts";
import { agentAbove } from "../usecases/identity/agent-above.ts";
import { identify } from "../usecases/identity/identify.ts";
import { clockFor, type Environment } from "./project.ts";

/**
 * Refuses what is the operator's alone to whoever speaks for an agent, and to whoever runs inside an agent's process
 * and hides it; both are put on record. For what is changed outside of the store: in it the command channel decides
 * the same.
 */
export async function operatorOnly(state: string, env: Environment, action: string): Promise<Refusal | undefined> {
  const path = databaseIn(state);
  // Where nothing was ever stored no agent ever ran, and nobody can tell whose token this is.
  if (!existsSync(path)) return forbiddenToAgents(env, action);
  try {
    const found = await withStore(path, { readOnly: true }, (store) => store.read((tx) => whoAsks(tx, env)));
    if (found === "operator") return undefined;
    const refusal = refusalTo(found, env, action);
    const record = { caller: found ?? "unknown token", action, refused: true, detail: JSON.stringify(refusal) };
    await withStore(path, { readOnly: false }, (store) =>
      store.transaction((tx) => tx.audit.record({ ...record, now: clockFor(env).now() })),
    );
    return refusal;
  } catch (error) {
    // A broken store names nobody; the commands that need it tell what is wrong with it. A busy one is to be asked again.
    if (error instanceof Failure && error.data.kind !== "store-busy") return forbiddenToAgents(env, action);
    throw error;
  }
}

/** By token and by process, never by a name in the environment. Undefined: somebody whose token nobody knows. */
async function whoAsks(tx: Tx, env: Environment): Promise<string | undefined> {
  const caller = await identify(tx, randomIds, env.OVERSTORY_TOKEN);
  if (!caller.ok) return undefined;
  const { kind, name } = caller.value;
  return kind === "agent" ? name : ((await agentAbove(tx, ancestorsOfThisProcess())) ?? "operator");
}

function refusalTo(agent: string | undefined, env: Environment, action: string): Refusal | undefined {
  if (agent === undefined) return forbiddenToAgents(env, action);
  return { kind: "not-allowed", action, caller: agent, why: "that is for the operator" };
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
