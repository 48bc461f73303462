import type { Agent } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import type { Tx } from "../../ports/store.ts";
import { newestPerName } from "../status/newest-per-name.ts";

type Implementer = Agent & { readonly branch: string };

/** Who implemented a task last, with the branch that holds it: what somebody slung on the same task is to look at. */
export async function newestWorkOn(tx: Tx, taskId: string): Promise<Implementer | undefined> {
  const implementers = newestPerName(await tx.agents.list({ taskId })).filter(hasWork);
  return implementers.toSorted((a, b) => b.startedAt - a.startedAt)[0];
}

const hasWork = (agent: Agent): agent is Implementer =>
  isIn("implementation", agent.capability) && agent.branch !== null;
