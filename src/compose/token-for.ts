import { realpathSync } from "node:fs";
import type { Environment } from "./project.ts";

/**
 * The identity to show in the project at `root`. A token is good in the project that gave it; in another repository an
 * orchestrator is the hand of the operator, who sent it there, and nobody else is anybody.
 */
export async function tokenFor(root: string, env: Environment): Promise<string | undefined> {
  const { OVERSTORY_TOKEN: token, OVERSTORY_PROJECT_ROOT: home } = env;
  if (token === undefined || home === undefined || home === "" || home === root) return token;
  if (realpathSync(home) === realpathSync(root)) return token;
  const { isOrchestrator } = await import("./orchestrator-abroad.ts");
  return (await isOrchestrator(home, token)) ? undefined : token;
}
