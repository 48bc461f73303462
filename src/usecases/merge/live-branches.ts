import type { Agent } from "../../domain/agent/agent.ts";
import type { RadarHead } from "../../domain/merge/radar.ts";
import type { Tx } from "../../ports/store.ts";
import { newestPerName } from "../status/newest-per-name.ts";
import type { Context } from "../usecase.ts";
import { targetOf } from "./landing-target.ts";

/** The work of an agent that is neither landed nor given up, as it was when its last turn ended. */
export interface LiveBranch extends RadarHead {
  readonly agent: Agent;
}

export async function liveBranches(tx: Tx, context: Pick<Context, "settings">): Promise<readonly LiveBranch[]> {
  const targets = new Map<string, string>();
  const found: LiveBranch[] = [];
  for (const agent of newestPerName(await tx.agents.ahead())) {
    const { runId, branch, headCommit: commit, name: agentName } = agent;
    if (branch === null || commit === null) continue;
    const landsOn = targets.get(runId) ?? (await targetOf(tx, context, runId));
    targets.set(runId, landsOn);
    found.push({ agent, agentName, branch, commit, landsOn });
  }
  return found;
}
