import { join } from "node:path";
import type { Refusal } from "../domain/refusal.ts";
import { no, ok, type Result } from "../domain/result.ts";
import { probeProgram } from "../host/runtime-probe.ts";
import type { Project } from "./project.ts";
import { runtimeById } from "./runtimes.ts";

/**
 * Could an agent of this runtime start with this PATH, and with which version of its program? A runtime that is not
 * known is refused by its name elsewhere.
 */
export async function preflight(
  { dir, env }: Pick<Project, "dir" | "env">,
  runtime: string,
  path: string | undefined,
): Promise<Result<{ readonly version: string | null }, Refusal>> {
  const program = runtimeById(runtime)?.program ?? null;
  if (program === null) return ok({ version: null });
  const memory = join(dir, "run", "programs.json");
  const probed = await probeProgram({ program, path: path ?? env.PATH ?? "", memory });
  return probed.ok ? probed : no({ kind: "runtime-unavailable", runtime, program, problem: probed.refusal });
}
