import type { Agent } from "../../domain/agent/agent.ts";
import { hasEnded, newestPerName } from "../../domain/agent/agent.ts";
import { canonical, isIn } from "../../domain/agent/capability.ts";
import { statusOf } from "../../domain/agent/status.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { invalid, notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { isLastReviewer } from "../../domain/run/run.ts";
import { namedIn } from "../../domain/text/long-list.ts";
import type { Tx } from "../../ports/store.ts";

/** The agent of this name: its live incarnation, else its latest. The refusal names similar names. */
export async function findAgent(tx: Tx, name: string): Promise<Result<Agent, Refusal>> {
  const typed = name.trim().toLowerCase();
  if (typed === "") return no(invalid("agent", "must not be empty"));
  const agent = await tx.agents.byName(typed);
  return agent === undefined ? no(notFound("agent", name, nearest(typed, await tx.agents.names()))) : ok(agent);
}

/**
 * The same, if the caller may decide about its life: a person about every agent, a lead or coordinator about those it
 * answers for, no agent about itself. `verb` completes "may not ...".
 */
export async function findSubordinate(
  tx: Tx,
  caller: Caller,
  name: string,
  verb: string,
): Promise<Result<Agent, Refusal>> {
  const agent = await findAgent(tx, name);
  if (!agent.ok || caller.kind !== "agent") return agent;
  const refused = { kind: "not-allowed", action: `${verb} ${agent.value.name}`, caller: caller.name } as const;
  if (!heads.includes(canonical(caller.capability))) return no({ ...refused, why: "it leads no agents" });
  if (!(await isBelow(tx, agent.value, caller.name))) {
    return no({ ...refused, why: "an agent decides only about its own children and theirs" });
  }
  return (await readsTheWhole(tx, agent.value)) ? no({ ...refused, why: whyNotTheLastReviewer }) : agent;
}

/** Is the agent at work on the last review of its run? */
export async function readsTheWhole(tx: Tx, agent: Agent): Promise<boolean> {
  const run = await tx.runs.get(agent.runId);
  return run !== undefined && isLastReviewer(run, agent) && !hasEnded(agent);
}

export const whyNotTheLastReviewer =
  "it reads the whole run, and nobody whose work is read has a say in it; the operator may stop it";

const heads: readonly string[] = ["lead", "coordinator"];

/** Is this name an ancestor of the agent? */
export async function isBelow(tx: Tx, agent: Agent, name: string): Promise<boolean> {
  const seen = new Set<string>();
  let above: Agent | undefined = agent;
  while (above !== undefined && !seen.has(above.name)) {
    if (above.parentName === name) return true;
    seen.add(above.name);
    above = await tx.agents.byName(above.parentName);
  }
  return false;
}

/** All agents below the agent, the ended included, each after all that are below it. */
export async function descendantsOf(tx: Tx, name: string): Promise<Agent[]> {
  const found: Agent[] = [];
  const seen = new Set([name]);
  const visit = async (parent: string): Promise<void> => {
    for (const child of newestPerName(await tx.agents.list({ parentName: parent }))) {
      if (seen.has(child.name)) continue;
      seen.add(child.name);
      await visit(child.name);
      found.push(child);
    }
  };
  await visit(name);
  return found;
}

type Implementer = Agent & { readonly branch: string };

/** The agent that implemented a task last, with its branch. Another agent on the same task looks at that branch. */
export async function newestWorkOn(tx: Tx, taskId: string): Promise<Implementer | undefined> {
  const implementers = newestPerName(await tx.agents.list({ taskId })).filter(hasWork);
  return implementers.toSorted((a, b) => b.startedAt - a.startedAt)[0];
}

const hasWork = (agent: Agent): agent is Implementer =>
  isIn("implementation", agent.capability) && agent.branch !== null;

/** The agents that answer to this one, each with how it stands, for its successor. Undefined: there are none. */
export async function childrenInWords(tx: Tx, { name, runId }: Agent): Promise<string | undefined> {
  const children = newestPerName(await tx.agents.list({ parentName: name, runId }));
  return children.length === 0
    ? undefined
    : namedIn(children.map((child) => `${child.name} (${statusOf(child).words})`));
}
