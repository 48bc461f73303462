import { hasEnded } from "../../domain/agent/agent.ts";
import { atMost } from "../../domain/at-most.ts";
import { damageOf } from "../../domain/failure.ts";
import { takenOutWords, type WordAboutBranch } from "../../domain/merge/taken-out.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { noFields } from "../../domain/schema/schema.ts";
import { classify, type Verdict } from "../../domain/worktree/classify.ts";
import type { Processes } from "../../ports/process.ts";
import type { OwnedWorktree, WorktreeKeeping } from "../../ports/worktrees.ts";
import type { Call, Effect, World } from "../operation.ts";
import type { Owner, OwnersReply } from "./owners.ts";
import type { RemovingRequest } from "./record-removal.ts";

/** A worktree with the facts about it. */
export interface Surveyed {
  readonly worktree: OwnedWorktree;
  readonly owner: Owner | undefined;
  readonly head: string | null;
  /** False when only git's record of it is left. */
  readonly exists: boolean;
  /** Every name under which an agent could be seated here, with its newest incarnation. */
  readonly names: RemovingRequest["names"];
  /** What the record says about its branch; empty when nothing of it was ever taken out. */
  readonly words: readonly WordAboutBranch[];
}

/** A surveyed worktree with the decision about it. */
export interface Judged extends Surveyed {
  readonly verdict: Verdict;
  readonly landed: boolean;
  /** Where its branch stands in the project. */
  readonly tip: string | undefined;
}

/** Every worktree of an agent, and the agent that owns it. */
export const listWorktrees: Effect<object, readonly Surveyed[]> = {
  kind: "effect",
  request: noFields,
  place: "engine",
  run: async (world) => {
    const owners = await world.call("worktree.listOwners", {});
    return owners.ok ? ok(await survey(await world.worktrees(), owners.value)) : owners;
  },
};

/** Every worktree of an agent: those git lists, and those of agents that git does not list, as clones. */
export async function survey(
  worktrees: WorktreeKeeping,
  { owners, takenOut }: OwnersReply,
): Promise<readonly Surveyed[]> {
  const seats = owners.filter(({ agent }) => agent.worktreePath !== null && agent.worktreeKind !== "root");
  const ownerAt = new Map(seats.map((owner) => [owner.agent.worktreePath, owner]));
  const named = new Map(owners.map((owner) => [owner.agent.name, owner]));
  const namesAt = (path: string, branch: string): Surveyed["names"] =>
    [...new Set([branch.split("/")[1], path.slice(path.lastIndexOf("/") + 1)])]
      .filter((name) => name !== undefined)
      .map((name) => ({ name, agentId: named.get(name)?.agent.id ?? null }));
  const listed = await worktrees.list();
  const found: Surveyed[] = listed.map(({ path, branch: onBranch, head, exists }) => {
    const branch = onBranch ?? "";
    const names = namesAt(path, branch);
    // An agent owns its place from its reservation on, before its worktree is on record.
    const seated = ownerAt.get(path);
    const owner = seated ?? names.map(({ name }) => named.get(name)).find((one) => one !== undefined && isLive(one));
    const worktree = ownedBy(seated, { path, branch });
    return { worktree, owner, head, exists, names, words: takenOut[worktree.branch] ?? [] };
  });
  const known = new Set(listed.map(({ path }) => path));
  for (const owner of seats) {
    const { worktreePath: path, branch, cleanedAt } = owner.agent;
    if (path === null || known.has(path) || cleanedAt !== null) continue;
    const worktree = ownedBy(owner, { path, branch: branch ?? "" });
    const looked = await unlessDamaged(() => worktrees.state(worktree));
    // The worktree exists. Its state is reported when it is judged.
    const { exists, head } = looked.ok ? looked.value : { exists: true, head: null };
    if (!exists) continue;
    const words = takenOut[worktree.branch] ?? [];
    found.push({ worktree, owner, head, exists, names: namesAt(path, branch ?? ""), words });
  }
  return found.toSorted((a, b) => (a.worktree.path < b.worktree.path ? -1 : 1));
}

const isLive = ({ agent }: Owner): boolean => !hasEnded(agent);

function ownedBy(owner: Owner | undefined, { path, branch }: { path: string; branch: string }): OwnedWorktree {
  if (owner === undefined) {
    const agentName = branch.split("/")[1] ?? "unknown";
    return { agentName, generation: 0, path, branch, kind: "linked", baseCommit: null };
  }
  const { name: agentName, generation, worktreeKind: kind, worktreeIdentity: identity, baseCommit } = owner.agent;
  return { agentName, generation, path, identity, branch: owner.agent.branch ?? branch, kind, baseCommit };
}

/** So many git processes at a time: more than cores, because each waits for files, too. */
export const worktreesAtOnce = 4;

/** Looks into worktrees and decides which may go. */
export async function judgeAll(
  worktrees: WorktreeKeeping,
  surveyed: readonly Surveyed[],
  canonicalBranch: string,
): Promise<readonly Judged[]> {
  // First, because it moves the branches of clones.
  const collected = await atMost(worktreesAtOnce, surveyed, ({ worktree }) =>
    unlessDamaged(() => worktrees.collect(worktree)),
  );
  const tips = new Map((await worktrees.branches()).map(({ branch, tip }) => [branch, tip]));
  const states = await atMost(worktreesAtOnce, surveyed, ({ worktree }) =>
    unlessDamaged(() => worktrees.state(worktree)),
  );
  const looked = surveyed.map((one, at) => {
    const state = states[at];
    const damage = [collected[at], state].flatMap((answer) => (answer?.ok === false ? answer.refusal : []))[0];
    const known = state?.ok === true ? state.value : { exists: true, head: one.head, dirty: true };
    return { one, damage, tip: tips.get(one.worktree.branch), ...known };
  });
  const landed = await landedAll(
    worktrees,
    looked.map(({ one, damage, tip, head }) => ({
      commits: damage !== undefined ? [] : [...new Set([head, tip].filter((commit) => commit != null))],
      base: one.worktree.baseCommit,
      words: one.words,
      targets: targetsOf(one, canonicalBranch),
    })),
  );
  return looked.map(({ one, damage, tip, exists, head, dirty }, at) => {
    const { worktree, owner } = one;
    const isLanded = damage === undefined && (landed[at] ?? false);
    const verdict = classify({
      branch: worktree.branch,
      path: worktree.path,
      damage,
      ...(owner === undefined ? {} : { agent: owner.agent }),
      parentLives: owner?.parentLives ?? false,
      liveChildren: owner?.liveChildren ?? [],
      waitingMerge: owner?.waitingMerge ?? null,
      dirty,
      landed: isLanded,
      takenOut: isLanded ? undefined : takenOutWords(one.words),
      target: targetsOf(one, canonicalBranch).join(" or "),
    });
    return { ...one, exists, head, verdict, landed: isLanded, tip };
  });
}

/** The result of `look`, or why git cannot read this one worktree. All other trouble is thrown. */
export async function unlessDamaged<T>(look: () => Promise<T>): Promise<Result<T, string>> {
  try {
    return ok(await look());
  } catch (error) {
    const problem = damageOf(error);
    if (problem === undefined) throw error;
    return no(problem);
  }
}

const targetsOf = ({ owner }: Surveyed, canonicalBranch: string): readonly string[] =>
  owner?.targets ?? [canonicalBranch];

interface LandingQuestion {
  readonly commits: readonly string[];
  readonly base: string | null;
  readonly words: readonly WordAboutBranch[];
  readonly targets: readonly string[];
}

/** For each question: is every commit in one of the targets? Those with the same targets are asked together. */
export async function landedAll(
  worktrees: WorktreeKeeping,
  questions: readonly LandingQuestion[],
): Promise<readonly boolean[]> {
  const landed = questions.map(() => true);
  const groups = Map.groupBy(questions.keys(), (at) => questions[at]?.targets.join("\n") ?? "");
  for (const [targets, members] of groups) {
    const asked = members.flatMap((at) => {
      const { commits = [], base = null, words = [] } = questions[at] ?? {};
      return commits.map((commit) => ({ at, commit, base, words }));
    });
    const refs = targets.split("\n").map((target) => `refs/heads/${target}`);
    const answers = await worktrees.areLanded(asked, refs);
    for (const [n, { at }] of asked.entries()) if (answers[n] !== true) landed[at] = false;
  }
  return landed;
}

/** What removing worktrees needs: git, processes, and the operations that put it on record. */
export interface WorktreePorts {
  readonly worktrees: WorktreeKeeping;
  readonly processes: Pick<Processes, "endStartedFor" | "self" | "check">;
  readonly call: Call;
}

export const worktreePorts = async (world: World): Promise<WorktreePorts> => ({
  worktrees: await world.worktrees(),
  processes: await world.processes(),
  call: world.call,
});
