import { type Agent, hasEnded, newestPerName } from "../../domain/agent/agent.ts";
import { openMergeStatuses } from "../../domain/merge/entry.ts";
import {
  type Collision,
  type CommitPair,
  collisionMail,
  collisionsToTell,
  commitsOf,
  pairKey,
  pairsOf,
  type RadarHead,
} from "../../domain/merge/radar.ts";
import { ok } from "../../domain/result.ts";
import { fields, record as recordOf, text } from "../../domain/schema/schema.ts";
import type { ConflictInPlace, MergeGit, ObjectMerge, Settled } from "../../ports/merge-git.ts";
import type { RadarOutcome, RadarPair } from "../../ports/store/merges.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../events/record.ts";
import type { Context, UseCase } from "../usecase.ts";
import { targetOf } from "./landing/landing-target.ts";
import { notify } from "./notify.ts";

export interface RadarRequest {
  /** Branches as git has them now, when the caller can see them; else as they were when the agents' turns ended. */
  readonly tips?: Readonly<Record<string, string>> | undefined;
}

export interface RadarCell {
  readonly a: string;
  readonly b: string;
  /** The commits under which the pair is known. */
  readonly ours: string;
  readonly theirs: string;
  /** Null: these two commits have not been compared yet. */
  readonly outcome: RadarOutcome | null;
  readonly files: readonly string[];
}

export interface RadarReply {
  readonly branches: readonly (RadarHead & {
    /** Its agent has committed since the last look. */
    readonly moved: boolean;
  })[];
  readonly pairs: readonly RadarCell[];
}

/** Which live branches would collide, as far as it has been looked at. */
export const readRadar: UseCase<RadarRequest, RadarReply> = {
  kind: "read",
  request: fields({}, { tips: recordOf(text) }),
  run: async (tx, context, { tips }) => {
    const live = await liveBranches(tx, context);
    const branches = live.flatMap(({ branch, commit: seen, agentName, landsOn }) => {
      const commit = tips === undefined ? seen : own(tips, branch);
      return commit === undefined ? [] : [{ branch, commit, agentName, landsOn, moved: commit !== seen }];
    });
    for (const branch of new Set(live.map(({ landsOn }) => landsOn))) {
      const commit = tips === undefined ? undefined : own(tips, branch);
      if (commit !== undefined) branches.push({ branch, commit, agentName: null, landsOn: branch, moved: false });
    }
    const pairs: RadarCell[] = [];
    for (const pair of pairsOf(branches)) {
      const commits = commitsOf(pair);
      const known = await tx.radar.pair(commits.ours, commits.theirs);
      const found = { outcome: known?.outcome ?? null, files: known?.files ?? [] };
      pairs.push({ a: pair.a.branch, b: pair.b.branch, ...commits, ...found });
    }
    return ok({ branches, pairs });
  },
};

const own = (tips: Readonly<Record<string, string>>, branch: string): string | undefined =>
  Object.hasOwn(tips, branch) ? tips[branch] : undefined;

/** The work of an agent that is neither landed nor given up, as it was when its last turn ended. */
export interface LiveBranch extends RadarHead {
  readonly agent: Agent;
}

/**
 * The work of this agent will not land as it stands: it was released or stopped, or it ended before it had finished and
 * another agent has its task. A branch in the merge queue lands whichever agent made it.
 */
export async function isGivenUp(tx: Tx, agent: Agent): Promise<boolean> {
  const { name, branch, outcome, releasedAt, stopRequestedBy, taskId } = agent;
  if (releasedAt !== null) return true;
  if (outcome === "done" || !(hasEnded(agent) || stopRequestedBy !== null)) return false;
  const task = taskId === null ? undefined : await tx.tasks.get(taskId);
  const isReplaced = task?.status === "closed" || (task?.claimedBy ?? name) !== name;
  if (outcome !== "stopped" && stopRequestedBy === null && !isReplaced) return false;
  return branch === null || (await tx.merges.list({ branch, statuses: openMergeStatuses, limit: 1 })).length === 0;
}

export async function liveBranches(tx: Tx, context: Pick<Context, "settings">): Promise<readonly LiveBranch[]> {
  const targets = new Map<string, string>();
  const found: LiveBranch[] = [];
  for (const agent of newestPerName(await tx.agents.ahead())) {
    const { runId, branch, headCommit: commit, name: agentName } = agent;
    if (branch === null || commit === null || (await isGivenUp(tx, agent))) continue;
    const landsOn = targets.get(runId) ?? (await targetOf(tx, context, runId));
    targets.set(runId, landsOn);
    found.push({ agent, agentName, branch, commit, landsOn });
  }
  return found;
}

/**
 * Tells the owners of two branches, and their parents, that the branches collide: once for each file and owner, also
 * when more is committed or lands. Returns whether a message was sent.
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

interface KnownCollision {
  readonly agents: readonly [string, string];
  readonly files: readonly string[];
}

/** Collisions between the work of these agents that are on record; compares nothing anew. */
export async function knownCollisions(tx: Tx, agents: readonly Agent[]): Promise<readonly KnownCollision[]> {
  const heads: RadarHead[] = [];
  for (const agent of agents) {
    const { name, branch, headCommit, ahead } = agent;
    if (branch === null || headCommit === null || ahead === 0 || (await isGivenUp(tx, agent))) continue;
    heads.push({ branch, commit: headCommit, agentName: name, landsOn: "" });
  }
  const found: KnownCollision[] = [];
  for (const pair of pairsOf(heads)) {
    const { ours, theirs } = commitsOf(pair);
    const known = await tx.radar.pair(ours, theirs);
    if (known?.outcome !== "conflict") continue;
    found.push({ agents: [pair.a.agentName ?? "", pair.b.agentName ?? ""], files: known.files });
  }
  return found;
}

/** Two agents that were told that their branches collide, and still would. */
export interface CollisionAhead {
  readonly agents: readonly [string, string];
  readonly branches: readonly [string, string];
  readonly runId: string;
  /** None when the two have no history in common. */
  readonly files: readonly string[];
  readonly since: number;
}

/**
 * The collisions that the radar has told and that are still to come: as both branches stand, and with neither landed. One
 * that was tried and came back is told as such. It takes a few statements, however many agents there are.
 */
export async function collisionsAhead(tx: Tx, { ids }: Pick<Context, "ids">): Promise<readonly CollisionAhead[]> {
  const conflicts = await tx.radar.conflictsOfHeads();
  if (conflicts.length === 0) return [];
  const warned = new Map<string, number>();
  for (const { branchA, branchB, filesDigest, createdAt } of await tx.radar.warnings())
    if (branchA === branchB) warned.set(`${filesDigest} ${branchA}`, createdAt);
  const heads = await headsInConflict(tx, conflicts);
  const byCommits = new Map(conflicts.map((pair) => [`${pair.aCommit} ${pair.bCommit}`, pair]));
  const found: CollisionAhead[] = [];
  for (const { a, b } of pairsOf(heads)) {
    const known = byCommits.get(pairKey(commitsOf({ a, b })));
    if (known === undefined) continue;
    // The radar tells both owners of a file, unless one of them only began on top of what collides there.
    const told = (known.files.length === 0 ? [""] : known.files).flatMap((file) => {
      const digest = ids.digest(file);
      const [ofA, ofB] = [warned.get(`${digest} ${a.branch}`), warned.get(`${digest} ${b.branch}`)];
      return ofA === undefined || ofB === undefined ? [] : [{ file, at: Math.max(ofA, ofB) }];
    });
    if (told.length === 0) continue;
    found.push({
      agents: [a.agent.name, b.agent.name],
      branches: [a.branch, b.branch],
      runId: a.agent.runId,
      files: told.flatMap(({ file }) => (file === "" ? [] : [file])),
      since: Math.min(...told.map(({ at }) => at)),
    });
  }
  return found;
}

/** The work in these conflicts that is still to land. */
async function headsInConflict(tx: Tx, conflicts: readonly RadarPair[]): Promise<readonly LiveBranch[]> {
  const commits = new Set(conflicts.flatMap(({ aCommit, bCommit }) => [aCommit, bCommit]));
  const live = newestPerName(await tx.agents.ahead()).filter(({ headCommit }) => commits.has(headCommit ?? ""));
  const branches = live.flatMap(({ branch }) => branch ?? []);
  const entries = await tx.merges.list({ branches, newestOfBranch: true });
  const lastOf = new Map(entries.map((entry) => [entry.branch, entry]));
  const found: LiveBranch[] = [];
  for (const agent of live) {
    const { name: agentName, branch, headCommit: commit } = agent;
    if (branch === null || commit === null || (await isGivenUp(tx, agent))) continue;
    const last = lastOf.get(branch);
    if (last?.status === "conflict" || (last?.status === "merged" && last.headCommit === commit)) continue;
    // Of two that land on different branches the radar has no record.
    found.push({ agent, agentName, branch, commit, landsOn: "" });
  }
  return found;
}

interface JudgePorts {
  /** The ladder that the merge worker climbs. */
  resolve(conflict: ConflictInPlace): Promise<Settled>;
  readonly merging: Pick<MergeGit, "mergePairs">;
  /** Would this file be made again by a command? */
  isGenerated(path: string): boolean;
}

interface JudgedPair extends CommitPair {
  readonly outcome: RadarOutcome;
  /** The files in which they meet; of a conflict only those that no rule settles. */
  readonly files: readonly string[];
}

/** What merging each of these pairs would give, by the rules that landing follows. A pair that git cannot read is left out. */
export async function judgePairs(ports: JudgePorts, pairs: readonly CommitPair[]): Promise<readonly JudgedPair[]> {
  if (pairs.length === 0) return [];
  const merges = await ports.merging.mergePairs(pairs);
  const judged: JudgedPair[] = [];
  for (const [at, pair] of pairs.entries()) {
    const merge = merges[at];
    const found = merge === undefined ? undefined : await judge(ports, pair, merge);
    if (found !== undefined) judged.push({ ...pair, ...found });
  }
  return judged;
}

async function judge(
  ports: JudgePorts,
  pair: CommitPair,
  merge: ObjectMerge,
): Promise<Pick<JudgedPair, "outcome" | "files"> | undefined> {
  switch (merge.kind) {
    case "clean":
      return { outcome: "clean", files: [] };
    case "unrelated":
      return { outcome: "conflict", files: [] };
    case "failed":
      return undefined;
    case "conflicts": {
      const open: string[] = [];
      for (const conflict of merge.conflicts) {
        if (conflict.kind === "content" && ports.isGenerated(conflict.path)) continue;
        if ((await ports.resolve({ conflict, ...pair })).kind === "escalate") open.push(conflict.path);
      }
      if (open.length > 0) return { outcome: "conflict", files: open };
      return { outcome: "structured", files: merge.conflicts.map(({ path }) => path) };
    }
  }
}
