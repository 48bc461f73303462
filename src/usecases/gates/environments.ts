import type { Agent } from "../../domain/agent/agent.ts";
import type { Tx } from "../../ports/store.ts";
import { landingsSincePromotion } from "../merge/landing/unpromoted.ts";

/** Work that gates look at: whose it is and what run it belongs to, as far as that is known. */
export interface GatedWork {
  readonly agentName: string | null;
  readonly runId?: string | null;
}

/**
 * The files with variables for the gates of some work, most wanted first: the file captured where the work was given to
 * its agent, else the file of the run's coordinator, else of any agent of the run, latest first. The first file that
 * still exists counts; `isWanted` says how long a file stays. In a train the file of the first entry comes first.
 * Entries of one run mostly share a file, because children inherit it.
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
 * Must a file with variables stay when the agents of one name no longer need it? Yes while another agent with the same
 * file is not cleaned up, or landed work of its run waits for the promotion, which runs the gates again.
 */
export async function isWanted(tx: Tx, envFile: string, exceptName: string): Promise<boolean> {
  if (await tx.agents.usesEnvironment(envFile, exceptName)) return true;
  const runs = new Set((await tx.agents.list({ envFile })).map(({ runId }) => runId));
  for (const id of runs) {
    const landing = (await tx.runs.get(id))?.landingBranch ?? null;
    if (landing !== null && (await landingsSincePromotion(tx, landing)).length > 0) return true;
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
