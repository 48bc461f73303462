import { hasEnded } from "../../domain/agent/agent.ts";
import { type Collision, collisionMail, collisionsToTell } from "../../domain/merge/radar.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../events/record.ts";
import type { Context } from "../usecase.ts";
import type { LiveBranch } from "./live-branches.ts";
import { notify } from "./notify.ts";

/**
 * Tells the owners of two branches, and those they answer to, that the branches collide; once for each
 * file and owner, whatever is committed or lands later. Answers whether anything was said.
 */
export async function warnOfCollision(
  tx: Tx,
  context: Context,
  collision: Collision,
  owners: readonly LiveBranch[],
): Promise<boolean> {
  const { a, b, files } = collision;
  let isNew = false;
  for (const { branch, file } of collisionsToTell(collision)) {
    isNew = (await tx.radar.warnOnce(branch, branch, context.ids.digest(file), context.now)) || isNew;
  }
  if (!isNew) return false;
  const agents = owners.filter(({ branch }) => branch === a.branch || branch === b.branch).map(({ agent }) => agent);
  const names = agents.flatMap((agent) => (hasEnded(agent) ? [agent.parentName] : [agent.name, agent.parentName]));
  const runId = agents[0]?.runId ?? null;
  await notify(tx, context, names, { ...collisionMail(collision), type: "status", priority: "normal", runId });
  const data = {
    branches: [a.branch, b.branch],
    agents: [a.agentName, b.agentName],
    commits: [a.commit, b.commit],
    files,
  };
  const about = { source: "engine", runId, agentName: agents[0]?.name ?? null } as const;
  await record(tx, context.now, { ...about, type: "merge_radar", level: "warn", data });
  return true;
}
