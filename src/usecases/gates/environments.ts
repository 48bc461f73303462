import type { Tx } from "../../ports/store.ts";

/** Work that gates look at: whose it is and what run it belongs to, as far as that is known. */
export interface GatedWork {
  readonly agentName: string | null;
  readonly runId?: string | null;
}

/**
 * Where the variables lie that the gates of some work get, most wanted first: what was captured from the shell of
 * whoever gave the work to its agent, else for the coordinator of the run. The first file that is still there counts:
 * an agent's goes with its release, unless others were given the same. In a train the first entry's comes first; entries
 * of one run share a file as a rule, because children inherit it.
 */
export async function environmentsOf(tx: Tx, work: readonly GatedWork[]): Promise<readonly string[]> {
  const owners = await filesOf(tx, new Set(work.map(({ agentName }) => agentName)));
  const runs = new Set([...work.map(({ runId }) => runId ?? null), ...owners.runs]);
  const coordinators = new Set<string | null>();
  for (const id of runs) {
    const run = id === null ? undefined : await tx.runs.get(id);
    coordinators.add(run?.coordinatorName ?? null);
  }
  return [...new Set([...owners.files, ...(await filesOf(tx, coordinators)).files])];
}

interface Found {
  readonly files: readonly string[];
  readonly runs: readonly string[];
}

async function filesOf(tx: Tx, names: ReadonlySet<string | null>): Promise<Found> {
  const files: string[] = [];
  const runs: string[] = [];
  for (const name of names) {
    const agent = name === null ? undefined : await tx.agents.byName(name);
    if (agent === undefined) continue;
    runs.push(agent.runId);
    if (agent.envFile !== null) files.push(agent.envFile);
  }
  return { files, runs };
}
