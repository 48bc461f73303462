import { nearest } from "../../domain/name/nearest.ts";
import { invalid, notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, noFields, text } from "../../domain/schema/schema.ts";
import { shellWord } from "../../domain/text/shell-word.ts";
import type { LookingGit, StaleSubmodules } from "../../ports/merge-git.ts";
import type { RepositoryBranches } from "../../ports/project-setup.ts";
import type { Effect, Whereabouts, World } from "../operation.ts";

export const heads = "refs/heads/";

/** The tip of every branch, by its name. */
export async function tipsOf(git: LookingGit): Promise<Readonly<Record<string, string>>> {
  const refs = await git.refsBelow(heads);
  return Object.fromEntries(refs.map(({ ref, commit }) => [ref.slice(heads.length), commit]));
}

/** The tip of a branch; a refusal, with the nearest name, when there is none. */
export const findBranch: Effect<{ readonly branch: string }, { readonly commit: string }> = {
  kind: "effect",
  request: fields({ branch: text }),
  place: "engine",
  run: async (world, { branch }) => {
    const known = (await world.quickGit()).tipOf(branch);
    if (typeof known === "string") return ok({ commit: known });
    // From the list, because git takes many a name for a commit that is no branch: `main^` is one.
    const tips = await world.lookAhead(tipsOf);
    const commit = Object.hasOwn(tips, branch) ? tips[branch] : undefined;
    return commit === undefined ? no(notFound("branch", branch, nearest(branch, Object.keys(tips)))) : ok({ commit });
  },
};

/** What makes a missing branch: from that of the remote where it has one, as a clone of another branch does not. */
export async function makeBranchCommand(
  branches: Pick<RepositoryBranches, "ofOrigin">,
  branch: string,
): Promise<string> {
  const origin = await branches.ofOrigin(branch);
  return `git branch ${shellWord(branch)}${origin === undefined ? "" : ` ${shellWord(origin)}`}`;
}

/** Refuses a branch that the repository at hand does not have; it need not be a project yet. */
export const checkBranch: Effect<{ readonly branch: string }, object> = {
  kind: "effect",
  request: fields({ branch: text }),
  place: "caller",
  run: async (world, { branch }) =>
    (await (await world.branches("repository")).has(branch)) ? ok({}) : no(notFound("branch", branch)),
};

/** Where the work of a run that is begun now is meant to go. */
export interface RunTarget {
  readonly branch: string;
  /** Its tip, from which the work starts; undefined before the first commit. */
  readonly commit: string | undefined;
  /** It is checked out where the command was typed. */
  readonly isHere: boolean;
  /** Set when no branch is checked out there. */
  readonly detached: Detached | undefined;
}

export interface Detached {
  /** What HEAD is at. */
  readonly commit: string;
  /** How many of its commits the branch lacks: they are no part of the work. */
  readonly beyond: number;
}

/**
 * The typed branch, else the branch checked out where the command was typed, else the project's. Asked once, when the
 * command is typed: the user may switch branches before the first agent has a worktree.
 */
export const findTarget: Effect<{ readonly branch?: string | undefined }, RunTarget> = {
  kind: "effect",
  request: fields({}, { branch: text }),
  place: "caller",
  run: async (world, { branch: typed }) => {
    const refused = await takenName(world);
    if (refused !== undefined) return no(refused);
    if (typed !== undefined) {
      const known = await findBranch.run(world, { branch: typed });
      if (!known.ok) return known;
    }
    const branches = await world.branches();
    const head = await branches.head();
    const branch = typed ?? head.branch ?? (await world.settings()).project.canonicalBranch;
    const commit = branch === head.branch ? head.commit : await branches.tip(branch);
    const isLoose = typed === undefined && head.branch === undefined && head.commit !== undefined;
    const detached = isLoose ? await looseHead(branches, branch, head.commit) : undefined;
    return ok({ branch, commit, isHere: branch === head.branch, detached });
  },
};

/** Changes of the user's checkout that no agent will have: the work starts from a commit. */
export const countChanges: Effect<object, { readonly changed: number }> = {
  kind: "effect",
  request: noFields,
  place: "caller",
  run: async (world) => ok({ changed: await (await world.branches()).changedFiles() }),
};

const looseHead = async (branches: RepositoryBranches, branch: string, commit: string): Promise<Detached> => ({
  commit,
  beyond: await branches.commitsBeyond(branch, commit),
});

/** Git cannot make the branches of agents, `overstory/<agent>/<task>`, beside a branch `overstory`. */
export async function takenName(world: World, at?: Whereabouts): Promise<Refusal | undefined> {
  // By files where that is possible: each sling asks.
  const known = at === undefined ? (await world.quickGit()).tipOf(ourPrefix) : undefined;
  if (known === null || !(await (await world.branches(at)).has(ourPrefix))) return undefined;
  const problem = `is a branch of this repository, and leaves no room for the branches of agents (${ourPrefix}/...); give it another name: git branch -m ${ourPrefix} <new name>`;
  return invalid(ourPrefix, problem);
}

const ourPrefix = "overstory";

export const listBranches: Effect<object, { readonly branches: readonly string[] }> = {
  kind: "effect",
  request: noFields,
  place: "engine",
  run: async (world) => ok({ branches: Object.keys(await world.lookAhead(tipsOf)) }),
};

export interface MoveToLookAt {
  readonly from: string;
  readonly to: string;
  /** A branch that may have the same files as `to` already. */
  readonly other?: string | undefined;
}

export interface MovedFiles {
  readonly files: readonly string[];
  /** `other` has one of these files in another form than `to`. False when there is no such branch. */
  readonly otherDiffers: boolean;
}

/** Files that changed when a branch moved between two commits, forwards or back. */
export const listMovedFiles: Effect<MoveToLookAt, MovedFiles> = {
  kind: "effect",
  request: fields({ from: text, to: text }, { other: text }),
  place: "engine",
  run: async (world, { from, to, other }) =>
    world.lookAhead(async (git) => {
      const refused = await refuseUnlessCommits(git, { from, to });
      if (refused !== undefined) return no(refused);
      // Each way names what came since the common commit, so one of them is empty.
      const files = [...(await git.changedFiles(from, to)), ...(await git.changedFiles(to, from))];
      const tip = other === undefined ? undefined : await git.commitOf(`refs/heads/${other}`);
      const [differing = []] = tip === undefined ? [] : await git.differing([{ from: to, to: tip }]);
      return ok({
        files: [...new Set(files)].toSorted(),
        otherDiffers: files.some((file) => differing.includes(file)),
      });
    }),
};

export interface SubmodulesRequest {
  readonly branch: string;
  readonly from: string;
  readonly to: string;
}

/** Submodules that changed between two commits of a branch and are at another commit in its checkouts. */
export const listStaleSubmodules: Effect<SubmodulesRequest, { readonly stale: readonly StaleSubmodules[] }> = {
  kind: "effect",
  request: fields({ branch: text, from: text, to: text }),
  place: "engine",
  run: async (world, { branch, from, to }) =>
    world.lookAhead(async (git) => {
      const refused = await refuseUnlessCommits(git, { from, to });
      return refused === undefined ? ok({ stale: await git.submodulesBehind(branch, { from, to }) }) : no(refused);
    }),
};

/** Git would take a text that is no commit for an option of its own, such as a file to write to. */
async function refuseUnlessCommits(
  git: Pick<LookingGit, "commitOf">,
  named: Readonly<Record<"from" | "to", string>>,
): Promise<Refusal | undefined> {
  for (const [field, value] of Object.entries(named))
    if ((await git.commitOf(value)) === undefined) return invalid(field, "is no commit of this repository", { value });
  return undefined;
}
