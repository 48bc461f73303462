import type { Agent } from "../../domain/agent/agent.ts";
import type { WorkBehind } from "../../domain/mail/letter.ts";
import type { Message } from "../../domain/mail/types.ts";
import type { Tx } from "../../ports/store.ts";

export interface Reporter {
  readonly agent: Agent | undefined;
  /** What the store knows; it learns it when a turn ends, so during one it knows nothing that is true. */
  readonly work: WorkBehind;
}

/** Who sent an unverified report, and what its last look at the worktree found. */
export async function reporterOf(tx: Tx, message: Message): Promise<Reporter> {
  const { fromAgentId, fromAgent } = message;
  // Mail that was handed on has lost its incarnation; the latest of the name is the one that reported.
  const agent = fromAgentId === null ? await tx.agents.byName(fromAgent) : await tx.agents.get(fromAgentId);
  if (agent === undefined || agent.worktreePath === null || agent.worktreeKind === "root") {
    return { agent: undefined, work: { kind: "none" } };
  }
  if ((await tx.turns.runningFor(agent.id)) !== undefined) {
    const why = "its turn is still running, and nobody has looked at its worktree yet";
    return { agent, work: { kind: "unknown", why } };
  }
  const { headCommit: head, baseCommit: base, ahead, dirty } = agent;
  if (head === null) return { agent, work: { kind: "unknown", why: "its worktree could not be read" } };
  return { agent, work: { kind: "seen", when: "turn-ended", facts: { head, base, ahead, dirty } } };
}
