import { join } from "node:path";
import { lastingProblem } from "../../../domain/failure.ts";
import { shellWord } from "../../../domain/text/shell-word.ts";
import type { UnfilledSubmodule } from "../../../ports/worktrees.ts";
import type { Repository } from "../repository.ts";
import { findModule, homeInside, type ModuleHome, openModule, openRefs, submodulesOf } from "./users-module.ts";

/** A submodule whose files can be had from the user's module. */
export interface PlannedModule {
  /** From the top of the project's files. */
  readonly path: string;
  /** Its name, with the names of the submodules it is in before it. */
  readonly names: readonly string[];
  readonly module: Repository;
  readonly commit: string;
}

export interface ModulePlan {
  /** What contains others comes before them. */
  readonly modules: readonly PlannedModule[];
  readonly unfilled: readonly UnfilledSubmodule[];
}

/** Which submodules a commit has, nested ones too, and which of them cannot be filled from what is on this machine. */
export async function planModules(request: {
  readonly repository: Repository;
  readonly home: ModuleHome;
  readonly commit: string;
  readonly scratch: string;
}): Promise<ModulePlan> {
  const modules: PlannedModule[] = [];
  const unfilled: UnfilledSubmodule[] = [];
  const visit = async (inside: typeof request, names: readonly string[], prefix: string): Promise<void> => {
    using own = openRefs(inside.repository, inside.scratch);
    for (const { name, path: below, commit } of await submodulesOf(own, inside.commit)) {
      const path = `${prefix}${below}`;
      const found = findModule(inside.home, { name, path: below });
      if (found === undefined || name === undefined || names.length >= deepest) {
        unfilled.push({ path, problem: notThere, fix: initialise(path) });
        continue;
      }
      const module = await openModule(found);
      if (!(await hasCommit(module, request.scratch, commit))) {
        const problem = `its commit ${commit.slice(0, 10)} is not in the project's copy of it`;
        unfilled.push({ path, problem, fix: initialise(path) });
        continue;
      }
      modules.push({ path, names: [...names, name], module, commit });
      const home = homeInside(inside.home, module, below);
      await visit({ ...inside, repository: module, home, commit }, [...names, name], `${path}/`);
    }
  };
  await visit(request, [], "");
  return { modules, unfilled };
}

/** What the operator types in the project's checkout to have a submodule there. */
export const initialise = (path: string): string => `git submodule update --init --recursive -- ${shellWord(path)}`;

/** A submodule that stayed empty because something failed. What a filter needs is in the words of its failure. */
export function unfilledBy(error: unknown, path: string): UnfilledSubmodule {
  const problem = error instanceof Error ? error.message : String(error);
  return { path, problem, fix: lastingProblem(error) === undefined ? initialise(path) : null };
}

const notThere = "it is not initialised in the project's checkout";

/** A submodule can contain itself. */
const deepest = 16;

export async function hasCommit(module: Repository, scratch: string, commit: string): Promise<boolean> {
  using own = openRefs(module, scratch);
  return (await own.git(["cat-file", "-e", `${commit}^{tree}`])).code === 0;
}

/** Where git looks for the module of a submodule in a checkout with this git directory. */
export const moduleDirIn = (gitDir: string, names: readonly string[]): string =>
  join(gitDir, ...names.flatMap((name) => ["modules", name]));
