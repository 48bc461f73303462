import type { Agent } from "../../domain/agent/agent.ts";
import { notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, flag, list, text } from "../../domain/schema/schema.ts";
import { shellWord } from "../../domain/text/shell-word.ts";
import {
  type HalfWay,
  halfWayFix,
  type OffBranch,
  offBranchFix,
  offBranchPlace,
  subjectsOf,
  unsettledLines,
} from "../../domain/worktree/change.ts";
import type { KeptRest, OwnedWorktree, RestProblem, WorktreeKeeping } from "../../ports/worktrees.ts";
import type { Effect, World } from "../operation.ts";
import { worktreeOf } from "./owners.ts";
import { unlessDamaged } from "./survey.ts";

export interface Rest {
  readonly branch: string;
  readonly agentName: string;
  readonly files: readonly string[];
  /** False when commits or a snapshot have what the branch lacks: only a person brings that there. */
  readonly mayCommit: boolean;
  /** The refusal of a landing that would leave this rest behind. */
  readonly refusal: Refusal;
}

interface RestsRequest {
  readonly branches: readonly string[];
  /** The caller writes nothing afterwards. */
  readonly isDryRun?: boolean | undefined;
}

/**
 * What the agents that own these branches have in their worktrees and not on the branch: uncommitted files, and commits.
 * Where the worktree is gone, the last snapshot has them. A branch without a rest is left out.
 */
export const listRests: Effect<RestsRequest, { readonly rests: readonly Rest[] }> = {
  kind: "effect",
  request: fields({ branches: list(text) }, { isDryRun: flag }),
  place: "engine",
  run: async (world, request) => {
    const read = await world.call("worktree.findOwners", request);
    if (!read.ok) return read;
    const rests: Rest[] = [];
    // Git is asked only about branches that an agent has made: no other has such files.
    for (const agent of read.value.agents) {
      const worktree = worktreeOf(agent);
      if (worktree === undefined) continue;
      const worktrees = await world.worktrees();
      const facts = agent.cleanedAt === null ? await worktrees.inspect(worktree) : undefined;
      if (facts?.exists !== true) {
        const left = await keptRest(worktrees, agent, worktree);
        if (left !== undefined) rests.push(left);
        continue;
      }
      const { uncommitted: files, ahead, onBranch } = facts;
      const { agentName, branch } = worktree;
      const hasCommits = (facts.offBranch?.branchMessages.length ?? ahead) > 0;
      // An agent that finished on its branch has declared that its work is there. Attempts elsewhere do not count as a
      // rest.
      const isDone = agent.outcome === "done" && onBranch;
      if (facts.offBranch !== null && !isDone) {
        const left = offBranchRefusal(worktree, facts.offBranch, facts.halfWay);
        rests.push({ branch, agentName, files, mayCommit: false, refusal: { ...left, hasCommits } });
      } else if (files.length > 0) {
        const open = facts.halfWay;
        const fix = open === null ? {} : { fix: halfWayFix(open, { ...worktree, isClone: worktree.kind === "clone" }) };
        const refusal = { kind: "uncommitted-rest", agent: agentName, branch, files, hasCommits, ...fix } as const;
        rests.push({ branch, agentName, files, mayCommit: true, refusal });
      }
    }
    return ok({ rests });
  },
};

/** The rest of an agent whose worktree is gone. */
async function keptRest(
  worktrees: WorktreeKeeping,
  { outcome }: Agent,
  worktree: OwnedWorktree,
): Promise<Rest | undefined> {
  const kept = await worktrees.keptRest(worktree);
  if (kept === undefined) return undefined;
  const { agentName, branch } = worktree;
  const { ref, files, messages } = kept;
  // As for an existing worktree: an agent that finished on its branch has declared that its work is there.
  const beside = outcome === "done" && messages.length === 0 ? [] : kept.beside;
  const all = [...messages, ...beside.flatMap((one) => one.messages)];
  if (all.length + files.length === 0) return undefined;
  const refusal = {
    kind: "work-in-snapshot",
    agent: agentName,
    branch,
    snapshot: ref.slice("refs/overstory/".length),
    files,
    commits: all.length,
    subjects: subjectsOf(all),
    hasCommits: kept.branchHasCommits,
    fix: keptFix({ ...kept, beside }, branch),
  } as const;
  return { branch, agentName, files, mayCommit: false, refusal };
}

/** What a person types to land the rest that only a snapshot has. */
function keptFix({ ref, files, messages, beside, continuesBranch }: KeptRest, branch: string): string {
  const [name, onto] = [ref.slice("refs/overstory/".length), shellWord(branch)];
  const copy = shellWord(`kept/${name.split("/").slice(1).join("-")}`);
  const restore = `ov snapshots restore ${shellWord(name)} --branch ${copy}`;
  const alone = `land it as a branch of its own:`;
  const restored = continuesBranch
    ? `put it on its branch: ${restore} && git fetch . ${copy}:${onto}, then ov merge --branch ${onto}`
    : `${alone} ${restore} && ov merge --branch ${copy}`;
  return [
    ...(files.length + messages.length === 0 ? [] : [restored]),
    ...beside.map(({ tip }, at) => {
      const other = `${copy}-${at + 2}`;
      return `${alone} git branch ${other} ${tip.slice(0, 12)} && ov merge --branch ${other}`;
    }),
  ].join("; and ");
}

function offBranchRefusal(worktree: OwnedWorktree, offBranch: OffBranch, open: HalfWay | null) {
  const { agentName: agent, branch, kind } = worktree;
  const { messages } = offBranch;
  return {
    kind: "commits-off-branch",
    agent,
    branch,
    commits: messages.length,
    subjects: subjectsOf(messages),
    place: offBranchPlace(offBranch),
    fix: offBranchFix(offBranch, { ...worktree, isClone: kind === "clone" }, open),
  } as const;
}

/** Commits that rest; refused while its agent is in a turn. */
export const commitRest = inQuietWorktree<{ readonly hooksNotRun: readonly string[] }>(async (worktrees, worktree) => {
  const message = `Commit what ${worktree.agentName} left uncommitted`;
  const done = await worktrees.commitRest(worktree, message);
  return "problem" in done ? no(done) : ok({ hooksNotRun: done.hooksNotRun });
});

/** Refuses as `branch.commitRest` would. Changes nothing. */
export const checkRest = inQuietWorktree<null>(async (worktrees, worktree) => {
  const problem = await worktrees.whyNotCommitRest(worktree);
  return problem === undefined ? ok(null) : no(problem);
});

/** An operation in the worktree of a branch while its agent is in no turn. */
function inQuietWorktree<Reply>(
  work: (worktrees: WorktreeKeeping, worktree: OwnedWorktree) => Promise<Result<Reply, RestProblem>>,
): Effect<{ readonly branch: string }, Reply> {
  return {
    kind: "effect",
    request: fields({ branch: text }),
    place: "engine",
    run: async (world, { branch }) => {
      const worktree = await quietWorktree(world, branch);
      if (!worktree.ok) return worktree;
      const worktrees = await world.worktrees();
      const done = await work(worktrees, worktree.value);
      return done.ok ? done : no(await notCommitted(worktrees, worktree.value, done.refusal));
    },
  };
}

/** The worktree of a branch in which no turn runs. A command writes in it, so only the operator may ask. */
async function quietWorktree({ call }: World, branch: string): Promise<Result<OwnedWorktree, Refusal>> {
  const read = await call("worktree.findOwnersForCleaning", { branches: [branch] });
  if (!read.ok) return read;
  const [agent] = read.value.agents;
  const worktree = agent === undefined ? undefined : worktreeOf(agent);
  if (agent === undefined || worktree === undefined || agent.cleanedAt !== null) {
    return no(notFound("branch", branch));
  }
  if (agent.state === "in_turn") return no({ kind: "busy", what: `${agent.name}, which is in a turn,` });
  return ok(worktree);
}

async function notCommitted(worktrees: WorktreeKeeping, worktree: OwnedWorktree, why: RestProblem): Promise<Refusal> {
  const { uncommitted: files, ahead } = await worktrees.inspect(worktree);
  const { agentName: agent, branch } = worktree;
  return { kind: "uncommitted-rest", agent, branch, files, hasCommits: ahead > 0, ...why };
}

/** Sentences about states of the agent's worktree that its branch does not show. `of`: a name or a task. */
export const listUnsettled: Effect<{ readonly of: string }, { readonly lines: readonly string[] }> = {
  kind: "effect",
  request: fields({ of: text }),
  place: "engine",
  run: async (world, { of }) => {
    const read = await world.call("worktree.listOwners", {});
    // Only the operator gets these warnings; an agent looks at its own worktree.
    if (!read.ok) return ok({ lines: [] });
    const agents = read.value.owners.map(({ agent }) => agent);
    const agent = agents.find(({ name }) => name === of) ?? agents.findLast(({ taskId }) => taskId === of);
    const worktree = agent === undefined ? undefined : worktreeOf(agent);
    if (worktree === undefined) return ok({ lines: [] });
    const worktrees = await world.worktrees();
    const looked = await unlessDamaged(() => worktrees.unsettled(worktree));
    if (!looked.ok) return ok({ lines: [`Git cannot read all of the worktree: ${looked.refusal}.`] });
    return ok({ lines: looked.value === undefined ? [] : unsettledLines(looked.value) });
  },
};
