import type { ProjectPlace } from "../domain/project/place.ts";
import { no, ok, type Result } from "../domain/result.ts";
import { type ReadyConfig, readCompiledConfig, stampOf } from "./compiled.ts";
import type { ConfigProblem } from "./problem.ts";
import type { Environment } from "./sources.ts";

export type { Config } from "./schema.ts";

/**
 * The project's configuration: compiled if that is still true, else from its sources, compiled for the next caller. With
 * `lastKnown` the last known copies count for files that are broken.
 */
export async function config(
  place: ProjectPlace,
  env: Environment,
  { lastKnown = false }: { readonly lastKnown?: boolean } = {},
): Promise<Result<ReadyConfig, readonly ConfigProblem[]>> {
  const compiled = readCompiledConfig(place, env);
  if (compiled !== undefined) return ok(compiled);
  const { compileConfig } = await import("./compile.ts");
  const sources = await compileConfig(place, env);
  const loaded = sources.ok || !lastKnown ? sources : await fromCopies(place, env, sources.problems);
  if (loaded?.ok !== true) return no(sources.problems);
  const { readyConfig } = await import("./load.ts");
  return ok(readyConfig(loaded));
}

/**
 * Returns a check for settings that differ from `had`. It compares the stamps of the files, and reads the files only when a
 * stamp differs. Settings that cannot be used count as unchanged: commands refuse them and say why.
 */
export function watchConfig(
  place: ProjectPlace,
  env: Environment,
  had: Pick<ReadyConfig, "config" | "runtimeFiles">,
): () => Promise<boolean> {
  let seen: string | undefined;
  return async () => {
    const stamp = JSON.stringify(stampOf(place, env));
    if (stamp === seen) return false;
    seen = stamp;
    const found = await config(place, env);
    if (!found.ok) return false;
    const { config: now, runtimeFiles } = found.value;
    return !Bun.deepEquals(now, had.config) || !Bun.deepEquals(runtimeFiles, had.runtimeFiles);
  };
}

async function fromCopies(place: ProjectPlace, env: Environment, problems: readonly ConfigProblem[]) {
  const [{ loadLastKnown }, { configFiles }] = await Promise.all([import("./load.ts"), import("./sources.ts")]);
  return loadLastKnown(configFiles(place), env, problems);
}
