import type { Agent } from "../../domain/agent/agent.ts";
import type { Tx } from "../../ports/store.ts";
import { landingsSincePromotion } from "../merge/unpromoted.ts";

/** Work that gates look at: whose it is and what run it belongs to, as far as that is known. */
export interface GatedWork {
  readonly agentName: string | null;
  readonly runId?: string | null;
}

/**
 * Where the variables lie that the gates of some work get, most wanted first: what was captured from the shell of
 * whoever gave the work to its agent, else for the coordinator of the run, else for any agent of the run, latest first.
 * The first file that is still there counts; `isWanted` says how long a file stays. In a train the first entry's comes
 * first; entries of one run share a file as a rule, because children inherit it.
 */
export async function environmentsOf(tx: Tx, work: readonly GatedWork[]): Promise<readonly string[]> {
  const owners = await filesOf(tx, new Set(work.map(({ agentName }) => agentName)));
  const runs = new Set([...work.map(({ runId }) => runId ?? null), ...owners.runs]);
  const coordinators = new Set<string | null>();
  const others: Agent[] = [];
  for (const id of runs) {
    if (id === null) continue;
    coordinators.add((await tx.runs.get(id))?.coordinatorName ?? null);
    others.push(...(await tx.agents.list({ runId: id })).toReversed());
  }
  const inherited = (await filesOf(tx, coordinators)).files;
  const ofOthers = others.map(({ envFile }) => envFile).filter((file) => file !== null);
  return [...new Set([...owners.files, ...inherited, ...ofOthers])];
}

/**
 * Whether a file with variables has to stay when the agents of one name are done with it: another agent that was given
 * it is not cleaned up yet, or work of its run has landed and waits for the promotion, which runs the gates again.
 */
export async function isWanted(tx: Tx, envFile: string, exceptName: string): Promise<boolean> {
  if (await tx.agents.usesEnvironment(envFile, exceptName)) return true;
  const runs = new Set((await tx.agents.list({ envFile })).map(({ runId }) => runId));
  for (const id of runs) {
    const landing = (await tx.runs.get(id))?.landingBranch ?? null;
    if (landing !== null && (await landingsSincePromotion(tx, landing)).landings > 0) return true;
  }
  return false;
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
