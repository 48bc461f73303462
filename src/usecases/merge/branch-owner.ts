import { type Agent, hasEnded, newestPerName } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import type { Receipt } from "../../domain/gate/gate.ts";
import { type Asker, isOpenMerge, type MergeEntry } from "../../domain/merge/entry.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { touched } from "../../domain/task/change.ts";
import type { MergeState, Task } from "../../domain/task/task.ts";
import { namedIn } from "../../domain/text/long-list.ts";
import type { Tx } from "../../ports/store.ts";

/** The agent whose branch this is, by the record and not by what a message says. */
export const ownerOfBranch = async (tx: Tx, branch: string): Promise<Agent | undefined> =>
  ownerAmong(await tx.agents.list({ branch }));

/** The same for many branches, read at once. */
async function ownersOfBranches(tx: Tx, branches: readonly string[]): Promise<ReadonlyMap<string | null, Agent>> {
  const agents = branches.length === 0 ? [] : await tx.agents.list({ branches });
  const owners = new Map<string | null, Agent>();
  for (const [branch, all] of Map.groupBy(agents, (agent) => agent.branch)) {
    const owner = ownerAmong(all);
    if (owner !== undefined) owners.set(branch, owner);
  }
  return owners;
}

/** An agent that works in the project's own checkout does not own the branch that is checked out there. */
const ownerAmong = (ofBranch: readonly Agent[]): Agent | undefined =>
  newestPerName(ofBranch)
    .filter(({ worktreeKind }) => worktreeKind !== "root")
    .at(-1);

/**
 * The owner of a branch that is still at its base commit: the branch has nothing to land, and the task is not done. An
 * agent that reported `done` without code has finished its task, and a branch that landed before had commits.
 */
export async function ownerWithoutCommits(tx: Tx, branch: string, headCommit: string): Promise<Agent | undefined> {
  const owner = await ownerOfBranch(tx, branch);
  if (owner === undefined || owner.baseCommit !== headCommit || owner.outcome === "done") return undefined;
  const before = await tx.merges.list({ branch, statuses: ["merged", "reverted"] });
  return before.length === 0 ? owner : undefined;
}

/** Does this name answer for the agent? Its recorded parent does; where that has ended, the parent's parent. */
export async function answersFor(tx: Tx, agent: Agent, name: string): Promise<boolean> {
  const seen = new Set<string>();
  for (let above = agent.parentName; !seen.has(above); ) {
    if (above === name) return true;
    seen.add(above);
    const next = await tx.agents.byName(above);
    if (next === undefined || !hasEnded(next)) return false;
    above = next.parentName;
  }
  return false;
}

/** As whom an agent asks for a branch. */
export async function askerFor(tx: Tx, owner: Agent | undefined, name: string): Promise<Asker> {
  return owner !== undefined && (await answersFor(tx, owner, name)) ? "parent" : "other";
}

/** Why the caller may not bring this branch into the queue: agents do so only for those they answer for. */
export async function forbiddenToQueue(
  tx: Tx,
  caller: Caller,
  branch: string,
  verb: string,
): Promise<Refusal | undefined> {
  if (caller.kind !== "agent") return undefined;
  if ((await askerFor(tx, await ownerOfBranch(tx, branch), caller.name)) === "parent") return undefined;
  const why = "only the parent of its agent and the operator decide about a branch";
  return { kind: "not-allowed", action: `${verb} ${branch}`, caller: caller.name, why };
}

/**
 * The receipt of `ov done` for exactly this commit of an agent's branch. An agent that was called back since, such as
 * by `ov attach`, has a later generation than the one that proved the commit.
 */
export async function completionReceipt(
  tx: Tx,
  owner: Pick<Agent, "name" | "generation">,
  headCommit: string,
): Promise<Receipt | undefined> {
  return (await completionsOf(tx, owner)).find((receipt) => receipt.headCommit === headCommit);
}

/** The receipts of everything that the incarnations of an agent reported, the newest incarnation first. */
async function completionsOf(tx: Tx, owner: Pick<Agent, "name" | "generation">): Promise<readonly Receipt[]> {
  const found: Receipt[] = [];
  for (let { generation } = owner; generation > 0; generation--) {
    found.push(...(await tx.receipts.about(`${owner.name}#${generation}`)));
  }
  return found.filter(({ kind }) => kind === "completion");
}

type Place = Pick<MergeEntry, "id" | "branch" | "headCommit">;

/** Doubts that the operator should know before a branch lands: its conflicts, and what its completion left unproved. */
export async function doubtsAbout(tx: Tx, entry: Place): Promise<readonly string[]> {
  const owner = await ownerOfBranch(tx, entry.branch);
  const receipt = owner === undefined ? undefined : await completionReceipt(tx, owner, entry.headCommit);
  return [...(await doubtsBefore(tx, entry)), ...(receipt?.gaps ?? [])];
}

/** Doubts by what happened to the branch before: its conflicts, and commits after the report of its agent. */
export const doubtsBefore = async (tx: Tx, entry: Place): Promise<readonly string[]> => [
  ...(await conflictBefore(tx, entry)),
  ...(await changedSinceReport(tx, entry)),
];

/** Says that another commit was reported than the one in the queue; empty when none or the same was reported. */
async function changedSinceReport(tx: Tx, { branch, headCommit }: Place): Promise<readonly string[]> {
  const owner = await ownerOfBranch(tx, branch);
  if (owner === undefined) return [];
  const reported = (await completionsOf(tx, owner)).map((receipt) => receipt.headCommit);
  const [last] = reported;
  if (last == null || headCommit === "" || reported.includes(headCommit)) return [];
  return [`it changed after the report: ${last.slice(0, 12)} was reported, ${headCommit.slice(0, 12)} is queued`];
}

/** Says that the same commit was sent back for a conflict before; empty when it was not. */
async function conflictBefore(tx: Tx, { id, branch, headCommit }: Place): Promise<readonly string[]> {
  const sentBack = await tx.merges.list({ branch, statuses: ["conflict"] });
  const same = sentBack.findLast((other) => other.id !== id && other.headCommit === headCommit);
  if (same === undefined) return [];
  const files = same.causeDetail?.files ?? [];
  const where = files.length === 0 ? "" : ` in ${namedIn(files)}`;
  return [`the same commit was sent back for a conflict before${where} (merge ${same.id})`];
}

/**
 * The task that lands with this branch. Undefined for a lead's task, which is over when the tasks of its children are,
 * even if the lead commits something itself; and for a task that its owner only reads.
 */
export async function taskOf(tx: Tx, { taskId, branch }: MergeEntry): Promise<Task | undefined> {
  const task = taskId === null ? undefined : await tx.tasks.get(taskId);
  if (task === undefined) return undefined;
  const owner = await ownerOfBranch(tx, branch);
  return owner === undefined || isIn("implementation", owner.capability) ? task : undefined;
}

/** Stores with the task where its branch is. A closed task is changed only where it says that its branch is in the queue. */
export async function setMergeState(tx: Tx, entry: MergeEntry, mergeState: MergeState, now: number): Promise<void> {
  const task = await taskOf(tx, entry);
  if (task === undefined || task.mergeState === mergeState) return;
  if (task.status === "closed" && task.mergeState !== "queued") return;
  await tx.tasks.update({ ...touched(task, now), mergeState });
}

/** See `withVerdicts`. */
export async function withVerdict(tx: Tx, entry: MergeEntry): Promise<MergeEntry> {
  const [judged = entry] = await withVerdicts(tx, [entry]);
  return judged;
}

/**
 * The entries, each with the verdict about exactly its commit, while it has not landed. The question about its approval
 * says the same. A person's refusal does not change the verdict. An agent that was called back since has a later
 * generation than the one that proved the commit.
 */
export async function withVerdicts(tx: Tx, entries: readonly MergeEntry[]): Promise<readonly MergeEntry[]> {
  const branches = entries.filter(mayBeProved).map(({ branch }) => branch);
  const owners = await ownersOfBranches(tx, branches);
  const judged: MergeEntry[] = [];
  for (const entry of entries) {
    const owner = mayBeProved(entry) ? owners.get(entry.branch) : undefined;
    const receipt = owner === undefined ? undefined : await completionReceipt(tx, owner, entry.headCommit);
    judged.push(receipt === undefined ? entry : { ...entry, verdict: receipt.verdict });
  }
  return judged;
}

/** It has no verdict of its own, and has not landed. */
const mayBeProved = (entry: MergeEntry): boolean =>
  entry.verdict === null && (isOpenMerge(entry) || entry.status === "cancelled" || entry.cause === "approval_denied");
