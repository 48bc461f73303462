import { join } from "node:path";
import type { Refusal } from "../domain/refusal.ts";
import { programProblem } from "../host/runtime-probe.ts";
import type { Project } from "./project.ts";
import { runtimeById } from "./runtimes.ts";

/**
 * Why no agent of this runtime could start with this PATH; undefined when one could. A runtime that nobody knows is
 * refused by its name elsewhere.
 */
export async function preflight(
  { dir, env }: Pick<Project, "dir" | "env">,
  runtime: string,
  path: string | undefined,
): Promise<Refusal | undefined> {
  const program = runtimeById(runtime)?.program ?? null;
  if (program === null) return undefined;
  const memory = join(dir, "run", "programs.json");
  const problem = await programProblem({ program, path: path ?? env.PATH ?? "", memory });
  return problem === undefined ? undefined : { kind: "runtime-unavailable", runtime, program, problem };
}
