import { existsSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../domain/failure.ts";
import { nearest } from "../domain/name/nearest.ts";
import type { ProjectPlace } from "../domain/project/place.ts";
import { invalid, type Refusal } from "../domain/refusal.ts";
import { no, ok, type Result } from "../domain/result.ts";
import type { Filter, FilterDefinition } from "../domain/trust/filters.ts";
import type { Hook } from "../domain/trust/hooks.ts";
import { filtersAt, mayNeedFilters, problemsWith } from "../host/git/filters.ts";
import { standingHooks } from "../host/git/merge/hooks.ts";
import { openRepository, type Repository } from "../host/git/repository.ts";
import { homeOf } from "../host/git/submodules/local-module.ts";
import { planModules } from "../host/git/submodules/plan.ts";
import { commitAt } from "../host/git/yard.ts";
import { readTrust, type Trust, writeTrust } from "../host/trust-file.ts";
import type { TrustFacet, TrustView } from "../surfaces/cli/facets/trust.ts";
import { operatorOnly } from "./operator-only.ts";
import type { Environment } from "./project.ts";

/** What the operator confirmed of the programs that this repository names. */
export function makeTrustFacet({ root, state }: Pick<ProjectPlace, "root" | "state">, env: Environment): TrustFacet {
  const repository = openRepository(root);
  const scratch = join(state, "run", "git");
  const list = async (): Promise<readonly Program[]> => programsOf(await repository(), scratch);
  const change = async (
    names: readonly string[],
    action: string,
    apply: (trust: Trust, program: Program) => Trust,
  ): Promise<Result<readonly TrustView[], Refusal>> => {
    const refused = await operatorOnly(state, env, action);
    if (refused !== undefined) return no(refused);
    const all = await list();
    const unknown = names.find((name) => !all.some((program) => program.view.name === name));
    if (unknown !== undefined) {
      const known = all.map(({ view }) => view.name);
      const near = nearest(unknown, known);
      const extra = { value: unknown, allowed: known, ...(near === undefined ? {} : { nearest: near }) };
      return no(invalid("name", "is no filter or hook that this repository names", extra));
    }
    const chosen = all.filter(({ view }) => names.includes(view.name));
    const { trust } = await repository();
    writeTrust(trust, chosen.reduce(apply, readTrust(trust)));
    const after = await list();
    return ok(after.map(({ view }) => view).filter(({ name }) => names.includes(name)));
  };
  return {
    list: async () => (await list()).map(({ view }) => view),
    add: (names) => change(names, "confirm programs of the repository", confirmed),
    remove: (names) => change(names, "change which programs are confirmed", withdrawn),
    check: async () => {
      if (!(await mayNeedFilters(root))) return;
      const known = await repository();
      const head = await commitAt({ repository: known }, "HEAD");
      const problems = head === undefined ? [] : await problemsWith(known, head);
      if (problems.length > 0) throw new Failure({ kind: "filters-not-ready", filters: problems });
    },
  };
}

type Program = { readonly view: TrustView } & (
  | { readonly filter: Filter }
  | { readonly hook: Hook; readonly filter?: undefined }
);

/** Everything that is needed, and everything that the repository and its submodules themselves name. */
async function programsOf(repository: Repository, scratch: string): Promise<readonly Program[]> {
  const head = await commitAt({ repository }, "HEAD");
  const [own, submodules, hooks] = await Promise.all([
    filtersOf(repository, head),
    head === undefined || !existsSync(join(repository.root, ".gitmodules"))
      ? []
      : filtersOfSubmodules(repository, { head, scratch }),
    standingHooks({ repository }),
  ]);
  // One confirmation counts for the whole project: of two filters of one name, the repository's own is shown.
  const more = submodules.filter(({ filter }) => !own.some((other) => other.filter.name === filter.name));
  return [
    ...own,
    ...new Map(more.map((program) => [program.filter.name, program])).values(),
    ...hooks.trusted.map((hook) => ({ hook, view: hookView(hook, hook.isUsers ? "user" : "confirmed") })),
    ...hooks.unconfirmed.map((hook) => {
      const isKnown = hook.path in readTrust(repository.trust).hooks;
      return { hook, view: hookView(hook, isKnown ? "changed" : "unconfirmed") };
    }),
  ];
}

type FilterProgram = Program & { readonly filter: Filter };

async function filtersOf(repository: Repository, commit: string | undefined): Promise<readonly FilterProgram[]> {
  const { filters, needed } = await filtersAt(repository, commit);
  return filters
    .filter(({ name, standing }) => needed.includes(name) || !["user", "missing"].includes(standing))
    .map((filter) => ({ filter, view: filterView(filter, needed.includes(filter.name)) }));
}

async function filtersOfSubmodules(
  repository: Repository,
  { head, scratch }: { readonly head: string; readonly scratch: string },
): Promise<readonly FilterProgram[]> {
  const { trust } = repository;
  const { modules } = await planModules({ repository, home: homeOf(repository), commit: head, scratch });
  const found = await Promise.all(modules.map(({ module, commit }) => filtersOf({ ...module, trust }, commit)));
  return found.flat();
}

function filterView({ name, standing, definition }: Filter, needed: boolean): TrustView {
  const runs = definition === null ? [] : commandsOf(definition);
  return { name, kind: "filter", standing, runs, needed };
}

const commandsOf = ({ clean, smudge, process }: FilterDefinition): readonly string[] =>
  [process, smudge, clean].filter((command) => command !== null && command !== "") as readonly string[];

const hookView = ({ name, path }: Hook, standing: TrustView["standing"]): TrustView => ({
  name: `hook:${name}`,
  kind: "hook",
  standing,
  runs: [path],
  needed: true,
});

function confirmed(trust: Trust, program: Program): Trust {
  if (program.filter === undefined) {
    const { path, digest } = program.hook;
    return { ...trust, hooks: { ...trust.hooks, [path]: digest } };
  }
  const { name, definition } = program.filter;
  return { ...trust, filters: { ...trust.filters, [name]: definition } };
}

function withdrawn(trust: Trust, program: Program): Trust {
  const without = <T>(all: Readonly<Record<string, T>>, name: string): Readonly<Record<string, T>> =>
    Object.fromEntries(Object.entries(all).filter(([other]) => other !== name));
  return program.filter === undefined
    ? { ...trust, hooks: without(trust.hooks, program.hook.path) }
    : { ...trust, filters: without(trust.filters, program.filter.name) };
}
