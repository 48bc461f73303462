import type { Agent } from "../../domain/agent/agent.ts";
import { commitsOf, pairsOf, type RadarHead } from "../../domain/merge/radar.ts";
import type { Tx } from "../../ports/store.ts";

export interface KnownCollision {
  readonly agents: readonly [string, string];
  readonly files: readonly string[];
}

/** Collisions between the work of these agents that somebody has found already; nothing is looked at for it. */
export async function knownCollisions(tx: Tx, agents: readonly Agent[]): Promise<readonly KnownCollision[]> {
  const heads = agents.flatMap(({ name, branch, headCommit, ahead, releasedAt }): RadarHead[] =>
    branch === null || headCommit === null || ahead === 0 || releasedAt !== null
      ? []
      : [{ branch, commit: headCommit, agentName: name, landsOn: "" }],
  );
  const found: KnownCollision[] = [];
  for (const pair of pairsOf(heads)) {
    const { ours, theirs } = commitsOf(pair);
    const known = await tx.radar.pair(ours, theirs);
    if (known?.outcome !== "conflict") continue;
    found.push({ agents: [pair.a.agentName ?? "", pair.b.agentName ?? ""], files: known.files });
  }
  return found;
}
