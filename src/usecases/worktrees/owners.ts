import { type Agent, hasEnded, newestPerName } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import { openMergeStatuses } from "../../domain/merge/entry.ts";
import type { WordAboutBranch } from "../../domain/merge/taken-out.ts";
import { ok } from "../../domain/result.ts";
import { fields, flag, list, noFields, type SchemaOf, text } from "../../domain/schema/schema.ts";
import type { SnapshotRecord } from "../../ports/store/snapshots.ts";
import type { Tx } from "../../ports/store.ts";
import type { OwnedWorktree } from "../../ports/worktrees.ts";
import { wordsAboutAll } from "../merge/landing/taken-out.ts";
import type { Context, UseCase } from "../usecase.ts";

/** One agent as its worktree's owner. */
export interface Owner {
  readonly agent: Agent;
  /** Ids of all its incarnations: each may have left something running. */
  readonly incarnations: readonly string[];
  readonly parentLives: boolean;
  readonly liveChildren: readonly string[];
  /** Branches its work was meant for, the likeliest first. */
  readonly targets: readonly string[];
  /** The merge of its branch that waits for the operator's decision. */
  readonly waitingMerge: number | null;
}

export interface OwnersReply {
  readonly owners: readonly Owner[];
  /** Names of all agents that have not ended. */
  readonly live: readonly string[];
  readonly canonicalBranch: string;
  /** What the record says about each branch of which something was taken out after it had landed. */
  readonly takenOut: Readonly<Record<string, readonly WordAboutBranch[]>>;
  readonly readAt: number;
  readonly hasOpenRun: boolean;
  readonly counts: { readonly messages: number; readonly usage: number; readonly events: number };
}

/** The owner of each worktree, for looking at. */
export const owners: UseCase<object, OwnersReply> = { kind: "read", request: noFields, run: readOwners };

/** The same for someone about to remove them: refused before anything is touched. */
export const ownersForCleaning: UseCase<object, OwnersReply> = {
  kind: "read",
  request: noFields,
  operatorOnly: true,
  run: readOwners,
};

interface OfBranches {
  readonly branches: readonly string[];
  /** The caller writes nothing afterwards. */
  readonly isDryRun?: boolean | undefined;
}

const ofBranches: SchemaOf<OfBranches> = fields({ branches: list(text) }, { isDryRun: flag });

/**
 * The agents that own these branches, for looking at: those with a worktree, and those whose worktree was cleaned away.
 * Reads less than `owners`, because each `ov merge add` asks.
 */
export const ownersOfBranches: UseCase<OfBranches, { readonly agents: readonly Agent[] }> = {
  kind: "read",
  request: ofBranches,
  beforeWrite: ({ isDryRun }) => isDryRun !== true,
  run: readOwnersOf,
};

/** The same for a caller that is about to write in their worktrees. */
export const ownersOfBranchesForCleaning: typeof ownersOfBranches = {
  kind: "read",
  request: ofBranches,
  operatorOnly: true,
  run: readOwnersOf,
};

async function readOwnersOf(tx: Tx, _: Context, { branches }: OfBranches) {
  const agents: Agent[] = [];
  const ofBranch = Map.groupBy(await tx.agents.list({ branches }), ({ branch }) => branch);
  for (const branch of branches) {
    for (const agent of newestPerName(ofBranch.get(branch) ?? [])) {
      if (agent.worktreeKind === "root") continue;
      // A later incarnation may work on another branch, in the same directory.
      if ((await tx.agents.byName(agent.name))?.id !== agent.id) continue;
      agents.push(agent);
      break;
    }
  }
  return ok({ agents });
}

/** The records of kept work, oldest first. */
export const snapshots: UseCase<object, { readonly snapshots: readonly SnapshotRecord[] }> = {
  kind: "read",
  request: noFields,
  run: async (tx) => ok({ snapshots: await tx.snapshots.all() }),
};

async function readOwners(tx: Tx, { settings, now }: Context) {
  const all = await tx.agents.list({});
  const agents = newestPerName(all);
  const incarnations = Map.groupBy(all, ({ name }) => name);
  const live = agents.filter((agent) => !hasEnded(agent));
  const isLive = new Set(live.map(({ name }) => name));
  const { canonicalBranch } = settings.project;
  const waiting = await tx.merges.list({ statuses: openMergeStatuses, approval: "waiting" });
  const found: Owner[] = [];
  for (const agent of agents) {
    const run = await tx.runs.get(agent.runId);
    const targets = [run?.landingBranch, run?.targetBranch, canonicalBranch].filter((name) => name != null);
    found.push({
      agent,
      incarnations: (incarnations.get(agent.name) ?? []).map(({ id }) => id),
      parentLives: isLive.has(agent.parentName),
      liveChildren: live.filter(({ parentName }) => parentName === agent.name).map(({ name }) => name),
      targets: [...new Set(targets)],
      waitingMerge: waiting.find(({ branch }) => branch === agent.branch)?.id ?? null,
    });
  }
  const hasOpenRun = (await tx.runs.current()) !== undefined;
  return ok({
    owners: found,
    live: [...isLive],
    canonicalBranch,
    takenOut: Object.fromEntries(await wordsAboutAll(tx)),
    readAt: now,
    hasOpenRun,
    counts: await tx.cleaning.counts(),
  });
}

/** The worktree of an agent; undefined for an agent without one, or one that works in the project's own checkout. */
export function worktreeOf(agent: Agent): OwnedWorktree | undefined {
  if (agent.worktreePath === null || agent.branch === null || agent.worktreeKind === "root") return undefined;
  const { name: agentName, generation, worktreePath: path, branch, worktreeKind: kind, baseCommit, baseRef } = agent;
  const isThrownAway = kind === "clone" && !isIn("implementation", agent.capability);
  const identity = agent.worktreeIdentity;
  return { agentName, generation, path, identity, branch, kind, baseCommit, baseRef, isThrownAway };
}
