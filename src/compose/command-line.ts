import { runCli } from "../surfaces/cli/run.ts";
import { tree } from "../surfaces/cli/tree.ts";
import { makeApp } from "./app.ts";
import { version } from "./version.ts";

/** One command line of a person, a script or an agent. */
export async function runCommand(argv: readonly string[]): Promise<number> {
  const { env } = process;
  let app: ReturnType<typeof makeApp> | undefined;
  const code = await runCli({
    argv,
    env,
    tree,
    version,
    makeApp: (globals) => {
      app = makeApp({ env, cwd: process.cwd(), project: globals.project });
      return app;
    },
  });
  await app?.close();
  return code;
}
