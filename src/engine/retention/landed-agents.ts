import type { Agent } from "../../domain/agent/agent.ts";
import { openMergeStatuses } from "../../domain/merge/entry.ts";
import type { Run } from "../../domain/run/run.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../../usecases/events/record.ts";
import type { EnginePorts } from "../ports.ts";
import type { Prune } from "./prune.ts";

type Ports = Pick<EnginePorts, "store" | "clock" | "worktrees" | "merging" | "report"> & {
  readonly settings: Pick<EnginePorts["settings"], "canonicalBranch">;
};

/** Each name takes a few git processes and a transaction. A pass must not keep an engine from its work. */
const mostNames = 100;

/**
 * Forgets agents whose work has long been in the branch it was meant for: their rows, their landed merges with the
 * evidence, and their branches. An agent with one commit that its target does not have stays, with all of that.
 */
export const pruneLandedAgents: Prune<Ports> = async (ports, { before }) => {
  const { store, clock } = ports;
  const what = "landed agents";
  const { saved, free, last } = await store.read(async (tx) => {
    const place = await tx.oldRows.place(what);
    const look = await tx.oldRows.settledNames({ before, after: place?.id ?? "", most: mostNames });
    return { saved: place, ...look };
  });
  // The days of a file in the trash depend on the rows of its agent, so an agent with files there is not forgotten.
  const trash = free.length === 0 ? [] : await ports.worktrees.oldTrash(Number.POSITIVE_INFINITY);
  const hasTrash = new Set(trash.map(({ agentName }) => agentName));
  const forgotten: string[] = [];
  for (const name of free) {
    if (hasTrash.has(name) || !(await deleteLandedBranches(ports, name))) continue;
    if ((await store.transaction((tx) => tx.oldRows.forgetName(name, before))) > 0) forgotten.push(name);
  }
  if (saved !== null || last !== null || forgotten.length > 0) {
    await store.transaction(async (tx) => {
      await tx.oldRows.setPlace(what, last === null ? null : { at: 0, id: last });
      if (forgotten.length === 0) return;
      await tx.oldRows.shortenLandings(before);
      const data = { agents: forgotten };
      await record(tx, clock.now(), { source: "engine", type: "landed_agents_pruned", data });
    });
  }
  return { removed: forgotten.length, more: last !== null };
};

/** Deletes the branches of a name if its target has every commit of them. False: something stays, and so does the agent. */
async function deleteLandedBranches(ports: Ports, name: string): Promise<boolean> {
  const { store, worktrees, merging, settings, report } = ports;
  const incarnations = await store.read(async (tx) => {
    const found: { readonly agent: Agent; readonly target: string }[] = [];
    for (const agent of await tx.agents.list({ name })) {
      const run = await tx.runs.get(agent.runId);
      found.push({ agent, target: run?.targetBranch ?? settings.canonicalBranch });
    }
    return found;
  });
  try {
    for (const { agent, target } of incarnations) {
      const into = await merging.commitOf(`refs/heads/${target}`);
      const tip = agent.branch === null ? undefined : await merging.commitOf(`refs/heads/${agent.branch}`);
      for (const commit of [tip, agent.ahead === 0 ? undefined : agent.headCommit]) {
        if (commit == null) continue;
        if (into === undefined || (await merging.commitOf(commit)) === undefined) return false;
        if (!(await merging.contains(into, commit))) return false;
      }
      // An imported agent may have worked on a branch of a person.
      if (agent.branch?.startsWith("overstory/") !== true || tip === undefined) continue;
      // A branch that moved on, or that a person has checked out, is in use.
      if ((await worktrees.deleteBranch(agent.branch, tip)) !== null) return false;
    }
    return true;
  } catch (error) {
    report(error);
    return false;
  }
}

/**
 * Deletes landing branches of ours that their target has whole. Runs and agents that start later start at the target, for
 * the branch has nothing more.
 */
export const pruneLandingBranches: Prune<Ports> = async ({ store, worktrees, merging, settings }, { before }) => {
  const found = await merging.refsBelow("refs/heads/overstory/integration/");
  if (found.length === 0) return { removed: 0, more: false };
  const spare: { readonly branch: string; readonly tip: string }[] = [];
  for (const { ref, commit: tip } of found) {
    const branch = ref.slice("refs/heads/".length);
    const target = await store.read((tx) => targetOfEnded(tx, branch, before));
    if (target === undefined) continue;
    const into = await merging.commitOf(`refs/heads/${target ?? settings.canonicalBranch}`);
    if (into !== undefined && (await merging.contains(into, tip))) spare.push({ branch, tip });
  }
  const kept = await worktrees.deleteBranches(spare);
  return { removed: kept.filter((why) => why === null).length, more: false };
};

/** Where the work of a landing branch was meant for; undefined while the branch is in use, or was a short time ago. */
async function targetOfEnded(tx: Tx, branch: string, before: number): Promise<string | null | undefined> {
  const runs = (await tx.runs.list(mostRuns)).filter(({ landingBranch }) => landingBranch === branch);
  const isOver = ({ status, completedAt }: Run): boolean => status !== "active" && (completedAt ?? before) < before;
  if (runs.length === 0 || !runs.every(isOver)) return undefined;
  const [last] = await tx.mergeOps.list({ ref: `refs/heads/${branch}`, limit: 1 });
  if (last !== undefined && (last.status === "intended" || last.updatedAt >= before)) return undefined;
  const open = await tx.merges.list({ statuses: openMergeStatuses });
  return open.some(({ targetBranch }) => targetBranch === branch) ? undefined : (runs[0]?.targetBranch ?? null);
}

/** More runs than a project has. The branch of a run that is not among them stays. */
const mostRuns = 10_000;
