import type { Agent } from "../../domain/agent/agent.ts";
import { allowedEnvironment } from "../../domain/agent/environment.ts";
import { shown } from "../../domain/budget/budget.ts";
import { failureOf } from "../../domain/failure.ts";
import { nextDelivery } from "../../domain/mail/delivery.ts";
import type { Assignment } from "../../domain/role/assignment.ts";
import { composePrompt } from "../../domain/turn/prompt.ts";
import type { GatedProcess, TurnFiles } from "../../ports/agent-process.ts";
import type { PlacedInstructions } from "../../ports/instructions.ts";
import type { Driver, GatewayAccess, LaunchPlan, Runtime, ToolServer } from "../../ports/runtime.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../../usecases/events/record.ts";
import { markFor } from "../../usecases/identity/identify.ts";
import { assignmentOf } from "../../usecases/prompts/assignment.ts";
import { worktreeOf } from "../../usecases/worktrees/owners.ts";
import type { OwnedTurn } from "./begin.ts";
import { makeReady, mergeRulesOf, namesOf } from "./conserve.ts";
import type { SupervisorPorts } from "./ports.ts";

/** `taken`: the turn is no longer ours, or it is to stop; the gate never opened. */
export type Launch =
  | { readonly kind: "launched"; readonly child: GatedProcess }
  | { readonly kind: "taken" }
  | { readonly kind: "failed"; readonly problem: string }
  /** The guard of the agent's tools does not work. */
  | { readonly kind: "unguarded"; readonly problem: string }
  /** The system would not confine it, and the settings say that it must. */
  | { readonly kind: "unconfined"; readonly problem: string }
  /** The agent's worktree is gone, or another directory is in its place. */
  | { readonly kind: "homeless"; readonly problem: string };

/**
 * Starts the agent so that no instant exists in which it runs unrecorded: it waits behind its gate until its identity
 * is stored. What keeps it from starting, such as a worktree that is gone, is a failure of the turn; a full disk is
 * waited for.
 */
export async function launchAgent(
  ports: SupervisorPorts,
  owned: OwnedTurn,
  how: { readonly runtime: Runtime; readonly driver: Driver },
): Promise<Launch> {
  const { turn, agent } = owned;
  const token = ports.ids.secret();
  // An agent that was stopped before its turn began gets no process, not even a gated one.
  const given = await ports.store.read(async (tx) =>
    (await mayStart(tx, owned)) ? await assignmentOf(tx, agent) : undefined,
  );
  if (given === undefined) return { kind: "taken" };
  const unconfined = ports.sandbox.refusal(agent.worktreeKind);
  if (unconfined !== undefined) return { kind: "unconfined", problem: unconfined };
  const worktree = worktreeOf(agent);
  let started: { readonly done: Started } | "taken";
  try {
    const ready = await makeReady(ports, agent, turn.id);
    if ("problem" in ready) return { kind: "homeless", problem: ready.problem };
    const writableRoots = worktree === undefined ? [] : await ports.worktrees.writableRoots(worktree);
    const author =
      how.runtime.gitAuthor === "variables" && worktree !== undefined
        ? await ports.worktrees.authorVariables(worktree, environmentOf(ports, owned, how.runtime))
        : {};
    const placed = await whenDiskHasSpace(ports, owned, () => place(ports, owned, given, how.runtime));
    if (placed === "taken") return { kind: "taken" };
    const told = placed.done;
    const problem = await guardProblem(ports, owned, how.runtime, told);
    if (problem !== undefined) return { kind: "unguarded", problem };
    const terms = { ...how, token, told, writableRoots, author, changes: ready.changes };
    started = await whenDiskHasSpace(ports, owned, () => start(ports, owned, terms));
  } catch (error) {
    return { kind: "failed", problem: error instanceof Error ? error.message : String(error) };
  }
  if (started === "taken") return { kind: "taken" };
  const { child, plan, told } = started.done;
  ports.reach("turn.after-spawn");
  const recorded = await storeStart(ports, owned, child, { token, told });
  if (!recorded) {
    child.abandon();
    return { kind: "taken" };
  }
  mirrored(ports, ({ mirrorPid }) => mirrorPid(agent.name, { ...child.identity, turnId: turn.id }));
  ports.reach("turn.after-identity");
  await child.release(plan.input);
  ports.reach("turn.after-gate");
  return { kind: "launched", child };
}

/** Shows people which process runs, as well as it can: no turn depends on it. */
export function mirrored(
  { files, report }: Pick<SupervisorPorts, "files" | "report">,
  change: (files: Pick<TurnFiles, "mirrorPid" | "endMirror">) => void,
): void {
  try {
    change(files);
  } catch (error) {
    report(error);
  }
}

interface Started {
  readonly child: GatedProcess;
  readonly plan: LaunchPlan;
  readonly told: PlacedInstructions;
}

interface StartTerms {
  readonly runtime: Runtime;
  readonly driver: Driver;
  readonly token: string;
  readonly told: PlacedInstructions;
  readonly writableRoots: readonly string[];
  /** Variables with the author of commits, where the program's commands need them. */
  readonly author: Readonly<Record<string, string>>;
  /** What others did to the worktree since the last turn. */
  readonly changes: readonly string[];
}

/** Written before every turn: an agent's work changes, and edits of the file by other hands must not last. */
const place = (
  ports: SupervisorPorts,
  { agent }: OwnedTurn,
  given: Assignment,
  { instructionFile }: Runtime,
): PlacedInstructions =>
  ports.instructions.place({
    given,
    worktreeKind: agent.worktreeKind,
    instructionFile,
    untouched: agent.headCommit === null,
  });

/** Why the guard does not work, tried by the very line that the agent's program is given; undefined when it works. */
async function guardProblem(
  ports: SupervisorPorts,
  owned: OwnedTurn,
  runtime: Runtime,
  { guard }: PlacedInstructions,
): Promise<string | undefined> {
  const { id, guardLine } = runtime;
  if (guard === null || guardLine === null) return undefined;
  const env = environmentOf(ports, owned, runtime);
  const cwd = owned.agent.worktreePath ?? "/";
  return ports.guardTrial.problem({ asks: guardLine(guard), program: guard.program, runtime: id, cwd, env });
}

function start(
  ports: SupervisorPorts,
  owned: OwnedTurn,
  { runtime, driver, token, told, writableRoots, author, changes }: StartTerms,
): Started {
  const { turn, agent } = owned;
  const logDir = turn.logDir ?? "";
  const cwd = agent.worktreePath ?? "/";
  const usd = owned.allowance?.usd;
  const { abilities } = driver;
  const given = {
    ...author,
    ...environmentOf(ports, owned, runtime),
    // A confined ov does not reach the database.
    ...(ports.sandbox.confines(agent.worktreeKind) ? { OVERSTORY_CHANNEL: "engine" } : {}),
  };
  const plan = driver.launch({
    version: agent.cliVersion,
    model: agent.model,
    gateway: gatewayOf(ports, agent),
    fallbackModel: agent.modelTerms?.fallback ?? null,
    resume: abilities.resume ? turn.resumeRequested : null,
    prompt: promptFor({ ...owned, changes }, told, { runtime, driver }),
    instructions: told.found || driver.instructions === "prompt" ? null : told.file,
    cwd,
    writableRoots,
    turnDir: logDir,
    tools: abilities.tools ? ports.tools : null,
    toolVariables: variablesOf(ports.tools, { ...given, OVERSTORY_TOKEN: token }),
    maxCostUsd: abilities.costLimit && usd !== undefined ? shown("usd", Math.max(1, usd)) : null,
    guard: told.guard,
  });
  const env: Record<string, string> = {
    ...given,
    ...plan.env,
    OVERSTORY_TOKEN: token,
  };
  ports.files.create(logDir, plan, { home: env.HOME ?? "/", input: driver.input });
  ports.reach("turn.before-spawn");
  const paths = ports.files.paths(logDir);
  const confined = ports.sandbox.forAgent({
    program: runtime.program,
    agentName: agent.name,
    worktreeKind: agent.worktreeKind,
    cwd,
    turnDir: logDir,
    steering: [
      ...(told.found ? [`${cwd}/${runtime.instructionFile}`] : []),
      ...plannedFiles(plan, logDir),
      // The program writes its output by inherited descriptors, never by these paths.
      ...[paths.output, paths.error, `${logDir}/input.json`, `${logDir}/opening.json`, `${logDir}/input`],
    ],
    makes: plan.files.flatMap((file) => ("to" in file && file.isDirectory ? [file.to] : [])),
    footprint: runtime.footprint,
    env,
    shell: wholeShellOf(ports, agent),
  });
  const child = ports.launcher.start({
    argv: [...(confined?.before ?? []), ...plan.argv],
    mark: markFor(ports.ids, agent, turn.id),
    env: confined?.env ?? env,
    cwd,
    outputFile: paths.output,
    errorFile: paths.error,
    openInput: driver.input === "open" ? logDir : null,
  });
  return { child, plan, told };
}

const variablesOf = ({ env }: ToolServer, given: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    env.flatMap((name) => {
      const value = given[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

/** Files of the plan in the directory of the turn: settings, which say among others who guards the tools. */
const plannedFiles = ({ files }: LaunchPlan, turnDir: string): readonly string[] =>
  files.flatMap((file) => (file.in === "turn" && "text" in file ? [`${turnDir}/${file.path}`] : []));

const promptFor = (
  { turn, agent, letters, lacks, recall, knows = null, changes }: OwnedTurn & Pick<StartTerms, "changes">,
  { found, file, version, text }: PlacedInstructions,
  { runtime, driver }: Pick<StartTerms, "runtime" | "driver">,
): string =>
  composePrompt({
    agent,
    trigger: turn.trigger,
    reason: turn.reason,
    attempt: turn.attempt,
    first: turn.resumeRequested === null,
    recall,
    // Instructions in a file are read anew in every turn. Instructions in the input stay as they were when the
    // conversation began.
    changed: !found && knows !== null && knows !== version ? text : undefined,
    changes,
    letters,
    lacks,
    instructions: found ? { in: runtime.instructionFile } : driver.instructions === "file" ? { in: file } : { text },
  });

async function storeStart(
  ports: SupervisorPorts,
  owned: OwnedTurn,
  child: GatedProcess,
  { token, told }: { readonly token: string; readonly told: PlacedInstructions },
): Promise<boolean> {
  const { turn, agent } = owned;
  const now = ports.clock.now();
  return ports.store.transaction(async (tx) => {
    if (!(await mayStart(tx, owned))) return false;
    await tx.processes.insert({
      id: ports.ids.next("process"),
      role: "agent",
      agentId: agent.id,
      turnId: turn.id,
      ...child.identity,
      startedAt: now,
      endedAt: null,
      endReason: null,
    });
    await tx.turns.told(turn.id, told.version);
    await tx.tokens.revokeForTurn(turn.id, now);
    await tx.tokens.insert({
      digest: ports.ids.digest(token),
      agentId: agent.id,
      turnId: turn.id,
      createdAt: now,
      revokedAt: null,
    });
    for (const { delivery } of await tx.deliveries.ofTurn(turn.id)) {
      const delivered = nextDelivery(delivery, { kind: "deliver", by: turn.id }, now);
      if (delivered.ok) await tx.deliveries.update(delivered.value);
    }
    await record(tx, now, {
      source: "supervisor",
      agent,
      turnId: turn.id,
      type: "turn_start",
      data: {
        trigger: turn.trigger,
        attempt: turn.attempt,
        pid: child.identity.pid,
        messages: owned.letters.length,
        prompt: told.version,
        promptHash: told.hash,
        ...(told.problem === null ? {} : { promptProblem: told.problem }),
      },
    });
    return true;
  });
}

/** What the operator's shell had for an agent of this runtime. The same file serves agents of other runtimes. */
export const shellOf = (
  { files }: EnvironmentFiles,
  { envFile }: Agent,
  environment: readonly string[],
): Record<string, string> => (envFile === null ? {} : allowedEnvironment(files.readEnvironment(envFile), environment));

/** The same with what only agents of other runtimes get. */
export const wholeShellOf = (
  { files }: EnvironmentFiles,
  { envFile }: Pick<Agent, "envFile">,
): Readonly<Record<string, string>> => (envFile === null ? {} : files.readEnvironment(envFile));

interface EnvironmentFiles {
  readonly files: Pick<TurnFiles, "readEnvironment">;
}

/** The gateway of an agent's model, with the token that the operator's shell had for it. */
export function gatewayOf({ files }: EnvironmentFiles, { modelTerms, envFile }: Agent): GatewayAccess | null {
  const gateway = modelTerms?.gateway ?? null;
  if (gateway === null) return null;
  const fromShell = wholeShellOf({ files }, { envFile });
  return { ...gateway, token: fromShell[gateway.tokenVariable] ?? "" };
}

function environmentOf(
  ports: SupervisorPorts,
  { turn, agent }: OwnedTurn,
  { environment }: Pick<Runtime, "environment">,
): Record<string, string> {
  const fromShell = shellOf(ports, agent, environment);
  return {
    ...fromShell,
    ...ports.baseEnvironment,
    PATH: `${ports.path.first}:${fromShell.PATH ?? ports.path.otherwise}`,
    ...namesOf(agent),
    ...mergeRulesOf(ports.files, agent),
    OVERSTORY_TURN_ID: turn.id,
    OVERSTORY_SCRATCH: ports.files.scratch(agent.name),
  };
}

const shortestPauseMs = 100;
const longestPauseMs = 2_000;

/**
 * Does what needs space on the disk, again and again until there is enough: a full disk is no failure of a turn.
 * `taken` when the turn was stopped or lost meanwhile. Any other failure is the caller's.
 */
async function whenDiskHasSpace<T>(
  ports: Pick<SupervisorPorts, "store" | "report">,
  owned: OwnedTurn,
  work: () => T,
): Promise<{ readonly done: T } | "taken"> {
  for (let pause = shortestPauseMs, said = false; ; pause = Math.min(pause * 2, longestPauseMs), said = true) {
    try {
      return { done: work() };
    } catch (error) {
      if (failureOf(error).kind !== "disk-full") throw error;
      if (!said) ports.report(error);
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (!(await ports.store.read((tx) => mayStart(tx, owned)))) return "taken";
  }
}

/** The turn is still ours, and its agent was not asked to stop. */
async function mayStart(tx: Tx, { turn, agent, fence }: OwnedTurn): Promise<boolean> {
  const current = await tx.turns.get(turn.id);
  const owner = await tx.agents.get(agent.id);
  return current?.status === "running" && current.fence === fence && owner?.stopRequestedBy === null;
}
