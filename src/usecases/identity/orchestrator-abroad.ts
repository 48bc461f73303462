import { isOrchestratorMark } from "../../domain/process/process.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Store } from "../../ports/store.ts";
import { identify, type ProcessSight } from "./identify.ts";

export interface AbroadTerms {
  readonly token: string;
  readonly sight: ProcessSight;
  readonly ids: Ids;
  /** The store of the project that gave the token out; undefined where it has none. */
  openHome(): Store | undefined;
}

/**
 * A token is valid in the project that gave it out. In another repository an orchestrator acts for the operator, who
 * sent it there; every other token is refused. Does that project know the holder of this token as a living orchestrator?
 * An agent could write a database that says so. It cannot write the mark of this process, so the mark must say so too.
 */
export async function isOrchestratorAbroad({ token, sight, ids, openHome }: AbroadTerms): Promise<boolean> {
  if (!isOrchestratorMark(sight.mark())) return false;
  const store = openHome();
  if (store === undefined) return false;
  try {
    const shown = { token, sight, thoroughly: true, action: "act in another project" };
    const caller = await store.read((tx) => identify(tx, ids, shown));
    return caller.ok && caller.value.kind === "agent" && caller.value.capability === "orchestrator";
  } finally {
    await store.close();
  }
}
