import { runCli } from "../surfaces/cli/run.ts";
import { tree } from "../surfaces/cli/tree.ts";
import { makeApp } from "./app.ts";
import { version } from "./version.ts";

/** One command line of a person, a script or an agent. */
export async function runCommand(argv: readonly string[]): Promise<number> {
  const { env } = process;
  return runCli({
    argv,
    env,
    tree,
    version,
    makeApp: (globals) => makeApp({ env, cwd: process.cwd(), project: globals.project }),
  });
}
