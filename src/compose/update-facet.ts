import { existsSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { loadConfig } from "../config/load.ts";
import { unusableConfig } from "../config/problem.ts";
import { configFiles } from "../config/sources.ts";
import { Failure } from "../domain/failure.ts";
import { isKept, type KeptState, updateStep } from "../domain/project/generated-state.ts";
import type { ProjectPlace } from "../domain/project/place.ts";
import type { Refusal } from "../domain/refusal.ts";
import { no, ok, type Result } from "../domain/result.ts";
import type { OverrideState } from "../domain/role/override.ts";
import { roleList } from "../domain/role/roles.ts";
import { hookSettings } from "../host/hook-settings.ts";
import { instructionFileOf } from "../host/project/coding-agents.ts";
import { keepCopy } from "../host/project/files.ts";
import { sharedDir } from "../host/project-place.ts";
import { ownTextFiles, readRoleText } from "../host/role-texts.ts";
import { claudeHookSettings } from "../runtimes/claude/settings-text.ts";
import type { Kept, UpdateFacet, UpdateReport, UpdateRequest } from "../surfaces/cli/facets/update.ts";
import { operatorOnly } from "./operator-only.ts";
import { clockFor, type Environment } from "./project.ts";
import { builtInTexts } from "./role-texts.ts";
import { filePart, type GeneratedPart, guidePart, hooksPart } from "./update-parts.ts";

/** What the program generated into a project, brought up to date. */
export const makeUpdateFacet = (place: ProjectPlace, env: Environment): UpdateFacet => ({
  update: async (request) => {
    const config = await configOf(place);
    const refused = await operatorOnly(place.state, env, "update the project");
    if (refused !== undefined) return no(refused);
    const parts = await partsMeant({ place, env, config }, request);
    const done = await carryOut(parts, { root: place.root, env, request });
    if (!done.ok) return done;
    const own = isMeant(request, "agents") ? ownTexts(place.root, config) : { names: [], kept: [] };
    return ok(report(request, done.value, own));
  },
});

/** As its files have it: a variable of this shell is not a property of the project. */
async function configOf(place: ProjectPlace): Promise<Config> {
  const files = configFiles(place);
  if (!existsSync(files.project)) throw new Failure({ kind: "not-initialised", root: place.root });
  const { config, ok: usable, problems } = await loadConfig(files, {});
  if (usable) return config;
  throw unusableConfig(files.project, problems);
}

const isMeant = ({ only }: UpdateRequest, part: UpdateRequest["only"][number]): boolean =>
  only.length === 0 || only.includes(part);

interface Situation {
  readonly place: ProjectPlace;
  readonly env: Environment;
  readonly config: Config;
}

async function partsMeant(
  { place, env, config }: Situation,
  request: UpdateRequest,
): Promise<readonly GeneratedPart[]> {
  const { root } = place;
  const isWhole = request.only.length === 0;
  const parts = [
    isWhole ? filePart(root, "gitignore") : undefined,
    isWhole ? filePart(root, "readme") : undefined,
    isMeant(request, "manifest") ? filePart(root, "manifest") : undefined,
    isWhole ? guidePart(root, instructionFileOf({ root, path: env.PATH, runtime: config.runtime.default })) : undefined,
    isMeant(request, "hooks") ? hooksPart(hookSettings(place, claudeHookSettings)) : undefined,
  ];
  return parts.filter((part) => part !== undefined);
}

interface Done {
  readonly written: readonly GeneratedPart[];
  readonly kept: readonly Kept[];
  readonly backups: readonly string[];
}

/** Part by part, each whole or not at all: whatever cuts it short, the next call goes on. */
async function carryOut(
  parts: readonly GeneratedPart[],
  { root, env, request }: { readonly root: string; readonly env: Environment; readonly request: UpdateRequest },
): Promise<Result<Done, Refusal>> {
  const written: GeneratedPart[] = [];
  const kept: Kept[] = [];
  const backups: string[] = [];
  for (const found of parts) {
    const { part, path, state, stuck } = found;
    const step = stuck === undefined ? updateStep(state, request) : "keep";
    if (step === "keep" && isKept(state)) {
      kept.push({ part, path, state, why: stuck ?? reasons[state], replaceable: stuck === undefined });
    }
    if (step !== "write" && step !== "replace") continue;
    if (!request.dryRun) {
      if (step === "replace") backups.push(relative(root, copyOf(root, path, clockFor(env).now())));
      const refusal = await found.write();
      if (refusal !== undefined) return no(refusal);
    }
    written.push(found);
  }
  return ok({ written, kept, backups });
}

/** Among our own files, where git ignores it. */
const copyOf = (root: string, path: string, now: number): string =>
  keepCopy(join(root, path), now, join(sharedDir(root), basename(path)));

const reasons: Readonly<Record<KeptState, string>> = {
  edited: "was changed by hand; what ships has not changed since",
  diverged: "was changed by hand, and what ships has changed since",
  unknown: "is not known to be as this program wrote it",
};

/** Texts of the project's own: looked at, never written. */
function ownTexts(root: string, config: Config): { readonly names: readonly string[]; readonly kept: readonly Kept[] } {
  const dir = resolve(root, config.agents.baseDir);
  const names: string[] = [];
  const kept: Kept[] = [];
  for (const { capability } of roleList) {
    const files = ownTextFiles(dir, capability);
    names.push(...[files.replacement, files.addition].filter((file) => existsSync(file)).map((file) => basename(file)));
    const { state } = readRoleText(builtInTexts, dir, capability);
    if (state === "built-in") continue;
    kept.push({ part: "agentDefs", path: relative(root, files.replacement), ...standings[state], replaceable: false });
  }
  return { names, kept };
}

const standings: Readonly<Record<Exclude<OverrideState, "built-in">, Pick<Kept, "state" | "why">>> = {
  replaced: { state: "edited", why: "counts instead of the text that ships" },
  outdated: { state: "diverged", why: "counts, but the text that ships has changed since it was made" },
  ignored: { state: "unknown", why: "does not count, for its first line does not say what it replaces" },
};

function report(
  { dryRun }: UpdateRequest,
  { written, kept, backups }: Done,
  own: { readonly names: readonly string[]; readonly kept: readonly Kept[] },
): UpdateReport {
  const of = (part: GeneratedPart["part"]) => ({ updated: written.some((one) => one.part === part) });
  return {
    dryRun,
    agentDefs: { updated: [], unchanged: own.names },
    manifest: of("manifest"),
    hooks: of("hooks"),
    gitignore: of("gitignore"),
    readme: of("readme"),
    instructions: of("instructions"),
    written: written.map(({ path }) => path),
    kept: [...kept, ...own.kept],
    backups,
  };
}
