import { existsSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../domain/failure.ts";
import { forbiddenToAgents } from "../domain/project/rights.ts";
import type { Refusal } from "../domain/refusal.ts";
import { ancestorsOfThisProcess } from "../host/ancestors.ts";
import { openSqlite } from "../store/sqlite.ts";
import { agentAbove } from "../usecases/identity/agent-above.ts";
import { clockFor, type Environment } from "./project.ts";

/**
 * Refuses what is the operator's alone to whoever speaks for an agent, and to whoever runs inside an agent's process
 * and hides it; the attempt is put on record. For what is changed outside of the store: in it the command channel
 * decides the same.
 */
export async function operatorOnly(dir: string, env: Environment, action: string): Promise<Refusal | undefined> {
  const path = join(dir, "overstory.db");
  // Where nothing was ever stored no agent ever ran.
  if (!existsSync(path)) return forbiddenToAgents(env, action);
  try {
    const refusal = forbiddenToAgents(env, action) ?? (await hiddenAgent(path, action));
    if (refusal?.kind === "not-allowed") await record(path, refusal, clockFor(env).now());
    return refusal;
  } catch (error) {
    // A store that cannot be used names nobody; the commands that need it tell what is wrong with it.
    if (error instanceof Failure) return forbiddenToAgents(env, action);
    throw error;
  }
}

async function hiddenAgent(path: string, action: string): Promise<Refusal | undefined> {
  const store = openSqlite({ path, life: "command", readOnly: true });
  try {
    const caller = await store.read((tx) => agentAbove(tx, ancestorsOfThisProcess()));
    if (caller === undefined) return undefined;
    return { kind: "not-allowed", action, caller, why: "that is for the operator" };
  } finally {
    await store.close();
  }
}

async function record(path: string, refusal: Extract<Refusal, { kind: "not-allowed" }>, now: number): Promise<void> {
  const store = openSqlite({ path, life: "command" });
  const { caller, action } = refusal;
  try {
    const entry = { caller, action, refused: true, detail: JSON.stringify(refusal), now };
    await store.transaction((tx) => tx.audit.record(entry));
  } finally {
    await store.close();
  }
}
