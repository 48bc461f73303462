import { type Agent, hasEnded, newestPerName } from "../../domain/agent/agent.ts";
import { type Capability, isIn } from "../../domain/agent/capability.ts";
import { type FileArea, findOverlaps, type Overlap } from "../../domain/agent/scope.ts";
import { namedIn } from "../../domain/text/long-list.ts";
import type { Tx } from "../../ports/store.ts";
import { fromCaller, post } from "../mail/post.ts";
import type { Context } from "../usecase.ts";
import { descendantsOf } from "./find-agent.ts";

interface AreaOwner {
  readonly capability: Capability;
  readonly parent: Agent | null;
  /** Agents with which it may share files: itself, and those below it. */
  readonly besides?: ReadonlySet<string>;
}

/** Compares with each agent of the run that changes files or leads an area, except the agents above this one. */
export function overlapsWith(
  area: FileArea,
  { capability, parent, besides }: AreaOwner,
  inRun: readonly Agent[],
): readonly Overlap[] {
  if (isIn("readOnly", capability) || area.scope.length + area.shares.length === 0) return [];
  const byName = new Map(inRun.map((agent) => [agent.name, agent]));
  const above = new Set<string>();
  for (
    let next = parent ?? undefined;
    next !== undefined && !above.has(next.name);
    next = byName.get(next.parentName)
  ) {
    above.add(next.name);
  }
  const others = inRun.filter(
    (agent) =>
      !hasEnded(agent) &&
      !above.has(agent.name) &&
      besides?.has(agent.name) !== true &&
      !isIn("readOnly", agent.capability),
  );
  return others.flatMap((agent) => findOverlaps(area, { owner: agent.name, scope: agent.scope, shares: agent.shares }));
}

/**
 * Gives the agent that holds a task the task's new files. If another agent of the run has some of them, the agent keeps
 * its old files. Returns sentences for the caller. An agent at work is shown its new files before it can finish.
 */
export async function changeArea(
  tx: Tx,
  context: Context,
  agent: Agent,
  change: Partial<FileArea>,
): Promise<readonly string[]> {
  const area = { scope: change.scope ?? agent.scope, shares: change.shares ?? agent.shares };
  if (JSON.stringify(area) === JSON.stringify({ scope: agent.scope, shares: agent.shares })) return [];
  const { capability, name } = agent;
  const besides = new Set([name, ...(await descendantsOf(tx, name)).map((below) => below.name)]);
  const parent = (await tx.agents.byName(agent.parentName)) ?? null;
  const inRun = newestPerName(await tx.agents.list({ runId: agent.runId }));
  const overlaps = overlapsWith(area, { capability, parent, besides }, inRun);
  if (overlaps.length > 0) {
    const meeting = overlaps.map(({ wanted, owner, owned }) => `${wanted} may meet what ${owner} changes (${owned})`);
    return [`${name} keeps the files it was started with, because ${namedIn(meeting)}`];
  }
  await tx.agents.setArea(agent.id, area);
  if (hasEnded(agent)) return [`${name} has these files if it is sent to work again`];
  const owned = area.scope.length === 0 ? "no file is yours alone" : `you own ${area.scope.join(", ")}`;
  await post(tx, context, {
    ...fromCaller(context.caller),
    runId: agent.runId,
    address: name,
    recipients: [{ name, wake: false }],
    subject: "the files of your task changed",
    body: `From now on ${owned}${area.shares.length === 0 ? "" : `, and you share ${area.shares.join(", ")}`}.`,
    type: "status",
    priority: "normal",
  });
  return [`${name}, which holds it, has these files from now on, and is told`];
}
