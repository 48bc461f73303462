import { runCli } from "../surfaces/cli/run.ts";
import { treeFor } from "../surfaces/cli/tree-for.ts";
import { makeApp } from "./app.ts";
import { version } from "./version.ts";

/** One command line of a person, a script or an agent. */
export async function runCommand(argv: readonly string[]): Promise<number> {
  const { env } = process;
  return runCli({
    argv,
    env,
    tree: await treeFor(argv),
    version,
    makeApp: ({ project }, warn, { worksWithBrokenConfig: lastKnownConfig = false }) =>
      makeApp({ env, cwd: process.cwd(), project, lastKnownConfig, warn }),
  });
}
