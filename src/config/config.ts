import type { ProjectPlace } from "../domain/project/place.ts";
import { no, ok, type Result } from "../domain/result.ts";
import { type ReadyConfig, readCompiledConfig } from "./compiled.ts";
import type { ConfigProblem } from "./problem.ts";
import type { Environment } from "./sources.ts";

export type { Config } from "./schema.ts";

/** The project's configuration: compiled if that is still true, else from its sources, compiled for the next caller. */
export async function config(
  place: ProjectPlace,
  env: Environment,
): Promise<Result<ReadyConfig, readonly ConfigProblem[]>> {
  const compiled = readCompiledConfig(place, env);
  if (compiled !== undefined) return ok(compiled);
  const { compileConfig } = await import("./compile.ts");
  const loaded = await compileConfig(place, env);
  return loaded.ok
    ? ok({ config: loaded.config, warnings: loaded.warnings, notices: loaded.notices })
    : no(loaded.problems);
}
