import type { Agent } from "../../domain/agent/agent.ts";

/** Of several incarnations of a name the latest, in the order given. */
export function newestPerName(agents: readonly Agent[]): Agent[] {
  const newest = new Map<string, Agent>();
  for (const agent of agents) {
    const known = newest.get(agent.name);
    if (known === undefined || known.generation < agent.generation) newest.set(agent.name, agent);
  }
  return [...newest.values()];
}
