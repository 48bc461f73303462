import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ProjectPlace } from "../../domain/project/place.ts";
import type { Filter, FilterDefinition, Hook } from "../../domain/trust/filters.ts";
import type { ProgramTrust, TrustedPrograms } from "../../ports/trusted-programs.ts";
import { readTrust, type Trust, writeTrust } from "../trust-file.ts";
import { fileRules, filtersAt, mayNeedFilters, problemsWith, type Shape } from "./filters.ts";
import { standingHooks } from "./merge/hooks.ts";
import { commitAt } from "./refs.ts";
import { openRepository, type Repository } from "./repository.ts";
import { planModules } from "./submodules/plan.ts";
import { homeOf } from "./submodules/users-module.ts";

/** The programs that the repository at `root` names, with what the operator confirmed of them. */
export function trustedPrograms({ root, state }: ProjectPlace): TrustedPrograms {
  const repository = openRepository(root);
  const all = async (): Promise<readonly Program[]> => programsOf(await repository(), join(state, "run", "git"));
  return {
    list: async () => (await all()).map(({ view }) => view),
    change: async (names, to) => {
      const chosen = (await all()).filter(({ view }) => names.includes(view.name));
      const { trust } = await repository();
      writeTrust(trust, chosen.reduce(to === "confirmed" ? confirmed : withdrawn, readTrust(trust)));
    },
    problems: async () => {
      const known = await repository();
      const { standing } = (await fileRules(known)).shape;
      if ((standing === "none" || standing === "confirmed") && !(await mayNeedFilters(root))) return [];
      const head = await commitAt({ repository: known }, "HEAD");
      return head === undefined ? [] : problemsWith(known, head);
    },
  };
}

type Program = { readonly view: ProgramTrust } & (
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

function filterView({ name, standing, definition }: Filter, needed: boolean): ProgramTrust {
  const runs = definition === null ? [] : commandsOf(definition);
  return { name, kind: "filter", standing, runs, needed };
}

const commandsOf = ({ clean, smudge, process }: FilterDefinition): readonly string[] =>
  [process, smudge, clean].filter((command) => command !== null && command !== "") as readonly string[];

const hookView = ({ name, path }: Hook, standing: ProgramTrust["standing"]): ProgramTrust => ({
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
