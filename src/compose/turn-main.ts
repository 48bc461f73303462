import { join } from "node:path";
import { runTurn } from "../engine/supervisor/run-turn.ts";
import { agentLauncher } from "../host/agent-launcher.ts";
import { randomIds } from "../host/ids.ts";
import { linuxProcesses } from "../host/processes.ts";
import { turnFiles } from "../host/turn-files.ts";
import { killPointsFrom } from "./kill-points.ts";
import { clockFor, doorOf, leaseMsFor, openStore, type Project, settingsOf } from "./project.ts";
import { projectWorktrees } from "./project-worktrees.ts";
import { runtimeById } from "./runtimes.ts";

/** Attempts of one input before its agent is given up. */
const maxAttempts = 4;
const graceMs = 2_000;

/** The supervisor process of one turn. */
export async function turnMain(project: Project, turnId: string, fence: number): Promise<void> {
  const store = openStore(project, { life: "process" });
  const { config, env } = project;
  await runTurn(
    {
      store,
      clock: clockFor(env),
      ids: randomIds,
      reach: killPointsFrom(env),
      processes: linuxProcesses,
      launcher: agentLauncher,
      files: turnFiles(project.dir),
      runtime: runtimeById,
      baseEnvironment: {
        HOME: env.HOME ?? "/",
        PATH: `${join(project.dir, "run", "bin")}:${env.PATH ?? "/usr/bin:/bin"}`,
        OVERSTORY_PROJECT_ROOT: project.root,
      },
      settings: settingsOf(project),
      worktrees: projectWorktrees(project),
      limits: { stallTimeoutMs: config.turn.stallTimeoutMs, maxAttempts, graceMs, beatMs: leaseMsFor(env) / 3 },
    },
    turnId,
    fence,
  );
  await store.close();
  await doorOf(project).ensure();
}
