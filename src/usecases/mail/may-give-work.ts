import type { Agent } from "../../domain/agent/agent.ts";
import { canonical } from "../../domain/agent/capability.ts";
import type { Tx } from "../../ports/store.ts";
import { mayReview } from "../completions/role-facts.ts";
import { answersFor } from "../merge/branch-owner.ts";

/** May this sender send that agent back to work? Who answers for it may, and a reviewer that was given its branch. */
export async function mayGiveWork(tx: Tx, sender: Agent, agent: Agent): Promise<boolean> {
  if (await answersFor(tx, agent, sender.name)) return true;
  if (canonical(sender.capability) !== "reviewer" || agent.branch === null) return false;
  return (await mayReview(tx, sender)).includes(agent.branch);
}
