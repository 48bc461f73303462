import { forbiddenToAgents } from "../../domain/caller/caller.ts";
import { Failure } from "../../domain/failure.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Store, Tx } from "../../ports/store.ts";
import { agentAround, identify, type ProcessSight } from "./identify.ts";

/** Facts about the caller that need no settings of the project: these may be broken or missing. */
export interface OperatorCheck {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly sight: ProcessSight;
  readonly ids: Ids;
  readonly clock: Clock;
  /** Undefined where nothing was ever stored. */
  readonly open: (options: { readonly readOnly: boolean }) => Store | undefined;
}

/**
 * Refuses an operator's action to a caller that speaks for an agent, and to a caller that runs inside an agent's
 * process and hides it; both are put on record. For changes outside of the store: in it the command channel decides the
 * same.
 */
export async function operatorOnly(check: OperatorCheck, action: string): Promise<Refusal | undefined> {
  const { env, sight, open, clock } = check;
  // Where nothing was ever stored the owner of a token is not known; a mark says enough.
  const unknown = (): Refusal | undefined => forbiddenToAgents({ env, isMarked: sight.mark() !== undefined }, action);
  try {
    const found = await withStore(open({ readOnly: true }), (store) => store.read((tx) => whoAsks(tx, check, action)));
    if (found === "no store") return unknown();
    if (found === "operator") return undefined;
    const refusal: Refusal | undefined =
      found === undefined ? unknown() : { kind: "not-allowed", action, caller: found, why: "that is for the operator" };
    const record = { caller: found ?? "unknown token", action, refused: true, detail: JSON.stringify(refusal) };
    await withStore(open({ readOnly: false }), (store) =>
      store.transaction((tx) => tx.audit.record({ ...record, now: clock.now() })),
    );
    return refusal;
  } catch (error) {
    // A broken store names no caller; commands that need the store say what is wrong. A busy store is asked again.
    if (error instanceof Failure && !passing.includes(error.data.kind)) return unknown();
    throw error;
  }
}

const passing: readonly string[] = ["store-busy", "store-index-lost"];

/** By token and by process, never by a name in the environment. Undefined: the token is not known. */
async function whoAsks(tx: Tx, { env, sight, ids }: OperatorCheck, action: string): Promise<string | undefined> {
  const caller = await identify(tx, ids, { token: env.OVERSTORY_TOKEN, sight, thoroughly: true, action });
  return caller.ok ? caller.value.name : agentAround(tx, ids, sight);
}

async function withStore<T>(store: Store | undefined, work: (store: Store) => Promise<T>): Promise<T | "no store"> {
  if (store === undefined) return "no store";
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
