import { type Failure, failureOf } from "../domain/failure.ts";
import { runTurn } from "../engine/supervisor/run-turn.ts";
import { agentLauncher } from "../host/agent-launcher.ts";
import { isDiskFull } from "../host/file-access.ts";
import { guardTrial } from "../host/guard-trial.ts";
import { randomIds } from "../host/ids.ts";
import { killPointsFrom } from "../host/kill-points.ts";
import { redactLog, say } from "../host/log-files.ts";
import { shimDir, toolServer } from "../host/own-program.ts";
import { leaveAsSupervisor, serve } from "../host/place-watch.ts";
import { projectPrices } from "../host/price-list.ts";
import { linuxProcesses } from "../host/processes.ts";
import { turnFiles } from "../host/turn-files.ts";
import type { Tx } from "../ports/store.ts";
import { patientStore } from "../store/patient.ts";
import { describeFailure } from "../surfaces/shared/failures.ts";
import { agentGuard, projectInstructions, projectWorktrees, sandboxOf } from "./agent-parts.ts";
import {
  clockFor,
  contactOf,
  leaseMsFor,
  openStore,
  type Project,
  placeOf,
  redactionFor,
  settingsOf,
} from "./project.ts";
import { runtimeOf } from "./runtimes.ts";
import { version } from "./version.ts";

/** Attempts of one input before its agent is given up. */
const maxAttempts = 4;
const graceMs = 2_000;
/**
 * How long a program may write its conversation down after its last word. Processes that it left running get no such
 * time.
 */
const afterResultMs = 10_000;

/** The supervisor process of one turn. */
export async function turnMain(project: Project, turnId: string, fence: number): Promise<void> {
  const store = patientStore(
    serve(placeOf(project), openStore(project, { life: "process" }), leaveAsSupervisor(project.root)).store,
    sayFull(),
  );
  const { config, env } = project;
  const { said } = redactionFor(project);
  redactLog(said);
  // An agent in `ov done` waits for the engine, but may neither start one nor replace a silent one. Its supervisor may.
  const contact = contactOf(project);
  const watch = async (): Promise<void> => {
    const isMissed = contact.notice() === undefined && (await store.read((tx) => waitsForEngine(tx, turnId)));
    if (isMissed) await contact.ensure();
    else await contact.watch();
  };
  const watching = setInterval(() => void watch().catch(sayTrouble), leaseMsFor(env) / 3);
  await runTurn(
    {
      store,
      clock: clockFor(env),
      ids: randomIds,
      reach: killPointsFrom(env),
      processes: linuxProcesses,
      launcher: agentLauncher,
      files: turnFiles(project.dir, config.logging.redactSecrets ? said : null),
      instructions: projectInstructions(project),
      runtime: runtimeOf,
      baseEnvironment: {
        HOME: env.HOME ?? "/",
        OVERSTORY_PROJECT_ROOT: project.root,
      },
      path: { first: shimDir(project.dir), otherwise: env.PATH ?? "/usr/bin:/bin" },
      tools: toolServer(),
      guard: (agent) => agentGuard(project, agent),
      guardTrial: guardTrial(project.dir, version),
      settings: settingsOf(project),
      worktrees: projectWorktrees(project),
      prices: () => projectPrices(project.root).list,
      sandbox: sandboxOf(project),
      isDiskFull: () => isDiskFull(project.dir),
      report: sayTrouble,
      limits: {
        loops: { sameFailures: config.turn.maxSameFailures, denials: config.turn.maxDenials },
        stallTimeoutMs: config.turn.stallTimeoutMs,
        toolTimeoutMs: config.turn.toolTimeoutMs,
        afterResultMs,
        maxAttempts,
        graceMs,
        beatMs: leaseMsFor(env) / 3,
      },
    },
    turnId,
    fence,
  );
  clearInterval(watching);
  await store.close();
  await contact.ensure();
}

/** The agent of this turn asked to finish, and is not answered yet. */
async function waitsForEngine(tx: Tx, turnId: string): Promise<boolean> {
  const turn = await tx.turns.get(turnId);
  return turn !== undefined && (await tx.checks.dueWork(turn.agentId));
}

const sayTrouble = (trouble: unknown): void =>
  say(`${new Date().toISOString()} ${describeFailure(failureOf(trouble)).message}\n`);

/** Once: it may be tried again many times. */
function sayFull(): (error: Failure) => void {
  let said = false;
  return ({ data }) => {
    if (!said) say(`${new Date().toISOString()} ${describeFailure(data).message}; it is tried again\n`);
    said = true;
  };
}
