import type { Agent } from "../../domain/agent/agent.ts";
import type { EventFact } from "../../domain/event/event.ts";
import { changeLine } from "../../domain/worktree/change.ts";
import type { TurnFiles } from "../../ports/agent-process.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Ids } from "../../ports/ids.ts";
import type { ReachKillPoint } from "../../ports/kill-points.ts";
import type { Store, Tx } from "../../ports/store.ts";
import type { KeptSubmodule, OwnedWorktree, Snapshot, WorktreeFacts, Worktrees } from "../../ports/worktrees.ts";
import { notice, record } from "../../usecases/events/record.ts";
import { worktreeOf } from "../../usecases/worktrees/owners.ts";
import { tell } from "../seat-facts.ts";

interface ConservePorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly worktrees: Worktrees;
  readonly reach?: ReachKillPoint;
}

type Telling = ConservePorts & { readonly ids: Ids };

/** The variables by which programs of an agent know whose they are and where it works. */
export const namesOf = (agent: Agent): Readonly<Record<string, string>> => ({
  OVERSTORY_AGENT_NAME: agent.name,
  OVERSTORY_CAPABILITY: agent.capability,
  OVERSTORY_TASK_ID: agent.taskId ?? "",
  OVERSTORY_WORKTREE_PATH: agent.worktreePath ?? "",
  OVERSTORY_SESSION_ID: agent.id,
  ...ceilingOf(agent),
});

/** What an agent merges in its worktree is joined by the rules of the merge queue. The user's checkout has no such rules. */
export function mergeRulesOf(files: Pick<TurnFiles, "mergeRules">, agent: Agent): Readonly<Record<string, string>> {
  const path = worktreeOf(agent)?.path;
  return path === undefined ? {} : files.mergeRules(path);
}

/** Git must not look for a repository above the worktree: there lies the user's checkout. */
function ceilingOf(agent: Agent): Readonly<Record<string, string>> {
  const path = worktreeOf(agent)?.path;
  return path === undefined ? {} : { GIT_CEILING_DIRECTORIES: path.slice(0, path.lastIndexOf("/")) };
}

/**
 * Looks at an agent's worktree and keeps the work in it that no ref holds. Undefined for agents without a worktree, and
 * for a worktree that git cannot read: that is put on record, and the turn is settled all the same. After a `pause`
 * the agent itself did nothing since its last turn: deleted files come back first, so that no snapshot says that they
 * are to be deleted, and commits that a reset took from the branch are kept. After a `pause`, facts are answered only if
 * everything was kept: the worktree may be removed next.
 */
export async function conserve(
  ports: Telling,
  agent: Agent,
  after: "turn" | "pause",
): Promise<WorktreeFacts | undefined> {
  const worktree = worktreeOf(agent);
  if (worktree === undefined) return undefined;
  let facts: WorktreeFacts | undefined;
  try {
    await mendLink(ports, agent, worktree);
    if (after === "pause") {
      const changes = await ports.worktrees.changesSince(worktree, agent);
      const lost = changes.filter(({ kind }) => kind === "files-gone" || kind === "commits-gone");
      const kept = await ports.worktrees.mendChanges(worktree, lost);
      await rememberAll(ports, agent, kept);
    }
    // Its commits count also when the rest cannot be kept.
    const seen = await withinReason(look(ports, agent, worktree));
    facts = seen;
    await withinReason(keep(ports, agent, worktree, seen));
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const data = { path: worktree.path, problem };
    await note(ports, agent, { type: "snapshot_failed", level: "error", data });
    await tellNotKept(ports, agent, problem);
    if (after === "pause") return undefined;
  }
  return facts;
}

/** Once for each problem: the next turns meet the same one. */
async function tellNotKept(ports: Telling, agent: Agent, problem: string): Promise<void> {
  await ports.store.transaction(async (tx) => {
    if (!(await notice(tx, { kind: "snapshot_failed", about: agent.id, key: problem }))) return;
    await tell(tx, ports, agent, {
      recipients: [...new Set([agent.parentName, "operator"])],
      subject: `[ENGINE] uncommitted work of ${agent.name} could not be kept`,
      body: `${problem}\nIts commits are safe. What is not committed is in its worktree only, until this is mended: ${agent.worktreePath}\n\nNext: find and mend it: ov doctor, then ov doctor --fix`,
    });
  });
}

/** An agent that took the `.git` of its worktree away may have worked elsewhere with git: that is put on record. */
async function mendLink(ports: ConservePorts, agent: Agent, worktree: OwnedWorktree): Promise<void> {
  const link = await ports.worktrees.ensureLink(worktree);
  if (link.kind === "sound") return;
  const problem = link.kind === "broken" ? link.problem : "its .git was missing or pointed elsewhere, and was put back";
  const data = { path: worktree.path, problem };
  await note(ports, agent, { type: "worktree_link", level: "warn", data });
}

/**
 * Looks at an agent's worktree before a turn, and mends changes since the last turn. A person may work there between
 * two turns; lost files and commits are put back or kept. Returns a sentence about each change, for the agent, or why
 * no work is possible there.
 */
export async function makeReady(
  ports: Telling,
  agent: Agent,
  turnId: string,
): Promise<{ readonly problem: string } | { readonly changes: readonly string[] }> {
  const worktree = worktreeOf(agent);
  if (worktree === undefined) return { changes: [] };
  const link = await ports.worktrees.ensureLink(worktree);
  if (link.kind === "broken") return { problem: link.problem };
  await ports.worktrees.removeDeadLocks(worktree);
  const found = await ports.worktrees.changesSince(worktree, agent);
  if (found.length === 0) return { changes: [] };
  const changes = found.map(changeLine);
  // Before the mending: a supervisor that is killed in between would find nothing to tell afterwards.
  await ports.store.transaction(async (tx) => {
    // Being on another branch lasts, perhaps because the agent wants it so: that is told once.
    const lasts = found.every(({ kind }) => kind === "other-branch");
    const key = `${lasts ? "" : turnId} ${changes.join(" ")}`;
    if (!(await notice(tx, { kind: "worktree_changed", about: agent.id, key }))) return;
    await tell(tx, ports, agent, {
      recipients: [...new Set([agent.parentName, "operator"])],
      subject: `[ENGINE] the worktree of ${agent.name} was changed between two turns`,
      body: changes.map((line) => `- ${line}`).join("\n"),
    });
    const fact = { type: "worktree_mended", level: "warn", data: { path: worktree.path, changes: found } } as const;
    await record(tx, ports.clock.now(), { source: "supervisor", agent, ...fact });
  });
  ports.reach?.("turn.before-mending");
  const kept = await ports.worktrees.mendChanges(worktree, found);
  ports.reach?.("turn.after-mending");
  await rememberAll(ports, agent, kept);
  return { changes };
}

/** A git that hangs must not keep a turn from being settled. The work then stays in the worktree, without a snapshot. */
async function withinReason<T>(work: Promise<T>): Promise<T> {
  let timer: Timer | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`git took longer than ${longestKeepingMs / 1000} s`)), longestKeepingMs);
  });
  try {
    return await Promise.race([work, tooLong]);
  } finally {
    clearTimeout(timer);
  }
}

const longestKeepingMs = 120_000;

async function look(ports: ConservePorts, agent: Agent, worktree: OwnedWorktree): Promise<WorktreeFacts> {
  await noteSubmodules(ports, agent, await ports.worktrees.collect(worktree));
  return await ports.worktrees.inspect(worktree);
}

async function keep(ports: ConservePorts, agent: Agent, worktree: OwnedWorktree, facts: WorktreeFacts): Promise<void> {
  // The branch holds the commits of a linked worktree that is on it. Commits of a clone must be fetched. An older snapshot
  // may have changes that the agent has given up since; only a newer snapshot says so.
  const held = facts.exists && !facts.dirty && facts.onBranch && facts.loose === 0 && worktree.kind === "linked";
  const hasOlder = held && (await ports.store.read((tx) => tx.snapshots.of(agent.name))).length > 0;
  if (held && !hasOlder) return;
  const snapshot = await ports.worktrees.snapshot(worktree);
  if (snapshot === undefined) return;
  ports.reach?.("turn.after-snapshot");
  await ports.store.transaction((tx) => remember(tx, agent, snapshot, ports.clock.now()));
}

/** A sentence about the work that git still has after an agent's worktree is gone. */
export async function leftOf(
  { store, worktrees }: Pick<ConservePorts, "store" | "worktrees">,
  { name, branch, headCommit, dirty }: Agent,
): Promise<string> {
  const [snapshot, tip, head] = await Promise.all([
    store.read(async (tx) => (await tx.snapshots.of(name)).at(-1)),
    worktrees.resolve(`refs/heads/${branch}`),
    headCommit === null ? undefined : worktrees.resolve(headCommit),
  ]);
  const commits =
    tip !== undefined
      ? `Its branch ${branch} is kept.`
      : head !== undefined
        ? `Its branch ${branch} is gone; git still has its last commit, ${head.slice(0, 12)}.`
        : `Its branch ${branch} is gone, and git has no commit of it.`;
  const isThere = dirty && snapshot !== undefined && (await worktrees.resolve(snapshot.ref)) !== undefined;
  return isThere ? `${commits} What was uncommitted after its last turn is kept as ${snapshot.ref}.` : commits;
}

/** Where work in submodules was put, and what of it could not be kept. */
async function noteSubmodules(ports: ConservePorts, agent: Agent, found: readonly KeptSubmodule[]): Promise<void> {
  if (found.length === 0) return;
  const facts = found.map(
    ({ path, refs, problem }): EventFact =>
      problem === null
        ? { type: "submodule_kept", data: { path, refs } }
        : { type: "snapshot_failed", level: "error", data: { path, problem } },
  );
  await note(ports, agent, ...facts);
}

async function note({ store, clock }: ConservePorts, agent: Agent, ...facts: readonly EventFact[]): Promise<void> {
  const events = facts.map((fact) => ({ source: "supervisor", agent, ...fact }) as const);
  await store.transaction((tx) => record(tx, clock.now(), ...events));
}

async function rememberAll(ports: ConservePorts, agent: Agent, kept: readonly Snapshot[]): Promise<void> {
  if (kept.length === 0) return;
  await ports.store.transaction(async (tx) => {
    for (const snapshot of kept) await remember(tx, agent, snapshot, ports.clock.now());
  });
}

/**
 * A snapshot that is on record already says nothing new; one without a record was taken by a process that died before
 * it could write it.
 */
export async function remember(
  tx: Tx,
  agent: Agent,
  { ref, commit, skipped }: Snapshot,
  createdAt: number,
): Promise<void> {
  const { name: agentName, generation } = agent;
  const row = { agentName, generation, ref, commitId: commit, reason: "turn", skipped, createdAt };
  if (!(await tx.snapshots.add(row))) return;
  const level = skipped.length > 0 ? "warn" : "info";
  const fact = { type: "snapshot", level, data: { ref, commit, skipped } } as const;
  await record(tx, createdAt, { source: "supervisor", agent, ...fact });
}
