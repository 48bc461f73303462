import { existsSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../domain/failure.ts";
import { nearest } from "../domain/name/nearest.ts";
import type { ProjectPlace } from "../domain/project/place.ts";
import { invalid, type Refusal } from "../domain/refusal.ts";
import { no, ok, type Result } from "../domain/result.ts";
import type { Filter, FilterDefinition } from "../domain/trust/filters.ts";
import type { Hook } from "../domain/trust/hooks.ts";
import { fileRules, filtersAt, mayNeedFilters, problemsWith, type Shape } from "../host/git/filters.ts";
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
      return no(invalid("name", "is no filter, hook or attributes that this repository has", extra));
    }
    const chosen = all.filter(({ view }) => names.includes(view.name));
    // A filter may have any name, also one by which something else is confirmed.
    const twice = names.find((name) => chosen.filter(({ view }) => view.name === name).length > 1);
    if (twice !== undefined) return no(invalid("name", "names two things; rename the filter", { value: twice }));
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
      const known = await repository();
      const { standing } = (await fileRules(known)).shape;
      if ((standing === "none" || standing === "confirmed") && !(await mayNeedFilters(root))) return;
      const head = await commitAt({ repository: known }, "HEAD");
      const problems = head === undefined ? [] : await problemsWith(known, head);
      if (problems.length > 0) throw new Failure({ kind: "filters-not-ready", filters: problems });
    },
  };
}

type Program = { readonly view: TrustView } & (
  | { readonly filter: Filter }
  | { readonly hook: Hook; readonly filter?: undefined }
  | { readonly shape: Shape; readonly filter?: undefined; readonly hook?: undefined }
);

/** Everything that is needed, and everything that the repository and its submodules themselves name. */
async function programsOf(repository: Repository, scratch: string): Promise<readonly Program[]> {
  const head = await commitAt({ repository }, "HEAD");
  const submodulesThere =
    head === undefined || !existsSync(join(repository.root, ".gitmodules"))
      ? []
      : await submodulesOf(repository, { head, scratch });
  const [own, submodules, hooks, shapes] = await Promise.all([
    filtersOf(repository, head),
    Promise.all(submodulesThere.map(({ module, commit }) => filtersOf(module, commit))).then((found) => found.flat()),
    standingHooks({ repository }),
    Promise.all([repository, ...submodulesThere.map(({ module }) => module)].map(shapeProgram)),
  ]);
  // One confirmation counts for the whole project: of two filters of one name, the repository's own is shown.
  const more = submodules.filter(({ filter }) => !own.some((other) => other.filter.name === filter.name));
  return [
    ...shapes.flat(),
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

async function submodulesOf(
  repository: Repository,
  { head, scratch }: { readonly head: string; readonly scratch: string },
): Promise<readonly { readonly module: Repository; readonly commit: string }[]> {
  const { trust } = repository;
  const { modules } = await planModules({ repository, home: homeOf(repository), commit: head, scratch });
  return modules.map(({ module, commit }) => ({ module: { ...module, trust }, commit }));
}

/** What shapes files besides the tracked attributes, where there is any. */
async function shapeProgram(repository: Repository): Promise<readonly Program[]> {
  const { shape } = await fileRules(repository);
  const { name, standing, files } = shape;
  return standing === "none"
    ? []
    : [{ shape, view: { name, kind: "attributes", standing, runs: files, needed: true } }];
}

/** The operator sets a project up before any agent runs in it: what shapes files at that moment is the operator's. */
export async function confirmFirstAttributes(root: string): Promise<void> {
  const repository = await openRepository(root)();
  const { shape } = await fileRules(repository);
  if (shape.standing === "unconfirmed") writeTrust(repository.trust, withShape(readTrust(repository.trust), shape));
}

const withShape = (trust: Trust, { key, digest }: Shape): Trust => ({
  ...trust,
  attributes: { ...trust.attributes, [key]: digest ?? "" },
});

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
  if ("shape" in program) return withShape(trust, program.shape);
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
  if ("shape" in program) return { ...trust, attributes: without(trust.attributes, program.shape.key) };
  return program.filter === undefined
    ? { ...trust, hooks: without(trust.hooks, program.hook.path) }
    : { ...trust, filters: without(trust.filters, program.filter.name) };
}
